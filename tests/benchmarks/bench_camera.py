"""The camera's kernel Bayes filter at T = 1,800: the frames' whole Gram matrix by Lanczos steps against low ranks."""

import torch

from deconditioning.filtering.rotations import RotationPath
from deconditioning.kernels.lanczos import ACCURACY
from deconditioning.studies.filtering.camera import CameraSpec, kernel_bayes, make_camera
from deconditioning.studies.filtering.settings import PAPER_NOISES
from deconditioning.studies.filtering.study import FilterSettings
from tests.benchmarks.table import Row, keep

TRAIN, TEST = 1800, 50
#: Shares of the frames' trace that the low-rank factor may leave out; the least stands beside the whole.
TOLERANCES = (0.3, 0.2, 0.1, 0.05, 0.01)
SMOKE = {"TRAIN": 40, "TEST": 3, "TOLERANCES": (0.3, 0.01)}


def bench_a_frame() -> None:
    """Gaussian kernels, β = 0.5, ε = 1e-5, the paper's smaller noise, tilt up to 45°."""
    torch.set_num_threads(1)
    data = make_camera(CameraSpec(TRAIN, TEST, PAPER_NOISES[0], 0, RotationPath(tilt=45)))

    def followed(tolerance: float, iterative: float = 0.0):
        return kernel_bayes("kbr_gauss", data, FilterSettings(0.5, 1e-5, tolerance, iterative=iterative))

    whole, note = followed(0.01, ACCURACY), f"mean of {TEST} frames; factors made beforehand"
    cut = {tolerance: followed(tolerance) for tolerance in TOLERANCES}
    error = {name: f"MSE {found.scores(data.truth)['mse_rotation']:.4f}" for name, found in (("", whole), *cut.items())}
    least = cut[TOLERANCES[-1]]
    rows = [
        Row(
            "Camera filter, one frame, Gram matrix whole", f"T = {TRAIN:,}", 1000 * whole.seconds, "CPU ms",
            1000 * least.seconds, f"rank {least.ranks[1]:,}", f"{error['']}, low rank {error[TOLERANCES[-1]]}",
            note=note,
        )
    ]  # fmt: skip
    for tolerance, found in cut.items():
        size = f"T = {TRAIN:,}, rank {found.ranks[1]:,}"
        what = f"Camera filter, one frame, {100 * tolerance:g} % of the trace left out"
        rows.append(Row(what, size, 1000 * found.seconds, "CPU ms", accuracy=error[tolerance], note=note))
    keep("camera", rows)
