"""The settings of the kernel Bayes filter: of a point on a wavy circle, a series of one's own, a turning camera."""

from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings
from deconditioning.wording import number

#: The systems that can be simulated, and what only one's own system has.
SYSTEMS = {"a": "circle (data a of the paper)", "b": "waves (data b of the paper)", "own": "own circle"}
OWN = {"system": ("own",)}
#: What split-half validation tries: β times the median distance as lengthscale, and ε.
SCALES, EPSILONS = (0.35, 0.5, 0.7, 1.0), (1e-5, 1e-4, 1e-3)
#: The same on a camera's frames.
CAMERA_SCALES, CAMERA_EPSILONS = (0.5, 1.0, 2.0), (1e-7, 1e-6, 1e-5, 1e-4)
#: The paper's noise of a pixel, as sd.
PAPER_NOISES = (1e-4**0.5, 1e-3**0.5)
_EXAMPLES = "How many examples"
_ABOUT_EXAMPLES = "T, the number of training steps: the states and observations from which the filter learns."
_SMOOTH = "Kernel width"
_ABOUT_SMOOTH = "β, the lengthscale of the kernels in median distances: how far an example's influence reaches."
_TOLERANCE = "Trace dropped by the low-rank factors"


def _tried(scales: tuple[float, ...], epsilons: tuple[float, ...]) -> str:
    return (
        f"Split-half: β among {', '.join(map(str, scales))}, ε among {', '.join(f'{number(e, 6)}' for e in epsilons)}."
    )


class ViewSettings(Settings):
    """What the page shows: a system, a camera, or a recorded series."""

    prefix = "f"

    system = Choice("System", "b", options=SYSTEMS | {"camera": "camera", "series": "own series"}, widget="menu",
                    plain="What is tracked",
                    plain_help="A point on a circle (a) or a wavy circle (b), the paper's two systems; a circle of "
                    "your own; a rotating camera; or your own series.")  # fmt: skip


class RotationSettings(Settings):
    """The systems of Fukumizu et al. 2013, §5.3, and the lengths of both series."""

    prefix = "f"

    system = Choice("System", ViewSettings.system.default, options=SYSTEMS, about="a: a circle, b: a wavy circle")
    generator = Choice(
        "Next angle", "M", options={"M": "from the noisy state", "D": "by itself"}, address="f-gen",
        about="M: it follows from the noisy state; D: it advances without noise",
        help="The equation in the paper can be read in two ways: the angle continues from the noisy state, or the "
        "angle advances without noise and the noise is only added to the state.",
    )  # fmt: skip
    eta = Linear("η, turn per step", 0.3, low=0.0, high=1.5, step=0.05, draws=True, only=OWN, first=6)
    b = Linear("b, depth of the waves", 0.4, low=0.0, high=0.9, step=0.05, draws=True, only=OWN, first=7)
    waves = Integer("M, waves", 8, low=1, high=12, draws=True, only=OWN, first=8)
    state_noise = Linear("Noise of the state (sd)", 0.2, low=0.0, high=1.0, step=0.05, draws=True, only=OWN, first=9,
                         address="f-sh")  # fmt: skip
    look_noise = Linear("Observation noise (sd)", 0.2, low=0.05, high=1.0, step=0.05, draws=True, only=OWN, first=10,
                        address="f-so")  # fmt: skip
    train = Integer("Training steps T", 200, low=20, high=800, step=20, log=True, draws=True, first=3, symbol="T",
                    plain=_EXAMPLES, plain_help=_ABOUT_EXAMPLES)  # fmt: skip
    test = Integer("Steps to track", 150, low=20, high=400, step=10, sweep=False, about="filtered and scored")
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)


