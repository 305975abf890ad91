"""What a map must say of the approximations in its posterior."""

from torch import Tensor

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number


def uncarried(spec: ModelSpec, problem: DownscalingProblem, covariance: Tensor | None) -> tuple[str, ...]:
    """A sentence where pseudo-targets are taken for measurements."""
    if spec.model.reads(problem.data) or covariance is not None:
        return ()
    return (
        f"The {problem.data.bags.count} pseudo-targets are treated as measurements because there are too many to "
        "propagate their errors: the intervals are too narrow.",
    )


def approximate(left_out: float, error: float) -> tuple[str, ...]:
    """Sentences on a posterior of very many bags or points."""
    notes = []
    if left_out > 0:
        notes.append(
            f"The mediators' kernel matrix is approximated at low rank: {number(100 * left_out, 2)} % of its trace is "
            f"dropped."
        )
    if error > 0:
        notes.append(
            f"The bound on the log evidence is accurate only to about ± {number(error, 2)} because bags are thinned "
            "to compute it."
        )
    return tuple(notes)
