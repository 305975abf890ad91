"""The essential controls of page Filtering: at most four of a system."""

from pages.kit.essential import Essential

_EXAMPLES = Essential("How many examples", "T, the steps of training: states and looks that the filter has seen.")
_SMOOTH = Essential(
    "How smooth the world is taken to be",
    "β, the lengthscale of the kernels in median distances: how far from an example it still says something.",
)
_STEP = Essential("Which moment", "The step of the series that is drawn.")
ESSENTIALS = {
    "f-system": Essential("What is followed", "A point on a wavy circle, a turning camera, or a series of your own."),
    "f-train": _EXAMPLES,
    "f-beta": _SMOOTH,
    "f-step": _STEP,
    "fc-train": _EXAMPLES,
    "fc-beta": _SMOOTH,
    "fc-step": _STEP,
    "f-file": Essential("Your own series", "A table with one step a row, CSV or NetCDF."),
}
