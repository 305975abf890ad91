"""Downscaling as a function and as estimators: learn from coarse values, predict every pixel, draw, check one scale up.

The same computation as page Downscaling and ``deconditioning downscale``, to the last bit.
"""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import xarray as xr

from deconditioning.downscaling import run
from deconditioning.downscaling.checks.one_scale_up import OneScaleUp
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.settings import DownscaleSettings, completed
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError
from deconditioning.estimators.base import Estimator
from deconditioning.estimators.inputs import DataSettings, Gridded, problem_of
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.fields.writing.quantiles_and_draws import with_draws

_DEFAULT = DownscaleSettings


@dataclass(kw_only=True, repr=False, eq=False)
class ModelEstimator(Estimator):
    """A model of a fine field f seen through averages of cells: ``z̃ = Wᵀ f̄ + e``, ``f ~ GP(m, k)``.

    Parameters
    ----------
    kernel, mediator_kernel : family of the kernel on covariates and on mediators ("rbf", "matern32" …).
    spatial : family on the coordinates; None for the model's own.
    structure : "sum" or "product" of the two.
    linear_mean : whether f has an unknown prior mean that is linear in the covariates.
    regularisation, noise, point_noise : λ of the mediation, σ² of a target and ς² of a single pixel, the last two in
        variances of the standardised target; None for the start values.
    hold : noises that learning leaves as they are, among "noise" and "point_noise".
    inducing, placement : number of inducing points of a sparse model, and "kmeans" or "grid".
    learn : whether hyperparameters are learned in ``fit``.
    stage_one, method, bound : how λ and the mediators' lengthscales are found, "lbfgs" or "adam", "collapsed" or
        "stochastic".
    restarts, steps, points : starts of the optimiser, steps of each, points of a cell while learning.
    every_pixel, prior_sd, local_scale : see `deconditioning.downscaling.settings.DownscaleSettings`.
    gradient_boosting : whether the baselines hold gradient boosting too.
    seed : of withheld cells, restarts and k-means.
    device : "auto", "cpu" or "cuda".

    Attributes
    ----------
    problem_ : what ``fit`` made of the data; ``problem_.notes`` say how they were read.
    settings_ : the learned hyperparameters as plain data, with which the map follows without learning.
    warnings_ : sentences on what to doubt; each is also issued as a ``UserWarning``.
    scores_ : after ``predict``, scores by method where the fine truth is known, {} elsewhere.
    coarse_scores_ : after ``predict``, scores of the map averaged back to the cells: "seen" and "withheld".
    """

    model_name: ClassVar[str] = "auto"
    _fitted_by = "problem_"

    kernel: Any = _DEFAULT.kernel
    mediator_kernel: Any = _DEFAULT.mediator_kernel
    spatial: str | None = _DEFAULT.spatial
    structure: str = _DEFAULT.structure
    linear_mean: bool = _DEFAULT.linear_mean
    regularisation: float | None = _DEFAULT.regularisation
    noise: float | None = _DEFAULT.noise
    point_noise: float | None = _DEFAULT.point_noise
    hold: tuple[str, ...] | None = _DEFAULT.hold
    inducing: Any = _DEFAULT.inducing
    placement: str = _DEFAULT.placement
    learn: bool = _DEFAULT.learn
    stage_one: str = _DEFAULT.stage_one
    method: str = _DEFAULT.method
    restarts: int | None = _DEFAULT.restarts
    steps: int = _DEFAULT.steps
    bound: str = _DEFAULT.bound
    points: int = _DEFAULT.points
    every_pixel: bool | None = _DEFAULT.every_pixel
    prior_sd: float | None = _DEFAULT.prior_sd
    local_scale: bool | None = _DEFAULT.local_scale
    gradient_boosting: bool = _DEFAULT.gradient_boosting
    seed: int = _DEFAULT.seed
    device: str = _DEFAULT.device

    def _settings(self) -> DownscaleSettings:
        return DownscaleSettings.from_dict({"model": self.model_name, **self.get_params()})

    def fit(
        self, coarse: Gridded, covariates: Gridded, mediator: Gridded | None = None, **data: Unpack[DataSettings]
    ) -> Self:
        """Form the problem and learn the hyperparameters.

        Parameters
        ----------
        coarse : the target on its own coarse grid: a ``DataArray``, a ``Dataset``, the name of a file, or what
            ``open_fields`` returns. Units are read from its attributes.
        covariates : high-resolution fields on the grid to predict on.
        mediator : fields seen from both sides, where cells are matched through them only.
        target, covariate_names, mediator_names : which variables to take; without them the only one of ``coarse``,
            and all of ``covariates`` and ``mediator``.
        coarsen : (rows, columns): ``coarse`` lies on the covariates' own grid and its means over such blocks of pixels
            are downscaled, so that the result can be scored against it.
        withhold : fraction of the coarse cells that is hidden, to score by: 0, with ``coarsen`` 0.5.
        block : (rows, columns) of pixels that make a bag where cells are matched through mediators.
        matching, coordinates, select, coarse_select, hide, reveal, region, reweigh, missing : see
            `deconditioning.fields.spec.DownscalingSpec`.

        Raises ``InputError`` with one sentence where data or parameters cannot be used.
        """
        settings = self._settings()
        problem = problem_of(coarse, covariates, mediator, self.seed, data)
        start = completed(problem, settings)
        learned = learn_model(problem, start, NoReport()) if start.learn else None
        self.problem_ = problem
        self._learned = learned
        self._result: run.DownscalingResult | None = None
        best = None if learned is None else learned[0].spec
        self.settings_ = (start if best is None else run.spec_to_settings(start, best)).to_dict()
        self.warnings_: tuple[str, ...] = () if learned is None else learned[1].sentences + learned[0].warnings
        return self

    def _predicted(self) -> run.DownscalingResult:
        """The whole result, computed once after each ``fit``."""
        self._check_fitted()
        if self._result is None:
            self._result = run.downscale(self.problem_, self._settings(), learned=self._learned)
            self.settings_ = self._result.settings.to_dict()
            self.scores_, self.coarse_scores_ = self._result.scores, self._result.coarse_scores
            self.warnings_ = self._result.warnings
            for sentence in self.warnings_:
                warnings.warn(sentence, UserWarning, stacklevel=3)
        return self._result

    def predict(self, *, baselines: bool = False, quantiles: tuple[float, ...] = ()) -> xr.Dataset:
        """The map: what ``deconditioning downscale --output`` writes.

        Returns
        -------
        A CF dataset with ``mean`` and ``sd`` (H, W) on the covariates' grid in the target's units, the sd that of a
        pixel's own value; ``coarse`` what the model saw, ``coarse_known`` also what was withheld; ``truth`` and
        ``error`` where the truth is known; ``baseline_…`` with ``baselines``; ``quantiles`` of every pixel where levels
        are given. Attributes hold settings, seed, warnings, units, licence and references.
        """
        result = self._predicted()
        dataset = run.leaving(self.problem_, result).dataset(Delivery(quantiles=tuple(quantiles)))
        return (
            dataset if baselines else dataset.drop_vars([name for name in dataset if str(name).startswith("baseline_")])
        )

    def sample(self, n: int = 20, seed: int | None = None) -> xr.DataArray:
        """Joint draws (n, H, W) of the field given the data, along ``realization``, in the target's units.

        Each is a field as probable as the next; the noise of a single pixel is not in them. ``seed``: the estimator's
        own where it is None. Source: Wilson et al. 2020 (Matheron's rule).
        """
        result = self._predicted()
        leaving = run.leaving(self.problem_, result)
        if not isinstance(n, int) or n < 1:
            raise InputError(f"{n} draws were requested: give at least one.")
        draws = leaving.drawing()(n, self.seed if seed is None else seed)
        point_sd = result.spec.point_noise**0.5 * self.problem_.target_scale.sd
        whole = with_draws(
            leaving.dataset(Delivery()), self.problem_, draws.fields, seed=draws.seed, off=draws.off, point_sd=point_sd
        )
        return whole["draws"]

    def one_scale_up(self) -> OneScaleUp | None:
        """How the model does where it can be checked: cells joined to larger ones and downscaled back to known cells.

        Scores in the target's units beside bilinear interpolation and others; None where nothing was learned or the
        model has no such check. Source: Wald, Ranchin and Mangolini 1997.
        """
        self._check_fitted()
        return None if self._learned is None else self._learned[1].one_scale_up


