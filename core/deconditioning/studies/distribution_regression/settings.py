"""The settings of distribution regression: which subjects, how every method regresses, how it is validated."""

from deconditioning.settings.lazily import Lazily
from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings

#: Subjects and measures of the largest simulation: smaller ones are its first.
LARGEST = (400, 2000)
#: Functions whose averages are looked at, and invertible transformations of the measurements (`theory`).
FUNCTION_NAMES = ("f₀ of the simulation", "f₀ less its mean", "waves", "a constant")
TRANSFORM_NAMES = ("as they are", "squares", "square roots", "turned round", "ends stretched", "ends squeezed")
#: What a page calls the synthetic people.
STAND_IN = "Stand-in for the paper's data"
#: The way to regress clusters with a correlation of one's own.
OWN = "by hand"


class SourceSettings(Settings):
    """Which subjects."""

    prefix = "d"

    source = Choice("Data", "simulation", address="d-data", options={
        "simulation": "Simulation", "stand-in": STAND_IN, "table": "Own table",
    }, plain="Which data",
        plain_help="The paper's simulation (20); a stand-in, synthetic people in place of the paper's survey, which is "
        "not available; or your own table.")  # fmt: skip


class SimulationSettings(Settings):
    """The simulation of Tang et al., eq. 20."""

    prefix = "d"

    n = Integer("n, subjects", 200, low=10, high=LARGEST[0], step=10, log=True, draws=True, first=4, symbol="N",
                flag="subjects", about="of the simulation (20)", plain="How many subjects",
                plain_help="n: each has one outcome.")  # fmt: skip
    m = Integer("m, measurements of each", 1000, low=10, high=LARGEST[1], log=True, draws=True, first=6, symbol="M",
                offered=(10, 20, 50, 100, 250, 500, 1000, 2000), widget="slider", flag="measures",
                plain="How many measurements of each",
                plain_help="m: the number of samples from each subject's distribution.")  # fmt: skip
    unequal = Switch("Unequal numbers of measurements", False, help="Each subject has between m/4 and m.",
                     about="between m/4 and m of each subject")  # fmt: skip
    spread = Linear("Concentration of the Dirichlet process", 25.0, low=1.0, high=100.0, step=1.0, log=True, draws=True,
                    first=5, address="d-alpha", help="The smaller, the more the subjects differ.")  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)


class StandInSettings(Settings):
    """Generated people of an accelerometer study's shape."""

    prefix = "d"

    people = Integer("People", 200, low=20, high=600, step=20, plain="How many people",
                     plain_help="n, each with 1,440 minutes of synthetic activity.")  # fmt: skip
    seed = SimulationSettings.seed.copy()


def _kernels() -> dict[str, str]:
    """The families that theorem 3 has a rate for."""
    from deconditioning.kernels.families.registry import FAMILIES

    return {name: family.title for name, family in FAMILIES.items() if family.isotropic and family.order is not None}


class KernelSettings(Settings):
    """Kernel and noise; where the sliders stand for the simulation, from which those of other data follow."""

    prefix = "d"

    family = Choice("Kernel K", "rbf", options=Lazily(_kernels), widget="menu", flag="kernel", symbol="FAMILY",
                    about="rbf, matern12, matern32 or matern52")  # fmt: skip
    scale = Log("Lengthscale", 0.5, low=0.0158, high=15.8, first=2, address="d-s-scale", flag="lengthscale",
                about="of the kernel (the paper's l = 0.25 is 0.5²)", plain="How smooth the effect is assumed to be",
                plain_help="The lengthscale of the kernel K: how far apart two values can be and still have nearly the "
                "same f.")  # fmt: skip
    size = Log("Variance of f", 1.0, low=1e-3, high=1e3, first=3, address="d-s-size", flag="variance")
    noise_by = Choice(
        "Noise σ²", "given", options={"given": "given", "learned": "learned", "gibbs": "Gibbs"},
        about="how it is chosen",
        help="Learned: the value with the highest evidence for this kernel. Gibbs: integrated out with an "
        "inverse-gamma prior IG(1, var y).",
    )  # fmt: skip
    noise = Log("σ²", 0.01, low=3.16e-5, high=3.16, first=1, symbol="σ²", address="d-s-noise",
                only={"noise_by": ("given",)}, about="variance of the outcome's noise")  # fmt: skip


