"""Default starting values of a model."""

from dataclasses import dataclass, replace

#: What holds τ² of one source beside the cells while learning → its number, counted from 0.
ONE_SOURCE = {f"representativeness-{number}": number - 1 for number in range(1, 10)}
#: The noise variances that learning may keep fixed, and how a page calls them.
HELD = {
    "noise": "σ²", "point_noise": "ς²", "representativeness": "τ²",
    **{name: f"τ² of source {1 + number}" for name, number in ONE_SOURCE.items()},
}  # fmt: skip


@dataclass(frozen=True)
class Start:
    """Default starting values of a model.

    ``spatial`` is the kernel family on coordinates, ``noise`` σ², ``point_noise`` ς² and ``representativeness`` τ² (of
    standardised targets),
    ``hold`` those of the two that are not learned: cell means do not identify ς², which can grow to several sd of the
    targets on real fields and would widen every pixel's interval. ``every_pixel``, ``prior_sd`` and ``restarts`` are
    options of learning, ``local_scale`` one of the posterior's sd. ``ridge`` is λ times the number of bags: near
    interpolation, where the leave-one-bag-out loss usually ends. ``integrate``: hyperparameters of few
    cells are integrated out (`models.learning.integrate`), which needs priors.
    """

    spatial: str = "matern32"
    noise: float = 0.05
    point_noise: float = 0.01
    hold: tuple[str, ...] = ("point_noise",)
    every_pixel: bool = False
    prior_sd: float = 0.0
    restarts: int = 2
    local_scale: bool = False
    ridge: float = 1e-3
    integrate: bool = False
    representativeness: float = 0.05


#: For cells that are measured: in space as rough as real fields are, and no noise beside, so that what varies inside a
#: cell is the kernel's to explain. σ is a thousandth of the targets' sd.
ROUGH = Start("matern12", 1e-6, 0.0, ("noise", "point_noise"))
#: For a trend and a rough rest: how rough is learned, held near the start by priors. What pseudo-targets
#: err by is carried on, and is no noise of k.
TREND = Start(
    "powered_exponential", 1e-6, 0.0, ("noise", "point_noise"), True, 1.0, 1, local_scale=True, integrate=True
)
TREND_OF_PSEUDO = replace(TREND, local_scale=False)
#: Where λ·B is the variance of what mediators leave open of standardised covariates.
TREND_BESIDE_MEDIATORS = replace(TREND, ridge=0.04)
