"""Downscaling as a function and as estimators.

The computation is that of page Downscaling and of ``deconditioning downscale``, to the last bit.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Unpack

import xarray as xr

from deconditioning.downscaling import run
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import completed, spec_to_settings
from deconditioning.downscaling.warping.choice import choose_warp
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError
from deconditioning.estimators.base import Estimator
from deconditioning.estimators.inputs import DataSettings, Gridded, request_of
from deconditioning.estimators.period import of_times
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.fields.writing.quantiles_and_draws import with_draws

_DEFAULT = DownscaleSettings


@dataclass(kw_only=True, repr=False, eq=False)
class ModelEstimator(Estimator):
    """Model of a fine field f observed through averages over cells: ``z̃ = Wᵀ f̄ + e``, ``f ~ GP(m, k)``.

    Parameters
    ----------
    kernel, mediator_kernel : family of the kernel on covariates and on mediators ("rbf", "matern32" …).
    spatial : family of the kernel on coordinates; None for the model's default.
    structure : how these two kernels are combined, "sum" or "product".
    linear_mean : whether f has an unknown prior mean that is linear in the covariates.
    local_slopes : whether slopes of the covariates vary from place to place; None: no.
    regularisation, noise, point_noise, representativeness : λ of the mediation, σ² of a target, ς² of a single pixel
        and τ² of a station, the last three as variances of the standardised target; None for the starting values.
    hold : noise variances that are not learned, from "noise" and "point_noise".
    inducing, placement : number of inducing points of a sparse model, and "kmeans" or "grid".
    learn : whether ``fit`` learns the hyperparameters.
    stage_one : how λ and the mediators' lengthscales are learned.
    method, bound : "lbfgs" or "adam"; "collapsed" or "stochastic".
    restarts, steps, points : starts of the optimiser, steps per start, points per cell during learning.
    every_pixel, prior_sd, local_scale, integrate, warp : see `deconditioning.downscaling.settings.DownscaleSettings`.
    centroid_gp : whether the baselines include a Gaussian process on the cells' centres, learned as a model is.
    gradient_boosting : whether the baselines include gradient boosting.
    seed : seed of withheld cells, restarts and k-means.
    device : "auto", "cpu" or "cuda".

    Attributes
    ----------
    problem_ : the downscaling problem that ``fit`` built; ``problem_.notes`` describes how the data were read.
    settings_ : the learned hyperparameters as plain data; they reproduce the map without learning.
    warnings_ : reasons to doubt the result; each is also issued as a ``UserWarning``.
    scores_ : after ``predict``, scores by method if the fine truth is known, otherwise {}.
    coarse_scores_ : after ``predict``, scores of the map averaged back to the cells: "seen" and "withheld".
    """

    model_name: ClassVar[str] = "auto"
    _fitted_by = "problem_"

    kernel: Any = _DEFAULT.kernel.default
    mediator_kernel: Any = _DEFAULT.mediator_kernel.default
    spatial: str | None = _DEFAULT.spatial.default
    structure: str = _DEFAULT.structure.default
    linear_mean: bool = _DEFAULT.linear_mean.default
    local_slopes: bool | None = _DEFAULT.local_slopes.default
    regularisation: float | None = _DEFAULT.regularisation.default
    noise: float | None = _DEFAULT.noise.default
    point_noise: float | None = _DEFAULT.point_noise.default
    representativeness: float | None = _DEFAULT.representativeness.default
    hold: tuple[str, ...] | None = _DEFAULT.hold.default
    inducing: Any = _DEFAULT.inducing.default
    placement: str = _DEFAULT.placement.default
    learn: bool = _DEFAULT.learn.default
    stage_one: str = _DEFAULT.stage_one.default
    method: str = _DEFAULT.method.default
    restarts: int | None = _DEFAULT.restarts.default
    steps: int = _DEFAULT.steps.default
    bound: str = _DEFAULT.bound.default
    points: int = _DEFAULT.points.default
    every_pixel: bool | None = _DEFAULT.every_pixel.default
    prior_sd: float | None = _DEFAULT.prior_sd.default
    local_scale: bool | None = _DEFAULT.local_scale.default
    integrate: Any = _DEFAULT.integrate.default
    warp: Any = _DEFAULT.warp.default
    centroid_gp: bool = _DEFAULT.centroid_gp.default
    gradient_boosting: bool = _DEFAULT.gradient_boosting.default
    seed: int = _DEFAULT.seed.default
    device: str = _DEFAULT.device.default

    def _settings(self) -> DownscaleSettings:
        return DownscaleSettings.from_dict({"model": self.model_name, **self.get_params()})

    def fit(
        self, coarse: Gridded, covariates: Gridded, mediator: Gridded | None = None, **data: Unpack[DataSettings]
    ) -> Self:
        """Build the problem and learn the hyperparameters.

        Parameters
        ----------
        coarse : the target on its own coarse grid: a ``DataArray``, a ``Dataset``, the name of a file, or the result
            of ``open_fields``. Units are read from its attributes.
        covariates : high-resolution fields on the grid of the prediction.
        mediator : fields that are known for both the bags and the targets, if these are matched only through them.
        target, covariate_names, mediator_names : variables to use; by default the only one of ``coarse``, and all of
            ``covariates`` and ``mediator``.
        coarsen : (rows, columns): ``coarse`` lies on the covariates' grid and is averaged over such blocks of pixels
            before it is downscaled, so that the result can be scored against it.
        withhold : fraction of the coarse cells withheld for scoring; by default 0, or 0.5 with ``coarsen``.
        block : (rows, columns) of pixels in a bag, if cells are matched through mediators.
        also : a further source of the target beside the cells, or a list of them, each with an offset and a noise that
            are learned: fields on another grid or a swath, or the name of a file, also one with regions; or a tuple of
            this, the name of the values and, if known, that of the standard deviations of their errors, and of a table
            the footprint of its values.
        stations : the name of a table of stations, which are targets beside the cells too.
        hide_values : values of these that the model does not see, as pairs of a source and a value of its file from 1.
        climatology : the target at high resolution, one map or many times, whose climatology on the date of the map is
            a covariate; ``period`` chooses the times that it comes from, by default all others.
        matching, coordinates, select, coarse_select, hide, reveal, region, reweigh, missing : see
            `deconditioning.fields.spec.DownscalingSpec`.

        Raises ``InputError`` if data or parameters cannot be used.
        """
        settings = self._settings()
        problem = request_of(coarse, covariates, mediator, self.seed, data).problem()
        choice = choose_warp(problem, completed(problem, settings), NoReport())
        problem, start = choice.problem, choice.settings
        learned = learn_model(problem, start, NoReport(), choice.checked) if start.learn else None
        self.problem_ = problem
        self._learned = learned
        self._result: run.DownscalingResult | None = None
        best = None if learned is None else learned[0].spec
        self.settings_ = (start if best is None else spec_to_settings(start, best)).to_dict()
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
        """Predict the map; the dataset is the one that ``deconditioning downscale --output`` writes.

        Returns
        -------
        A CF dataset with ``mean`` and ``sd`` (H, W) on the covariates' grid in the target's units, where ``sd`` is that
        of a single pixel; ``coarse``, the observed cells, and ``coarse_known``, with the withheld ones; ``truth`` and
        ``error`` if the truth is known; ``baseline_…`` with ``baselines``; ``quantiles`` of every pixel if levels are
        given. Attributes contain settings, seed, warnings, units, licence and references.
        """
        result = self._predicted()
        dataset = run.leaving(self.problem_, result).dataset(Delivery(quantiles=tuple(quantiles)))
        return (
            dataset if baselines else dataset.drop_vars([name for name in dataset if str(name).startswith("baseline_")])
        )

    def sample(self, n: int = 20, seed: int | None = None) -> xr.DataArray:
        """Joint posterior draws (n, H, W) of the field along ``realization``, in the target's units.

        Draws are equally probable and do not include the noise of single pixels. ``seed`` defaults to the estimator's.
        Source: Wilson et al. 2020 (Matheron's rule).
        """
        leaving = run.leaving(self.problem_, self._predicted())
        return self._with_draws(leaving.dataset(Delivery()), n, seed)["draws"]

    def _with_draws(self, dataset: xr.Dataset, n: int, seed: int | None = None) -> xr.Dataset:
        """The dataset of a prediction with ``n`` joint draws."""
        if not isinstance(n, int) or n < 1:
            raise InputError(f"{n} draws were requested: give at least one.")
        result = self._predicted()
        draws = run.leaving(self.problem_, result).drawing()(n, self.seed if seed is None else seed)
        point_sd = result.spec.point_noise**0.5 * self.problem_.target_sd
        return with_draws(dataset, self.problem_, draws.fields, seed=draws.seed, off=draws.off, point_sd=point_sd)

    def one_scale_up(self) -> OneScaleUp | None:
        """Test the model one scale up: merge cells to larger ones and downscale these to the known cells.

        Scores are in the target's units, with those of bilinear interpolation and other methods. None if nothing was
        learned or the model has no such test. Source: Wald, Ranchin and Mangolini 1997.
        """
        self._check_fitted()
        return None if self._learned is None else self._learned[1].one_scale_up


@dataclass(kw_only=True, repr=False, eq=False)
class Downscaler(ModelEstimator):
    """Any model of the catalogue, given by its name.

    Parameters
    ----------
    model : "auto" for the default model for the data, or a name listed by ``deconditioning downscale --help``.
    choose : whether learning may choose between the two models for cells matched through mediators.
    average : whether learning averages the models that suit the data; None: if the model is "auto".

    The other parameters are common to all models (`ModelEstimator`).
    """

    model: str = _DEFAULT.model.default
    choose: bool | None = _DEFAULT.choose.default
    average: Any = _DEFAULT.average.default

    def _settings(self) -> DownscaleSettings:
        return DownscaleSettings.from_dict(self.get_params())


class AreaToPointGP(ModelEstimator):
    """Area-to-point Gaussian process: cells are averages of f (``W = I``); k has a trend, space and covariates.

    Parameters are common to all models (`ModelEstimator`). Source: Kyriakidis 2004; Goovaerts 2008.
    """

    model_name = "area_to_point_gp"


class RegressionKriging(ModelEstimator):
    """Area-to-point regression kriging: a linear function of the covariates plus a spatial residual.

    Parameters are common to all models (`ModelEstimator`). Source: Kyriakidis 2004; Goovaerts 2008; Wang et al. 2015.
    """

    model_name = "regression_kriging"


class BagGP(ModelEstimator):
    """Bag Gaussian process: each cell is the mean of f over its pixels (``W = I``), without a trend.

    Parameters are common to all models (`ModelEstimator`). Source: Law et al. 2018, exact form.
    """

    model_name = "bag_gp"


class CMP(ModelEstimator):
    """Conditional mean process: ``W = (L + NλD⁻¹)⁻¹ L̃`` from mediators, weighting every pixel equally.

    Parameters are common to all models (`ModelEstimator`). Source: Chau et al. 2021, eq. 6-9.
    """

    model_name = "cmp"


class ShrinkageCMP(ModelEstimator):
    """Shrinkage conditional mean process: ``W = (L + BλI)⁻¹ L̃`` from mediators, weighting every cell equally.

    Parameters are common to all models (`ModelEstimator`). Source: Chau et al. 2021, eq. 10 and App. C.
    """

    model_name = "shrinkage_cmp"


class PartialCMP(ModelEstimator):
    """Partially mediated process: a target's own footprint is averaged directly, and only the rest is mediated.

    For cells that are matched through mediators and overlap in space. Parameters are common to all models
    (`ModelEstimator`). Source: this project.
    """

    model_name = "partial_cmp"


class TaskTransformedGP(ModelEstimator):
    """Task-transformed Gaussian process: the weights of `ShrinkageCMP`, with their uncertainty as additional noise.

    Parameters are common to all models (`ModelEstimator`). Source: Hsu and Ramos 2019, theorem 5.3 (2).
    """

    model_name = "task_transformed_gp"


class VariationalCMP(ModelEstimator):
    """`CMP` with inducing points, for more pixels and cells than an exact posterior allows.

    Parameters are common to all models (`ModelEstimator`). Source: Chau et al. 2021, App. B and E.2.2.
    """

    model_name = "variational_cmp"


def downscale(
    coarse: Gridded, covariates: Gridded, *, mediator: Gridded | None = None, model: str = _DEFAULT.model.default,
    baselines: bool = False, quantiles: tuple[float, ...] = (), draws: int = 0,
    times: str | Sequence[str] | None = None, archive: Gridded | None = None,
    period: str | Sequence[str] | None = None, predictors: str | Sequence[str] = (), upper: str | None = None,
    other_method: str = "", **settings: Any,
) -> xr.Dataset:  # fmt: skip
    """Downscale a coarse field with high-resolution covariates: learn, then predict mean and sd of every pixel.

    The result equals that of page Downscaling and of ``deconditioning downscale`` to the last bit.

    Parameters
    ----------
    coarse, covariates, mediator : the fields, as in `ModelEstimator.fit`.
    model : "auto" for the default model for the data (`AreaToPointGP` if cells are matched directly), or its name.
    baselines : whether the result includes bilinear interpolation and other baselines.
    quantiles : levels in (0, 1) of every pixel's quantiles.
    draws : number of joint draws, along ``realization``.
    times : "all", dates or their beginning, a range ("2019-03-01/2019-03-10"), or dates of an array: these are
        downscaled together, with hyperparameters that they share (`deconditioning.period`); None for one time.
    archive : with ``times``, the target at high resolution over a training period, whose climatology and covariance
        are the prior (`deconditioning.period.archive`); ``period`` chooses its times, or those of ``climatology``, by
        default all others.
    predictors : with ``archive``, names of other variables of ``coarse``, whose coarse values predict the target
        through their covariance with it in the archive; used if they lower the left-out CRPS.
    upper : with ``archive``, a variable that the target is never above; its fields are ``upper_mean``, ``upper_sd`` ….
    other_method : with ``archive``, "bcsd", "qdm", "analogs", "eof", "ridge" or "forest": mean and sd of this method
        in place of the Gaussian process, with the means of the cells restored.
    settings : settings of the data (``target``, ``coarsen``, ``withhold``, ``climatology`` …, see
        `ModelEstimator.fit`) and of the model (``learn``, ``steps``, ``seed`` …, see `ModelEstimator`).

    Returns
    -------
    The dataset of `ModelEstimator.predict`, with ``draws`` if requested; with ``times``, ``mean`` and ``sd`` of every
    time.

    Raises ``InputError`` if data or settings cannot be used: what was found, what was expected, what to do.
    """
    known = Downscaler().get_params()
    data = {name: value for name, value in settings.items() if name in DataSettings.__annotations__}
    if data.get("climatology") is not None and archive is None:
        data, period = {**data, "period": period}, None
    rest = {name: value for name, value in settings.items() if name not in data}
    unknown = [name for name in rest if name not in known]
    if unknown:
        names = ", ".join(sorted({*known, *DataSettings.__annotations__} - {"model"}))
        raise InputError(f"The setting '{unknown[0]}' is unknown: choose among {names}.")
    if times is not None or archive is not None or period is not None or predictors or upper or other_method:
        if baselines or quantiles:
            raise InputError(
                "`baselines` and `quantiles` apply to a single time: leave them out, or leave out `times`."
            )
        model_settings = Downscaler(model=model, **rest)._settings()
        request = request_of(coarse, covariates, mediator, model_settings.seed, data)  # type: ignore[arg-type]
        return of_times(request, model_settings, times, archive, period, predictors, upper, draws, other_method)
    fitted = Downscaler(model=model, **rest).fit(coarse, covariates, mediator, **data)
    dataset = fitted.predict(baselines=baselines, quantiles=quantiles)
    return fitted._with_draws(dataset, draws) if draws else dataset