class LowRankSettings(Settings):
    """Whether the posterior is of low rank."""

    prefix = "d"

    low_rank = Switch("Low rank (15)", False, address="d-low")


class RankSettings(Settings):
    """Of which rank; 0 is the full one."""

    prefix = "d"

    rank = Integer("k, eigenvectors", 0, low=1, high=40, least=0, symbol="K", about="of the low-rank posterior",
                   only={"low_rank": (True,)}, otherwise={"low_rank": {True: {"default": 10}}})  # fmt: skip


class ModelSettings(KernelSettings, LowRankSettings, RankSettings):
    """Kernel, noise and rank, as the page asks for them."""


class FurtherSettings(Settings):
    """What only some methods have."""

    prefix = "d"

    bandwidth = Choice("Bandwidth of the densities", "silverman", widget="menu", address="d-rule", options={
        "silverman": "Silverman, 1.06 sd", "silverman_0.9": "Silverman, 0.9", "scott": "Scott",
    })  # fmt: skip
    reflect = Switch("Reflect densities at the ends", False)
    eta_given = Switch(
        "Give the embeddings' scale η", False,
        help="How different the embeddings of subjects may be, for the methods called uncertain. Off: the η with the "
        "highest evidence given the measurements.",
    )  # fmt: skip
    eta = Log("η", 1.0, low=1e-3, high=10.0, symbol="η", flag="embedding-scale", only={"eta_given": (True,)},
              about="of uncertain embeddings' prior")  # fmt: skip


class SweptSettings(SimulationSettings, KernelSettings, RankSettings):
    """What can be swept, on the simulation."""

    prefix = "d"

    intercept = Switch("Intercept", False, address="d-s-intercept")


class ValidationSettings(Settings):
    """How subjects are held out."""

    prefix = "d"

    folds = Integer("Folds", 5, address=None, about="of the cross-validation")
    repeats = Integer("Partitions of the cross-validation", 1, offered=(1, 5, 20), widget="slider")
    nested = Switch(
        "Learn again in every fold", False,
        help="Learns kernel and noise from the evidence of each training fold, for every method. Takes some seconds.",
    )  # fmt: skip


class LinkSettings(Settings):
    """The single-index regression of an unknown link."""

    prefix = "d"

    estimated = Switch("Estimate it", False, address="d-link")
    eigenvectors = Integer("Eigenvectors of the index", 4, low=1, high=10, only={"estimated": (True,)},
                           address="d-link-rank")  # fmt: skip


class ClusterSettings(Settings):
    """Clusters of the simulation's subjects, and how their functions are regressed."""

    prefix = "d-c"

    subjects = Integer("Subjects", 200, address=None, about="of the simulation (20), in all clusters together")
    measures = Integer("Measurements", 200, address=None, about="of each subject")
    clusters = Integer("Clusters", 4, low=2, high=6, about="taken in turn")
    apart = Linear("Distance between their functions, δ", 0.3, low=0.0, high=0.5, step=0.05, symbol="δ",
                   about="how far the clusters' functions lie from their mean")  # fmt: skip
    way = Choice("Functions are", "exchangeable", widget="menu", options={
        "exchangeable": "exchangeable, ρ of highest evidence", "pooled": "one for all, ρ = 1",
        "separate": "one for each by itself, ρ = 0", OWN: "exchangeable, ρ by hand",
    })  # fmt: skip
    rho = Linear("Correlation ρ of clusters", 0.5, low=0.0, high=1.0, step=0.01, only={"way": (OWN,)})


class LemmaSettings(Settings):
    """A function and a concentration of which Lemma 1 is tried."""

    prefix = "d-l"

    function = Choice(
        "Function f", "f₀ of the simulation", options={name: name for name in FUNCTION_NAMES}, widget="menu"
    )
    waves = Integer("Waves", 1, low=1, high=10, only={"function": ("waves",)})
    alpha = Log("Concentration α of the subjects", SimulationSettings.spread.default, low=1.0, high=100.0)


class InvarianceSettings(Settings):
    """A transformation of the measurements."""

    prefix = "d-i"

    transform = Choice("Measurements are taken", "squares", options={name: name for name in TRANSFORM_NAMES},
                       widget="menu",
                       help="h, invertible on [0, 1]; the model sees h(x) with the same kernel")  # fmt: skip