@dataclass(kw_only=True, repr=False, eq=False)
class Downscaler(ModelEstimator):
    """Any model of the catalogue by its name.

    Parameters
    ----------
    model : "auto" for the one that suits the data, or a name that ``deconditioning downscale --help`` lists.
    choose : whether learning may take the other of the two models that suit cells matched through mediators.

    The other parameters are those of every model (`ModelEstimator`).
    """

    model: str = _DEFAULT.model
    choose: bool | None = _DEFAULT.choose

    def _settings(self) -> DownscaleSettings:
        return DownscaleSettings.from_dict(self.get_params())


class AreaToPointGP(ModelEstimator):
    """Area-to-point Gaussian process: cells are averages of f, ``W = I``, with trend, space and covariates in k.

    Parameters are those of every model (`ModelEstimator`). Source: Kyriakidis 2004; Goovaerts 2008.
    """

    model_name = "area_to_point_gp"


class RegressionKriging(ModelEstimator):
    """Area-to-point regression kriging: straight lines of the covariates, and a field in space for the rest.

    Parameters are those of every model (`ModelEstimator`). Source: Kyriakidis 2004; Goovaerts 2008; Wang et al. 2015.
    """

    model_name = "regression_kriging"


class BagGP(ModelEstimator):
    """Bag Gaussian process: ``W = I``, each cell the mean of f over its pixels, without a trend.

    Parameters are those of every model (`ModelEstimator`). Source: Law et al. 2018, exact form.
    """

    model_name = "bag_gp"


