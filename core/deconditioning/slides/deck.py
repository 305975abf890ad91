"""A downscaling as slides: data, coarse, fine, truth, uncertainty, checks, method, credits, one sentence each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from deconditioning import __version__
from deconditioning.fields.gridded import Variable
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.static_fields import ALTITUDES
from deconditioning.figures.coast import CREDIT
from deconditioning.figures.colours import model_name
from deconditioning.figures.downscaled_maps import MapKey, heading, round_limits, short_name
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.printed.coverage import mark_of
from deconditioning.figures.printed.publication import publication_figure
from deconditioning.metrics.intervals import LEVELS, Trust
from deconditioning.metrics.stored_step import stored_step
from deconditioning.models.named_model import NamedModel
from deconditioning.slides.field import field_data, frame_data
from deconditioning.slides.presented import Presented, Slide
from deconditioning.wording import number

#: Share of the map that is hatched: what is known least well of it.
_LEAST_KNOWN = 0.25
#: Characters of all fields together that keep a file within 5 MB.
_ROOM = 4_200_000
_COVARIATE = "covariate"
#: Share of a range of altitudes below zero from which on sea floor is drawn, not only low land.
_BELOW_SEA = 0.1
#: Share of the highest land up to which an altitude is 0, but for rounding.
_ROUNDING = 1e-9
DPI = 220
#: Each weighted by area.
_SCORES = ("rmse_area", "crps_area", "coverage95_area")
_REFERENCES = (
    "Chau, Bouabid and Sejdinovic 2021, Deconditional Downscaling with Gaussian Processes; "
    "Hsu and Ramos 2019, Bayesian Deconditional Kernel Mean Embeddings"
)


@dataclass(frozen=True)
class Shown:
    """A downscaling as it is on the screen.

    Parameters
    ----------
    problem, model : what was asked, and the model that answered.
    panels : the maps with the limits that they have on the screen (`figures.downscaled_maps.all_panels`).
    scores : by model, the baselines too; empty without a truth.
    held : what the intervals held; None without a truth or where no verdict may be given.
    unchecked : the sentence that stands in place of a verdict.
    covariate : a map of what is known at high resolution; None if only coordinates are.
    checked : the sentence of the check one scale up; "" where there was none.
    address : of the page that shows the same; ``command`` : the command line that makes it, where no page shows it.
    """

    problem: DownscalingProblem
    model: NamedModel
    panels: tuple[Panel, ...]
    scores: Mapping[str, Mapping[str, float | None]]
    held: Trust | None
    unchecked: str = ""
    covariate: Panel | None = None
    checked: str = ""
    address: str = ""
    command: str = ""

    @property
    def title(self) -> str:
        """Quantity, date and level."""
        return heading(self.problem)

    def panel(self, key: str) -> Panel | None:
        """The map of that key."""
        every = (self.covariate, *self.panels)
        return next((panel for panel in every if panel is not None and panel.key == key), None)


def covariate_panel(problem: DownscalingProblem, variables: Mapping[str, Variable]) -> Panel | None:
    """The first covariate on the problem's grid, altitude in the colours of terrain; None if there is no covariate.

    ``variables`` are those of the fields that the problem was made of, with their units.
    """
    name = next(iter(problem.spec.covariates), None)
    if name is None or name not in problem.columns:
        return None
    at = problem.columns.index(name)
    scaled = problem.inputs[:, at].numpy()
    values = problem.on_grid(problem.input_scaling.scales[at].backward(scaled))
    words, variable = name.replace("_", " "), variables.get(name)
    names = {name.lower()} | ({variable.standard_name.lower()} if variable else set())
    limits, units = round_limits(values), variable.units if variable else ""
    wet = bool(np.nanmin(values) <= _ROUNDING * limits[1])
    scale = MapScale(words, units, "sequential", *limits)
    if names & ALTITUDES:
        scale = _altitude_scale(words, units, *limits, wet=wet)
    return Panel(_COVARIATE, words[:1].upper() + words[1:], values, problem.grid, scale)


def _altitude_scale(name: str, units: str, low: float, high: float, *, wet: bool) -> MapScale:
    """The scale of altitudes: land alone, land with the sea at 0, or sea floor too; land begins at sea level."""
    if not wet:
        return MapScale(name, units, "terrain", low, high)
    if low >= -_BELOW_SEA * (high - low):
        return MapScale(name, units, "coast", 0.0, high)
    limit = max(-low, high)
    return MapScale(name, units, "relief", -limit, limit)


def presented(shown: Shown) -> Presented:
    """The slides in every form; each picture is drawn once for all of them."""

    @cache
    def drawn(*keys: str) -> bytes | None:
        """Maps side by side."""
        panels = [panel for key in keys if (panel := shown.panel(key)) is not None]
        return publication_figure(panels, shown.problem.grid, footprints=shown.problem, dpi=DPI) if panels else None

    def picture(slide: Slide) -> bytes | None:
        """The maps of a divider side by side."""
        return drawn(*_fields_of(slide))

    slides, badge = _downscaling_slides(shown), _trust_badge(shown)
    return Presented(shown.title, slides, lambda: downscaling_deck(shown), picture, badge, _REFERENCES)


def downscaling_deck(shown: Shown) -> dict[str, Any]:
    """The slides as plain JSON data, for deck.js; ``thinned`` says that only every so many-th pixel is in it."""
    slides = _downscaling_slides(shown)
    result = {key: shown.panel(key) for slide in slides for key in _fields_of(slide)}
    panels = {key: panel for key, panel in result.items() if panel is not None}
    stride = stride_for(list(panels.values()))
    fine = shown.problem.grid.shape
    fields = {key: field_data(panel, stride if panel.grid.shape == fine else 1) for key, panel in panels.items()}
    return {
        "title": shown.title, "slides": slides, "fields": fields, "thinned": stride, "trust": _trust_badge(shown),
        **frame_data(shown.problem.grid),
    }  # fmt: skip


def _downscaling_slides(shown: Shown) -> list[dict[str, Any]]:
    """What each slide says, and by their keys which maps it draws; slides without their maps are left out."""
    return [slide for slide in _slides(shown) if all(shown.panel(key) is not None for key in _fields_of(slide))]


def _fields_of(slide: Mapping[str, Any]) -> list[str]:
    """The keys of the maps that a slide draws: left of the divider, right of it, what is hatched."""
    hatched = (slide.get("hatch") or {}).get("field")
    return [key for key in (slide.get("left"), slide.get("right"), hatched) if key]


def stride_for(panels: list[Panel], room: int = _ROOM) -> int:
    """Every how many-th pixel may be written so that all fields fit into so many characters of base64."""
    stride = 1
    while sum(8 / 3 * np.prod([-(-n // stride) for n in panel.values.shape]) for panel in panels) > room:
        stride += 1
    return stride


def _trust_badge(shown: Shown) -> dict[str, str]:
    """The verdict that stands on every slide that shows a result."""
    if shown.held is None:
        return {"mark": "bad", "badge": shown.unchecked or "The intervals could not be tested."}
    share = 100 * shown.held.held[-1]
    return {
        "mark": mark_of(shown.held),
        "badge": f"95 % intervals contain {share:.0f} % of the truth{_where(shown)}: {shown.held.words}.",
    }


def _where(shown: Shown) -> str:
    """Where the verdict holds, if not on the whole map."""
    truth = shown.problem.truth
    return "" if truth is not None and np.isfinite(truth).all() else " where they could be tested"


def _slides(shown: Shown) -> list[dict[str, Any]]:
    problem = shown.problem
    cells, pixels = int(problem.observed.sum()), f"{len(problem.pixel):,}"
    name = short_name(problem)
    covariates = ", ".join(problem.spec.covariates).replace("_", " ")
    doubt = f"2\u00a0sd exceeds {_with_units(_least_known(shown), problem.units)}."
    return [
        _map("data", "Known at high resolution", f"{covariates.capitalize()}, at all {pixels} pixels.", _COVARIATE)
        | {"given": True},
        _map("coarse", f"{cells} coarse values are known",
             f"Each is the mean of {name} over {problem.pixels_of_a_cell}.{_hidden(problem)}", MapKey.OBSERVED)
        | {"given": True},
        _map("fine", "From coarse to fine", f"From {cells} coarse values to {pixels} pixels: drag the divider.",
             MapKey.MEAN, MapKey.OBSERVED, ("coarse", "fine"), f"From {cells} coarse values to {pixels} pixels."),
        _map("truth", _accuracy(shown), _nearness(shown), MapKey.TRUTH, MapKey.MEAN, ("fine", "truth")),
        _map("error", "Where the map is wrong", _error_sizes(shown), MapKey.ERROR),
        _map("doubt", "Where the map is least certain",
             f"Hatched: the quarter of the map with the largest uncertainty. {doubt}", MapKey.MEAN,
             printed=f"In the quarter of the map with the largest uncertainty, {doubt[0].lower()}{doubt[1:]}")
        | {"hatch": {"field": MapKey.SPREAD, "above": _least_known(shown)}},
        _checks(shown),
        {"key": "method", "kind": "words", "title": "Method", "sentence": _method(shown),
         "lines": [["Model", f"{shown.model.title} ({shown.model.source})"], *_scale(problem),
                   ["Learn more", _REFERENCES]]},
        {"key": "credits", "kind": "words", "title": "Credits", "sentence": "Data, sources and software.",
         "lines": credits(shown)},
    ]  # fmt: skip


def _map(
    key: str, title: str, sentence: str, right: str, left: str | None = None, labels: tuple[str, ...] = (),
    printed: str = "",
) -> dict[str, Any]:  # fmt: skip
    both = f"Map with a divider: {labels[0]} on the left, {labels[1]} on the right. " if left else "Map. "
    return {
        "key": key, "kind": "map", "title": title, "sentence": sentence, "right": right, "left": left,
        "labels": list(labels), "alt": both + sentence, "printed": printed or sentence,
    }  # fmt: skip


def _scale(problem: DownscalingProblem) -> list[list[str]]:
    """On which scale values are modelled, where that is not their own."""
    return [] if problem.warp is None else [["Scale", problem.warp.sentence]]


def _hidden(problem: DownscalingProblem) -> str:
    return f" {problem.hidden} more were hidden from the model to test it (grey)." if problem.hidden else ""


def _with_units(value: float, units: str) -> str:
    return f"{number(value, 3)} {units}".strip()


def _errors(shown: Shown) -> tuple[float | None, float | None]:
    """The area-weighted RMSE of the map and of bilinear interpolation, None where they are not known."""
    own, plain = ((shown.scores.get(name) or {}).get("rmse_area") for name in (shown.model.name, "bilinear"))
    return own, plain


def _nearness(shown: Shown) -> str:
    (rmse, plain), units = _errors(shown), shown.problem.units
    if rmse is None:
        return "Comparison with the truth, which the model never saw."
    comparison = f"; that of bilinear interpolation is {_with_units(plain, units)}" if plain is not None else ""
    return (
        f"The model never saw the truth. The area-weighted RMSE of the map is {_with_units(rmse, units)}{comparison}."
    )


def _accuracy(shown: Shown) -> str:
    """The title of the comparison with the truth: its result, where there is one."""
    own, plain = _errors(shown)
    if own is None or not plain:
        return "Comparison with the truth"
    return f"Error: {100 * own / plain:.0f} % of that of bilinear interpolation"


def _error_sizes(shown: Shown) -> str:
    """How large the error is at half of the pixels and at most of them."""
    panel = shown.panel(MapKey.ERROR)
    if panel is None:
        return ""
    half, most = (
        _with_units(float(each), shown.problem.units) for each in np.nanquantile(abs(panel.values), (0.5, 0.95))
    )
    sentence = f"Prediction minus truth. At half of the pixels the error is below {half}, at 95 % of them below {most}."
    step = None if shown.problem.truth is None else stored_step(shown.problem.truth)
    if step is None:
        return sentence
    return f"{sentence} Stripes: the file stores the truth in steps of {_with_units(step, shown.problem.units)}."


def _calibration(shown: Shown) -> str:
    """The title of the checks: their result, where there is one."""
    if shown.held is None:
        return "Calibration"
    words = shown.held.words
    return f"T{words[1:]}" if words.startswith("the ") else f"The intervals are {words}"


def _least_known(shown: Shown) -> float:
    """2 sd above which the map is known least well."""
    panel = shown.panel(MapKey.SPREAD)
    assert panel is not None
    return float(np.nanquantile(panel.values, 1 - _LEAST_KNOWN))


def _checks(shown: Shown) -> dict[str, Any]:
    levels: list[list[int]] = []
    if shown.held is not None:
        levels = [[round(100 * p), round(100 * h)] for p, h in zip(LEVELS, shown.held.held, strict=True)]
    sentence = "Area-weighted scores on the same pixels as simple baselines, which saw the same cells."
    if shown.problem.truth is None:
        at = " The scores are at the hidden cells: each field is averaged over them." if shown.scores else ""
        sentence = "No truth at high resolution is available." + at
    lines = [["One scale up", shown.checked]] if shown.checked else []
    return {
        "key": "checks", "kind": "checks", "title": _calibration(shown), "sentence": sentence, "levels": levels,
        "rows": score_rows(shown), "lines": lines,
    }  # fmt: skip


def score_rows(shown: Shown) -> list[list[str]]:
    """A heading, then a row a method: RMSE and CRPS in the target's units, coverage of 95 % intervals, all by area."""
    units = f", {shown.problem.units}" if shown.problem.units else ""
    rows = [["", f"RMSE{units}", f"CRPS{units}", "Coverage of 95 %"]]
    for name, row in shown.scores.items():
        rmse, crps, held = (row.get(score) for score in _SCORES)
        share = "–" if held is None else f"{100 * held:.0f} %"
        rows.append([model_name(name), *("–" if v is None else number(v, 3) for v in (rmse, crps)), share])
    return rows


def _method(shown: Shown) -> str:
    how = (
        "its averages over cells are known, and conditioning on them recovers the field"
        if shown.problem.matched
        else "averages are known over some cells and covariates over others, and mediators connect them"
    )
    return f"The fine field is a Gaussian process; {how}, with its uncertainty."


def credits(shown: Shown) -> list[list[str]]:
    """Data, licence, seed, software, coastlines, and what shows or makes the same."""
    problem = shown.problem
    lines = [
        ["Data", problem.source], ["Licence", problem.licence], ["Seed", str(problem.spec.seed)],
        ["Software", f"Deconditioning Lab {__version__}; coastlines: {CREDIT}"], ["Address", shown.address],
        ["Command", shown.command],
    ]  # fmt: skip
    return [line for line in lines if line[1]]
