"""The posterior of any named model: exact or through inducing points, on bags or on their centroids."""

from deconditioning.errors import Check, never
from deconditioning.models.indirect_gp import Columns, IndirectPosterior, posterior
from deconditioning.models.sparse.sparse_gp import SparsePosterior, sparse_posterior
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData


def named_posterior(
    spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never
) -> IndirectPosterior | SparsePosterior:
    """Condition ``f`` on indirect data as ``spec.model`` says, all hyperparameters given.

    Raises ``InputError`` for an unknown model, missing columns, unmatched data where the model needs matched ones,
    or a singular matrix.
    """
    model = spec.model
    make = sparse_posterior if model.sparse else posterior
    return make(spec, model.sees(data), columns, check=check)
