"""Settings of one downscaling problem, validated on construction."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from deconditioning.errors import InputError
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.fields.problem.cells import Cell, Region, cells_text, checked_cells, checked_region
from deconditioning.fill_values import checked_missing
from deconditioning.plain_data import check_seed

USUAL = CellSettings()
_Matching = Literal["direct", "indirect"]
#: Settings of a person's hand on the map, and later ones, without which a problem is what it was before there were any.
BY_HAND = ("hide", "reveal", "region", "reweigh", "coarse_select", "missing", "weights", "error")


def _names(values: Any, role: str) -> tuple[str, ...]:
    names = (values,) if isinstance(values, str) else tuple(values or ())
    if not all(isinstance(name, str) and name for name in names):
        raise InputError(f"The {role} must be names of variables, got {names!r}.")
    double = next((name for name in names if names.count(name) > 1), None)
    if double:
        raise InputError(f"`{double}` is given twice among the {role}: name each variable once.")
    return names


def _block(block: Any) -> tuple[int, int]:
    try:
        rows, columns = (int(n) for n in block)
        whole = [float(n).is_integer() for n in block]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`block` must be two whole numbers, rows and columns, got {block!r}.") from None
    if min(rows, columns) < 1 or rows * columns < 2 or not all(whole):
        raise InputError(f"A block of {block[0]} × {block[1]} pixels is too small: use at least two pixels.")
    return rows, columns


def _index_or_value(value: Any) -> int | str:
    """An index, or as text what `deconditioning.fields.selecting` looks up."""
    return (value.strip() or int(value)) if isinstance(value, str) else int(value)


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class DownscalingSpec:
    """Target, covariates and mediators by name, and how cells are formed and withheld.

    Parameters
    ----------
    target : the coarse variable to refine.
    covariates, mediators : high-resolution inputs and mediating variables.
    block : (rows, columns) of pixels in a coarse cell (a bag).
    withhold : fraction of the cells with a value whose target is withheld, in [0, 1).
    seed : seed of the random choice.
    matching : "direct" (covariates and targets in the same cells) or "indirect" (bags in the withheld cells only,
        targets in the others); by default indirect if there are mediators.
    coordinates : whether coordinates are covariates and mediators too.
    select : selection along extra dimensions, "dim" for all variables or "variable:dim" for one: an index from 0, or as
        text a value, the beginning of one date, or an index as "#5".
    hide, reveal : (row, column) of coarse cells of the whole field, from 0, whose target is always or never withheld.
    reweigh : whether bags with mediators that are common among the targets have more weight in the regression on
        mediators (`deconditioning.mediator_shift`); no effect if cells are matched.
    coarse_select : the same as ``select`` for a coarse target in its own file; by default the covariates' selection
        (`deconditioning.fields.problem.matching`).
    missing : numbers that count as missing, as text: "-999.9" in every field, "t=-999.9" in one.
    region : (first row, last row, first column, last column) of the coarse cells to keep; ``None`` for all.
    weights : a field of the pixels by which cell means are weighted beside area, such as a population or a land
        fraction; ``None`` for area alone.
    error : the field of the coarse file with the standard deviation of each target's error; ``None`` for none.
    """

    target: str
    covariates: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    block: tuple[int, int] = USUAL.block
    withhold: float = USUAL.withhold
    seed: int = USUAL.seed
    matching: _Matching | None = None
    coordinates: bool = USUAL.coordinates
    select: Mapping[str, int | str] = field(default_factory=dict)
    hide: tuple[Cell, ...] = ()
    reveal: tuple[Cell, ...] = ()
    region: Region | None = None
    reweigh: bool = USUAL.reweigh
    coarse_select: Mapping[str, int | str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    weights: str | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target, str) or not self.target:
            raise InputError(f"`target` must be the name of a variable, got {self.target!r}.")
        for role in ("covariates", "mediators"):
            names = _names(getattr(self, role), role)
            object.__setattr__(self, role, names)
            if self.target in names:
                raise InputError(f"The target `{self.target}` is among the {role}: remove it from them.")
        for name in ("weights", "error"):
            if (value := getattr(self, name)) is not None and not (isinstance(value, str) and value):
                raise InputError(f"`{name}` must be the name of a variable, got {value!r}.")
        object.__setattr__(self, "block", _block(self.block))
        object.__setattr__(self, "missing", checked_missing(self.missing))
        self._check_numbers()
        self._check_matching()
        self._check_by_hand()

    def _check_numbers(self) -> None:
        seed = self.seed
        for name, kind in (("withhold", float), ("seed", int)):
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, kind(value))
            except (TypeError, ValueError, OverflowError):
                raise InputError(f"`{name}` must be a number, got {value!r}.") from None
        if not 0 <= self.withhold < 1:
            raise InputError(f"`withhold` is {self.withhold:g}: give a fraction from 0 to below 1.")
        check_seed(seed if isinstance(seed, float) and seed != self.seed else self.seed)
        for name in ("select", "coarse_select"):
            given = getattr(self, name)
            try:
                object.__setattr__(self, name, {str(k): _index_or_value(v) for k, v in dict(given or {}).items()})
            except (TypeError, ValueError, OverflowError):
                raise InputError(f"`{name}` must map dimensions to indices or values, got {given!r}.") from None

    def _check_matching(self) -> None:
        if self.matching not in (None, "direct", "indirect"):
            raise InputError(f"`matching` is {self.matching!r}: choose 'direct' or 'indirect'.")
        if not self.covariates and not self.coordinates:
            raise InputError("There are no covariates and no coordinates: choose at least one covariate.")
        if self.indirect and not self.mediators and not self.coordinates:
            raise InputError("Indirect matching needs a mediator: choose one or add the coordinates.")

    def _check_by_hand(self) -> None:
        for name in ("hide", "reveal"):
            object.__setattr__(self, name, checked_cells(getattr(self, name), name))
        object.__setattr__(self, "region", checked_region(self.region))
        if both := sorted(set(self.hide) & set(self.reveal)):
            raise InputError(f"The cell {cells_text(both[:1])} is both hidden and revealed: choose one.")

    @property
    def indirect(self) -> bool:
        """Whether covariates and targets belong to different cells, linked only by mediators."""
        return self.matching == "indirect" or (self.matching is None and bool(self.mediators))

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON-able values; the user's choices of cells only if there are any."""
        filled = {k: v for k, v in asdict(self).items() if v or k not in BY_HAND}
        return {k: _plain(v) for k, v in filled.items()}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> "DownscalingSpec":
        """The settings from the result of ``to_dict``; unknown names raise ``InputError``."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(settings) - known)
        if unknown or "target" not in settings:
            what = f"Unknown setting `{unknown[0]}`" if unknown else "The setting `target` is missing"
            raise InputError(f"{what}: the settings are {', '.join(sorted(known))}.")
        return cls(**dict(settings))
