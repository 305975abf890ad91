"""The named models: mediation weights W and source of each."""

import copyreg

from deconditioning.errors import InputError
from deconditioning.models.learning.initial import ROUGH, TREND, TREND_BESIDE_MEDIATORS, TREND_OF_PSEUDO, Start
from deconditioning.models.mediation import (
    identity_weights,
    partial_weights,
    replicated_weights,
    shrinkage_weights,
)
from deconditioning.models.named_model import NamedModel

_SHRINKAGE = r"W = (L + B\lambda I)^{-1}\tilde L"
_REPLICATED = r"W = (L + N\lambda D^{-1})^{-1}\tilde L"

MODELS: dict[str, NamedModel] = {
    model.name: model
    for model in (
        NamedModel(
            "area_to_point_gp",
            "Area-to-point Gaussian process",
            identity_weights,
            source="Kyriakidis 2004; Goovaerts 2008; with a smooth term of the covariates",
            trend=True,
            starts=(TREND, TREND_OF_PSEUDO),
        ),
        NamedModel(
            "regression_kriging",
            "Area-to-point regression kriging (ATPRK)",
            identity_weights,
            source="Kyriakidis 2004; Goovaerts 2008; Wang et al. 2015",
            trend=True,
            smooth_term=False,
            starts=(TREND, TREND_OF_PSEUDO),
        ),
        NamedModel(
            "shrinkage_cmp",
            "Shrinkage conditional mean process",
            shrinkage_weights,
            mediated=True,
            source="Chau et al. 2021, eq. 10 and App. C",
            formula=_SHRINKAGE,
            ridge="B",
        ),
        NamedModel(
            "partial_cmp",
            "Partially mediated process",
            partial_weights,
            mediated=True,
            source="this project: only the non-spatial part is mediated",
            formula=r"W = \begin{pmatrix}(L + B\lambda I)^{-1}\tilde L\\ I\end{pmatrix}",
            ridge="B",
            misfit=True,
            trend=True,
            partial=True,
            starts=(TREND_BESIDE_MEDIATORS, TREND_BESIDE_MEDIATORS),
        ),
        NamedModel(
            "uncertain_cmp",
            "Shrinkage conditional mean process with an uncertain operator",
            shrinkage_weights,
            mediated=True,
            source="this project: the leave-one-out error of the estimated operator is part of the noise",
            formula=_SHRINKAGE,
            ridge="B",
            misfit=True,
        ),
        NamedModel(
            "cmp",
            "Conditional mean process",
            replicated_weights,
            mediated=True,
            replicated=True,
            source="Chau et al. 2021, eq. 6-9",
            formula=_REPLICATED,
            ridge="N",
        ),
        NamedModel(
            "bag_gp",
            "Bag Gaussian process",
            identity_weights,
            source="Law et al. 2018; exact form",
            starts=(ROUGH, Start()),
        ),
        NamedModel(
            "task_transformed_gp",
            "Task-transformed Gaussian process",
            shrinkage_weights,
            mediated=True,
            source="Hsu and Ramos 2019, theorem 5.3 (2)",
            formula=_SHRINKAGE,
            ridge="B",
            correlated=True,
        ),
        NamedModel(
            "variational_cmp",
            "Variational conditional mean process",
            replicated_weights,
            mediated=True,
            replicated=True,
            source="Chau et al. 2021, App. B and E.2.2",
            formula=_REPLICATED,
            ridge="N",
            sparse=True,
        ),
        NamedModel(
            "variational_shrinkage_cmp",
            "Variational shrinkage conditional mean process",
            shrinkage_weights,
            mediated=True,
            source="Chau et al. 2021, eq. 10 and App. C, through inducing points as in App. B",
            formula=_SHRINKAGE,
            ridge="B",
            sparse=True,
        ),
        NamedModel(
            "vbagg",
            "Variational bag Gaussian process (VBAgg)",
            identity_weights,
            source="Law et al. 2018, Gaussian likelihood",
            sparse=True,
        ),
        NamedModel(
            "centroid_gp",
            "Gaussian process on centroids",
            identity_weights,
            source="Chau et al. 2021, §5 (gpr)",
            centroids=True,
        ),
        NamedModel(
            "variational_gp",
            "Variational Gaussian process on centroids",
            identity_weights,
            source="Titsias 2009; Chau et al. 2021, §5.2 (vargpr)",
            sparse=True,
            centroids=True,
        ),
    )
}

#: The models that other code asks for by name.
AREA_TO_POINT_GP, REGRESSION_KRIGING = MODELS["area_to_point_gp"], MODELS["regression_kriging"]
SHRINKAGE_CMP, BAG_GP, TASK_TRANSFORMED_GP = MODELS["shrinkage_cmp"], MODELS["bag_gp"], MODELS["task_transformed_gp"]
VARIATIONAL_GP = MODELS["variational_gp"]

#: Models of any inputs: those that need no place and no covariates.
GENERAL = {name: model for name, model in MODELS.items() if not model.trend}


def named(name: str) -> NamedModel:
    """The model with that name; ``InputError`` lists the names if there is none."""
    if name not in MODELS:
        raise InputError(f"The model '{name}' is unknown: choose one of {', '.join(MODELS)}.")
    return MODELS[name]


#: Copies and pickles of a model are the model of that name.
copyreg.pickle(NamedModel, lambda model: (named, (model.name,)))