class KernelSettings(Settings):
    """The filter's own numbers."""

    prefix = "f"

    tolerance = Log(_TOLERANCE, 1e-4, low=1e-10, high=1e-2, first=4, address="f-tol", about="0: dense matrices")
    scale = Log("β, lengthscale in median distances", 0.7, low=0.1, high=3.0, first=2, symbol="β", address="f-beta",
                only={"validate": (False,)}, plain=_SMOOTH, plain_help=_ABOUT_SMOOTH)  # fmt: skip
    regularisation = Log("ε, δ = 2ε", 1e-4, low=1e-7, high=1e-1, first=1, symbol="ε", address="f-eps", flag="epsilon",
                         only={"validate": (False,)})  # fmt: skip


class ValidationSettings(Settings):
    """Whether β and ε are chosen by the filter, and what else is estimated."""

    prefix = "f"

    validate = Switch("β and ε by validation", False, help=_tried(SCALES, EPSILONS))
    around = Switch("Prediction and smoother too", False)


class ShownSettings(Settings):
    """What the pictures show."""

    prefix = "f"

    every = Switch("All filters in the pictures", False, sweep=False,
                   help="Also those that know the equations, and examples of negative weight.")  # fmt: skip


class FilteringSettings(ValidationSettings, KernelSettings):
    """All of the filter, as the page asks for it."""


class SweptSettings(RotationSettings, KernelSettings):
    """Series and filter: what can be swept."""


class CameraSettings(Settings):
    """A camera that turns in a room, and the lengths of both series."""

    prefix = "fc"

    train = Integer("Training frames T", 300, low=100, high=1200, step=50, log=True, draws=True, first=3, symbol="T",
                    about="the paper's: 1800", plain=_EXAMPLES, plain_help=_ABOUT_EXAMPLES)  # fmt: skip
    test = Integer("Frames to track", 60, low=20, high=300, step=10, log=True, draws=True, first=6,
                   about="filtered and scored; the paper's: 1800")  # fmt: skip
    noise = Log("Noise of a pixel (sd)", PAPER_NOISES[1], low=0.003, high=1.0, draws=True, first=4, symbol="SD",
                about="the paper's: 0.01 and 0.0316",
                help="In the paper: 0.01 and 0.0316. Pixel values range from 0 to 1.")  # fmt: skip
    tilt = Linear(
        "Maximum tilt, °", 20.0, low=10, high=180, step=5, draws=True, first=7, about="180: all rotations",
        help="The largest angle between the up directions of the camera and the room. 180 allows all of SO(3), which "
        "needs more training frames.",
    )  # fmt: skip
    speed = Linear("Speed, radians per step", 0.15, low=0.02, high=0.4, step=0.01, draws=True, first=8,
                   about="sd of the rotation about each axis")  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, sweep=False)
    room = Integer("Room", 0, low=0, high=9999, typed=True, sweep=False, symbol="SEED",
                   about="seed of the colours and pictures on the walls")  # fmt: skip


class CameraKernelSettings(Settings):
    """The numbers of both filters of the camera."""

    prefix = "fc"

    tolerance = KernelSettings.tolerance.copy(default=1e-2, low=1e-6, first=5, address="fc-tol")
    scale = KernelSettings.scale.copy(default=1.0, high=5.0, address="fc-beta")
    regularisation = KernelSettings.regularisation.copy(default=1e-5, low=1e-9, high=1e-2, address="fc-eps")


class CameraValidationSettings(Settings):
    """Whether they are chosen by validation."""

    prefix = "fc"

    validate = Switch("β and ε by validation", False,
                      help=f"{_tried(CAMERA_SCALES, CAMERA_EPSILONS)} Takes about ten times as long.")  # fmt: skip


class CameraShownSettings(Settings):
    """What the pictures show."""

    prefix = "fc"

    every = ShownSettings.every.copy(address="fc-every", help="Otherwise the chosen one and the nearest example.")


class CameraFilterSettings(CameraValidationSettings, CameraKernelSettings):
    """All of the filters, as the page asks for it."""


class CameraSweptSettings(CameraSettings, CameraKernelSettings):
    """Series and filters: what can be swept."""
