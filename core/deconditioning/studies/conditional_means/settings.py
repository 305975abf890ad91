"""The settings of conditional mean embeddings: bags, both estimators, and the rates of theorem 4.2."""

from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings

#: The paper's layouts: bags × points a bag; where its comparison and the command begin besides.
LAYOUTS = ((3, 50), (50, 3), (50, 500), (500, 50))
PAPER_BAGS, PAPER_PER_BAG, PAPER_REGULARISATION = 50, 3, 0.1
#: Where the page opens: bags few enough for the sizes to tell, points few enough for N×N matrices; one's own layout.
_OPENING, OWN, _OWN_BAGS = (30, 30), "own", 30
_SIZES = {f"{bags} × {per}": (bags, per) for bags, per in (_OPENING, (50, 20), *LAYOUTS)}


class LayoutSettings(Settings):
    """A layout by its name; bags and points follow from it."""

    prefix = "e"

    layout = Choice("Bags × points per bag", next(iter(_SIZES)), options={name: name for name in (*_SIZES, OWN)},
                    widget="menu", plain="How many groups, and points in each",
                    plain_help="The points of a group (a bag) share one label. Own: any other numbers, under "
                    "All.")  # fmt: skip


class BagSettings(Settings):
    """Bags, sizes, λ, lengthscales and seed (Chau et al. 2021, App. C.2): what can be swept."""

    prefix = "e"

    bags = Integer("Bags", _OPENING[0], low=1, high=1000, log=True, draws=True, first=4, typed=True, symbol="B",
                   only={"layout": (OWN,)}, otherwise={"layout": {
                       **{name: {"default": bags} for name, (bags, _) in _SIZES.items()}, OWN: {"default": _OWN_BAGS},
                   }}, about="their number")  # fmt: skip
    per_bag = Integer("Points per bag", _OPENING[1], low=1, high=1000, log=True, draws=True, first=5, typed=True,
                      symbol="N", address="e-per", only={"layout": (OWN,)},
                      otherwise={"layout": {name: {"default": per} for name, (_, per) in _SIZES.items()}},
                      about="their mean if sizes are unequal, one for each number of bags")  # fmt: skip
    unequal = Switch("Bags of unequal size", True, plain="Groups of unequal size",
                     plain_help="Off: all bags have the same number of points.")  # fmt: skip
    alike = Switch("λ scaled alike", True, help="On: the diagonals contain Nλ and Bλ. Off: both contain the same "
                   "number, which regularises the standard estimator less.")  # fmt: skip
    regularisation = Log(
        "λ", 0.003, low=1e-6, high=10.0, first=1, symbol="λ", address="e-lam", about="in Nλ and Bλ",
        plain="Regularisation",
        plain_help="λ: the larger it is, the more a bag also represents its neighbours.",
    )  # fmt: skip
    input_scale = Log("Lengthscale of k", 1.0, low=0.1, high=10.0, first=3, unit="medians", address="e-k",
                      help="1 is the median heuristic.")  # fmt: skip
    mediator_scale = Log("Lengthscale of ℓ", 1.0, low=0.1, high=10.0, first=2, unit="medians", address="e-l")
    seed = Integer("Seed", 2, low=0, high=9999, typed=True, sweep=False)


class EstimateSettings(LayoutSettings, BagSettings):
    """All that the view of both estimates asks for."""


class SliceSettings(Settings):
    """Where the embeddings are cut."""

    prefix = "e"

    y = Linear("Value of y", -0.75, low=-4.0, high=4.0, step=0.05, sweep=False,
               help="Where both maps are cut; a click on a map cuts there. At the ends there are few groups, and both "
               "estimates fail.")  # fmt: skip


class TheoremSettings(Settings):
    """The parameters of theorem 4.2, and the effort of measuring beside it."""

    prefix = "e"

    a = Linear("a", 0.8, low=0.1, high=3.0, step=0.05, about="growth of N with M",
               help="Samples of the first stage: N is a power of M with an exponent proportional to a.",
               plain="Growth of the first sample",
               plain_help="a: the number N of samples of the first stage is a power of M, with an exponent "
               "proportional to a.")  # fmt: skip
    flat = Switch("Finite features (b = ∞)", False,
                  help="Five features of equal weight instead of a spectrum that decays.")  # fmt: skip
    b = Linear("b", 2.0, low=1.05, high=10.0, step=0.05, only={"flat": (False,)}, stays=True,
               about="decay of the eigenvalues, > 1",
               help="The n-th eigenvalue decays as the power −b of n: effective dimension.",
               plain="How fast fine detail fades",
               plain_help="b: the eigenvalues of the kernel decay with this power.")  # fmt: skip
    c = Linear("c", 1.5, low=1.05, high=2.0, step=0.05, about="smoothness of the second stage, in ]1, 2]",
               help="Smoothness, second stage.", plain="How smooth the truth is",
               plain_help="c, the smoothness of the operator that the second stage learns.")  # fmt: skip
    c_prime = Linear("c′", 2.0, low=1.05, high=2.0, step=0.05, address="e-cp",
                     about="smoothness of the first stage, in ]1, 2]", help="Smoothness, first stage.")  # fmt: skip
    iota = Linear("ι", 1.0, low=0.1, high=1.0, step=0.05, about="Hölder exponent, in ]0, 1]", help="Hölder exponent.")
    error = Choice("Error", "Risk", options={"Risk": "Risk", "Hilbert–Schmidt": "Hilbert–Schmidt"})
    largest = Integer("Largest N", 100_000, offered=(100_000, 300_000, 1_000_000, 3_000_000), widget="slider",
                      grouped=True, about="the most samples of the first stage")  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False, address="e-rate-seed", about="the first one")