class CMP(ModelEstimator):
    """Conditional mean process: ``W = (L + NλD⁻¹)⁻¹ L̃`` from mediators, labels replicated over the pixels of a cell.

    Parameters are those of every model (`ModelEstimator`). Source: Chau et al. 2021, eq. 6-9.
    """

    model_name = "cmp"


class ShrinkageCMP(ModelEstimator):
    """Shrinkage conditional mean process: ``W = (L + BλI)⁻¹ L̃`` from mediators, every cell counting the same.

    Parameters are those of every model (`ModelEstimator`). Source: Chau et al. 2021, eq. 10 and App. C.
    """

    model_name = "shrinkage_cmp"


class PartialCMP(ModelEstimator):
    """Partially mediated process: a target's footprint is averaged itself, mediators tell only the rest.

    For cells that are matched through mediators and overlap in space. Parameters are those of every model
    (`ModelEstimator`). Source: this project.
    """

    model_name = "partial_cmp"


class TaskTransformedGP(ModelEstimator):
    """Task-transformed Gaussian process: the weights of `ShrinkageCMP`, with what they leave unknown as noise.

    Parameters are those of every model (`ModelEstimator`). Source: Hsu and Ramos 2019, theorem 5.3 (2).
    """

    model_name = "task_transformed_gp"


class VariationalCMP(ModelEstimator):
    """`CMP` through inducing points: for more pixels and cells than an exact posterior can hold.

    Parameters are those of every model (`ModelEstimator`). Source: Chau et al. 2021, App. B and E.2.2.
    """

    model_name = "variational_cmp"


def downscale(
    coarse: Gridded, covariates: Gridded, *, mediator: Gridded | None = None, model: str = _DEFAULT.model,
    baselines: bool = False, quantiles: tuple[float, ...] = (), draws: int = 0, **settings: Any,
) -> xr.Dataset:  # fmt: skip
    """Downscale a coarse field with high-resolution covariates: learn, predict every pixel, say how sure.

    The same as page Downscaling and ``deconditioning downscale``, to the last bit.

    Parameters
    ----------
    coarse, covariates, mediator : the fields, as `ModelEstimator.fit` takes them.
    model : "auto" for the model that suits the data (`AreaToPointGP` where cells are matched directly), or its name.
    baselines : whether bilinear interpolation and others join the result.
    quantiles : levels in (0, 1) of every pixel's quantiles.
    draws : number of joint draws, along ``realization``.
    settings : of the data (``target``, ``coarsen``, ``withhold``, ``select`` …, see `ModelEstimator.fit`) and of the
        model (``learn``, ``steps``, ``seed`` …, see `ModelEstimator`).

    Returns
    -------
    The dataset of `ModelEstimator.predict`, with ``draws`` where they are asked for.

    Raises ``InputError`` with one sentence: what was found, what was expected, what to do.
    """
    known = Downscaler().get_params()
    data = {name: value for name, value in settings.items() if name in DataSettings.__annotations__}
    rest = {name: value for name, value in settings.items() if name not in data}
    unknown = [name for name in rest if name not in known]
    if unknown:
        names = ", ".join(sorted({*known, *DataSettings.__annotations__} - {"model"}))
        raise InputError(f"The setting '{unknown[0]}' is unknown: choose among {names}.")
    fitted = Downscaler(model=model, **rest).fit(coarse, covariates, mediator, **data)  # type: ignore[typeddict-item]
    dataset = fitted.predict(baselines=baselines, quantiles=quantiles)
    return dataset.assign(draws=fitted.sample(draws)) if draws else dataset
