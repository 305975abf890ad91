"""Reads a kerchunk file: JSON that lists pieces of other files as the chunks of a Zarr store.

It is read only if it is given on the command line, and only if every piece is in the file's folder or at a URL: a
foreign description could otherwise copy any file of this machine into a result.
"""

import json
from pathlib import Path
from typing import Any

from deconditioning.errors import InputError, short

#: Bytes of a description that are read.
_MOST = 300_000_000


def is_reference(path: str | Path) -> bool:
    """Whether a path names a file of JSON."""
    return str(path).lower().endswith(".json") and "://" not in str(path) and Path(path).is_file()


def read_references(path: Path) -> dict[str, Any]:
    """Key → text, or [place, offset, length], with every place resolved.

    Raises ``InputError`` if the file is not such a description, or a piece lies elsewhere.
    """
    try:
        if path.stat().st_size > _MOST:
            raise InputError(f"{path.name} is larger than {_MOST / 1e6:.0f} MB: write it as a Zarr store.")
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{path.name} is not valid JSON ({short(error)}): give a kerchunk file.") from error
    references = content.get("refs", content) if isinstance(content, dict) else None
    if not isinstance(references, dict) or not any(str(k).endswith((".zarray", "zarr.json")) for k in references):
        raise InputError(f"{path.name} does not describe a store: give a kerchunk file or a Zarr store.")
    if content.get("gen"):
        raise InputError(f"{path.name} generates its references by formulas (`gen`): write them out explicitly.")
    templates = {f"{{{{{name}}}}}": str(text) for name, text in dict(content.get("templates") or {}).items()}
    return {str(key): _entry(value, templates, path) for key, value in references.items()}


def _entry(value: Any, templates: dict[str, str], path: Path) -> Any:
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, str) or not isinstance(value, list) or not value or not isinstance(value[0], str):
        return value
    url = value[0]
    for name, text in templates.items():
        url = url.replace(name, text)
    if url.partition("://")[0] in ("http", "https", "s3", "gs"):
        return [url, *value[1:]]
    folder = path.absolute().resolve().parent
    whole = (folder / url.removeprefix("file://")).resolve()
    if "://" in url.removeprefix("file://") or not whole.is_relative_to(folder):
        raise InputError(f"{path.name} refers to files outside its folder ({url[:60]}): move it next to its data.")
    return [str(whole), *value[1:]]
