"""Posteriors whose bag sums are taken region by region, by the algorithms of `bag_sums.region_sums`."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.bag_sums.region_sums import RegionSums, region_sums
from deconditioning.downscaling.starting import columns_of
from deconditioning.errors import Check, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.indirect_gp import IndirectPosterior, condition_on_gram
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData


def posterior_through(
    sums: RegionSums, spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, check: Check = never
) -> IndirectPosterior:
    """`models.indirect_gp.posterior` with K̄ (B, B) from sums over the problem's bags."""
    columns = columns_of(problem)
    return IndirectPosterior(spec, columns, sums.bags, condition_on_gram(spec, data, columns, sums.gram(check)))


def by_regions(
    spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, picture: Picture, inputs: Float[Tensor, "P d"],
    check: Check = never,
) -> tuple[IndirectPosterior, Callable[[slice], Float[Tensor, "B n"]]]:  # fmt: skip
    """The posterior, and the bag sums at a part of the ``inputs``, which stand for the pixels of the picture in their
    order: its own or those of another time."""
    sums = region_sums(spec.kernel, picture, check=check)

    def at(part: slice) -> Float[Tensor, "B n"]:
        """Bag sums (B, n) at the inputs of ``part``."""
        cells = None if picture.layout is None else picture.layout.cells.at(part)
        return sums.at(inputs[part], cells, check)[0]

    return posterior_through(sums, spec, data, problem, check), at
