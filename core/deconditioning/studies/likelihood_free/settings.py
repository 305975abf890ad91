"""The settings of likelihood-free inference: a simulator and its prior, how many runs, the kernels."""

from deconditioning.abbreviations import legend
from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings

#: The simulators.
PROBLEMS = {
    "exponential-gamma": "Exponential-gamma", "gaussian": "Gaussian", "lotka-volterra": "Lotka-Volterra",
}  # fmt: skip
#: Problem → the settings that are its own.
NUMBERS = {
    "exponential-gamma": ("observed", "shape", "rate"), "gaussian": ("dimension", "noise", "sd"),
    "lotka-volterra": ("low", "high"),
}  # fmt: skip
_GAMMA, _NORMAL, PREDATORS = ({"problem": (name,)} for name in PROBLEMS)
#: Who sets the kernels.
BY_Q, BY_HAND = "by the evidence", "by hand"


class SourceSettings(Settings):
    """A simulator, or a table of simulations."""

    prefix = "lf"

    problem = Choice("Simulator", "exponential-gamma", options=PROBLEMS | {"table": "Own table"}, widget="menu")


class NumberSettings(Settings):
    """A simulator, its observation and its prior (Hsu and Ramos 2019, §8.3)."""

    prefix = "lf"

    problem = Choice("Simulator", SourceSettings.problem.default, options=PROBLEMS)
    observed = Linear("Observed mean", 9.42, low=1.25, high=75.0, step=0.01, log=True, draws=True, first=7, only=_GAMMA,
                      address="lf-y", about="of exponential-gamma", plain="Observation, minutes",
                      plain_help="The mean of the data, whose cause θ is to be inferred.")  # fmt: skip
    shape = Log("Prior: shape", 0.1, low=0.01, high=100.0, draws=True, first=8, only=_GAMMA)
    rate = Log("Prior: rate", 0.1, low=0.01, high=100.0, draws=True, first=9, only=_GAMMA)
    dimension = Integer("Parameters", 2, low=1, high=5, draws=True, first=10, only=_NORMAL, address="lf-d",
                        about="of gaussian: their number")  # fmt: skip
    noise = Log("Noise σ of the simulator", 0.5, low=0.05, high=2.0, draws=True, first=11, only=_NORMAL)
    sd = Log("Prior: sd", 1.0, low=0.1, high=5.0, draws=True, first=12, only=_NORMAL)
    low = Linear("Prior: log θ from", -5.0, low=-7.0, high=3.0, step=0.5, sweep=False, only=PREDATORS, address=None)
    high = Linear("Prior: log θ to", 2.0, low=-7.0, high=3.0, step=0.5, sweep=False, only=PREDATORS, address=None)


class SimulatorSettings(NumberSettings):
    """The same with the number of runs, which every simulator has its own slider for."""

    prefix = "lf"

    simulations = Integer(
        "Simulations", 300, low=20, high=500, step=10, log=True, draws=True, first=6, symbol="N",
        address="lf-n-exponential-gamma", plain="How many simulations", plain_help="n, the number of simulator runs.",
        otherwise={"problem": {
            "gaussian": {"default": 200, "low": 50, "high": 1000, "step": 50, "address": "lf-n-gaussian"},
            "lotka-volterra": {
                "default": 2000, "low": 200, "high": 2000, "step": 200, "address": "lf-n-lotka-volterra",
            },
        }},
    )  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)


class ModeSettings(Settings):
    """Whether q̄ sets the kernels."""

    prefix = "lf"

    mode = Choice(
        "Hyperparameters", BY_Q, options={BY_Q: BY_Q, BY_HAND: BY_HAND},
        help="q̄ estimates the probability of the observation from the simulations alone. The kernels maximise q̄, "
        "within limits that prevent overfitting to single simulations. Move any slider to set them yourself.",
        plain="How closeness is chosen",
        plain_help="The approximate evidence q̄ chooses ε and all kernels. Move the slider below to choose them "
        "yourself.",
    )  # fmt: skip


class KernelSettings(Settings):
    """The hyperparameters; the page's sliders begin where q̄ puts them."""

    prefix = "lf"

    epsilon = Log(
        "ε, of the ε-kernel", 0.1, low=0.01, high=10.0, first=1, symbol="ε", address="lf-eps",
        help="In sd of the summaries. It affects q̄ and the region where herding searches, not the weights.",
    )  # fmt: skip
    length = Log("ℓ, in sd of near parameters", 1.0, low=0.1, high=10.0, first=2, symbol="ℓ", address="lf-len",
                 help="Near parameters are those with simulations inside the narrowest allowed ε-kernel; 1 is their "
                 "standard deviation.")  # fmt: skip
    kernel_scale = Log(
        "k", 0.1, low=0.01, high=10.0, first=3, address="lf-k",
        help="Lengthscale for the summaries, in their standard deviations.", plain="How close a simulation must be",
        plain_help="k, the width of the kernel that compares simulations with the observation, in their standard "
        "deviations. The wider it is, the wider is the posterior.",
    )  # fmt: skip
    regularisation = Log("λ", 1e-3, low=1e-8, high=1.0, first=4, symbol="λ", address="lf-lam",
                         help="Regularisation of the operator of the simulator; it enters as nλ.")  # fmt: skip
    second_regularisation = Log("δ", 1e-3, low=1e-6, high=1.0, first=5, symbol="δ", address="lf-del",
                                help="Regularisation of the inverse; it enters as mδ.")  # fmt: skip


class MethodSettings(Settings):
    """Whose posterior is shown."""

    prefix = "lf"

    method = Choice("Samples of", "dme", options={"dme": "DME", "kbr": "KBR", "cme": "CME", "abc": "ABC"},
                    address="lf-shown", help=legend("DME, KBR, CME, ABC"))  # fmt: skip


class PageSettings(SimulatorSettings, ModeSettings, KernelSettings, MethodSettings):
    """All that the page asks of a simulator."""


class SweptSettings(SimulatorSettings, MethodSettings, KernelSettings):
    """What can be swept; hyperparameters follow q̄ unless one of them is."""

    prefix = "lf"

    by_q = Switch("Hyperparameters from q̄", True, address=None)
