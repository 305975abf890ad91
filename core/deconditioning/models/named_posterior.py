"""The posterior of any named model: exact or with inducing points, on bags or on their centroids."""

from deconditioning.errors import Check, never
from deconditioning.models.indirect_gp import Columns, IndirectPosterior, posterior
from deconditioning.models.sparse.sparse_gp import SparsePosterior, sparse_posterior
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData


def named_posterior(
    spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never
) -> IndirectPosterior | SparsePosterior:
    """Condition ``f`` on indirect data with the model ``spec.model`` and given hyperparameters.

    Raises ``InputError`` for an unknown model, missing columns, unmatched data if the model needs matched ones, or a
    singular matrix.
    """
    model = spec.model
    make = sparse_posterior if model.sparse else posterior
    return make(spec, model.sees(data), columns, check=check)
