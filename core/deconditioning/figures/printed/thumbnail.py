"""Small pictures of results, as PNG bytes: what a list of runs shows."""

import io
from collections.abc import Sequence

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.colours import colour_scale

#: Pixels of the longer side of a field's picture; width and height of a curve's.
LONGEST, CURVE = 160, (120, 72)
_MISSING = (160, 160, 160)
#: A curve's colour, which is seen on light and dark pages; nothing is behind it.
_INK, _NOTHING = (31, 119, 140, 255), (0, 0, 0, 0)


def field_thumbnail(values: np.ndarray, low: float | None = None, high: float | None = None) -> bytes:
    """A field (H, W), rows from south to north, in the colours of maps; missing values are grey.

    Between ``low`` and ``high`` (the middle 99 % where they are not given) the colours go through their scale. Sent as
    every so many-th pixel each way. Raises ``InputError`` for a field without any value.
    """
    step = max(1, -(-max(values.shape) // LONGEST))
    small = np.asarray(values, dtype=float)[::step, ::step][::-1]
    known = small[np.isfinite(small)]
    if not known.size:
        raise InputError("The field has no value anywhere: there is nothing to draw.")
    ends = np.quantile(known, [0.005, 0.995])
    low, high = (float(given if given is not None else end) for given, end in zip((low, high), ends, strict=True))
    scale = colour_scale("sequential")
    table = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for _, colour in scale], dtype=np.uint8)
    share = np.clip((np.where(np.isfinite(small), small, low) - low) / ((high - low) or 1.0), 0, 1)
    picture = table[np.round(share * (len(table) - 1)).astype(int)]
    picture[~np.isfinite(small)] = _MISSING
    return _png(picture)


def curve_thumbnail(values: Sequence[float | None]) -> bytes:
    """A curve through finite values, evenly spaced, on nothing. Raises ``InputError`` below two values."""
    known = [(at, float(value)) for at, value in enumerate(values) if value is not None and np.isfinite(value)]
    if len(known) < 2:
        raise InputError("A curve needs two values: there are fewer.")
    from PIL import Image, ImageDraw

    width, height = CURVE
    at, y = np.array(known).T
    low, span = y.min(), (y.max() - y.min()) or 1.0
    across = 6 + (width - 12) * (at - at[0]) / (at[-1] - at[0])
    down = height - 6 - (height - 12) * (y - low) / span
    picture = Image.new("RGBA", CURVE, _NOTHING)
    ImageDraw.Draw(picture).line(list(zip(across.tolist(), down.tolist(), strict=True)), fill=_INK, width=2)
    return _png(np.asarray(picture))


def _png(picture: np.ndarray) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture, dtype=np.uint8)).save(stream, format="PNG", optimize=True)
    return stream.getvalue()
