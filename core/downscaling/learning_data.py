"""What learning looks at: few points of each bag, and the place on every pixel where that is open."""

from torch import Tensor

from core.bag_sums.moving import MovingGram, moving_gram
from core.downscaling.prediction import bags_inside, grid_layout, reads_bags
from core.downscaling.settings import coordinate_names
from core.errors import Check
from core.fields import DownscalingProblem
from core.kernels.spec import KernelSpec
from core.models.area_to_point import held_to
from core.models.catalogue import named
from core.models.spec import ModelSpec
from core.observations import Bags


def on_every_pixel(
    problem: DownscalingProblem, spec: ModelSpec, few: Bags, bags: Bags, points: Tensor, check: Check
) -> MovingGram | None:
    """K̄ whose terms of the place see every pixel of ``bags``, whose rows are these pixels, the others the ``few``.

    None where the grid, the kernel or the model do not allow it.
    """
    if not (reads_bags(spec) and bags_inside(problem)):
        return None
    device, layout = few.inputs.device, grid_layout(problem)
    if layout is None:
        return None
    moved = bags.to(device), points.to(device), layout.to(device)
    return moving_gram(spec.kernel, few, *moved, problem.columns, check)


def centre_of_priors(problem: DownscalingProblem, spec: ModelSpec, bags: Bags) -> KernelSpec | None:
    """Where the priors of a model have their centres; None where that is its start."""
    if not named(spec.model).trend:
        return None
    return held_to(spec.kernel, bags, problem.columns, coordinate_names(problem))
