"""The essential controls of page Filtering: at most four of a system."""

from pages.kit.controls.essential import Essential

_EXAMPLES = Essential(
    "How many examples", "T, the number of training steps: the states and observations from which the filter learns."
)
_SMOOTH = Essential(
    "How smooth the system is assumed to be",
    "β, the lengthscale of the kernels in median distances: how far an example's influence reaches.",
)
_STEP = Essential("Which step", "The step of the series that is shown.")
ESSENTIALS = {
    "f-system": Essential("Which system", "A point on a wavy circle, a rotating camera, or your own series."),
    "f-train": _EXAMPLES,
    "f-beta": _SMOOTH,
    "f-step": _STEP,
    "fc-train": _EXAMPLES,
    "fc-beta": _SMOOTH,
    "fc-step": _STEP,
    "f-file": Essential("Your own series", "A table with one step per row, CSV or NetCDF."),
}
