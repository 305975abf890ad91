"""Settings of a downscaling beside its problem: every one declared once, values checked when settings are made."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from deconditioning.errors import InputError
from deconditioning.models.learning.initial import HELD, ROUGH, TREND, TREND_BESIDE_MEDIATORS, Start
from deconditioning.plain_data import check_seed
from deconditioning.settings.lazily import Lazily
from deconditioning.settings.setting import Choice, Integer, Linear, Log, Switch
from deconditioning.settings.settings import Settings
from deconditioning.settings.wider import Named, OrDict, OrEach, OrNone, Several

if TYPE_CHECKING:  # models import torch, and the command's flags are made without it
    from deconditioning.models.learning.learning import LearningOptions
    from deconditioning.models.named_model import NamedModel
    from deconditioning.models.spec import Inducing

#: Stands for the model that suits the problem: ``usual_model``.
AUTO = "auto"
#: Stands for the way of stage one that does well one scale up (`deconditioning.downscaling.stages`).
CHOOSE = "choose"
#: The models of fields in space, in words.
_IN_SPACE = "area_to_point_gp, partial_cmp and regression_kriging"


def _models() -> Mapping[str, str]:
    from deconditioning.models.catalogue import MODELS

    return {AUTO: "The one that suits the data", **{name: model.title for name, model in MODELS.items()}}


def _families() -> Mapping[str, str]:
    from deconditioning.kernels.families.registry import FAMILIES

    return {name: family.title for name, family in FAMILIES.items()}


KERNEL_FAMILIES = Lazily(_families)
_USUAL = Start()


class KernelSettings(Settings):
    """The model and its kernels."""

    model = Named(
        "Model", AUTO, options=Lazily(_models), widget="menu",
        about="auto averages models that suit the data, area_to_point_gp first (without coordinates it is bag_gp for "
        "matched cells and shrinkage_cmp for others); or "
        "partial_cmp, regression_kriging, shrinkage_cmp, uncertain_cmp, cmp, bag_gp, task_transformed_gp, "
        "variational_cmp, variational_shrinkage_cmp, vbagg, centroid_gp, variational_gp",
    )  # fmt: skip
    kernel = OrNone(OrDict(Named("Kernel of the covariates", "rbf", options=KERNEL_FAMILIES, widget="menu",
                                 address="fam", about="family of the kernel on covariates")), "rbf")  # fmt: skip
    mediator_kernel = OrNone(OrDict(Named("Kernel of the mediators", "rbf", options=KERNEL_FAMILIES, address=None,
                                          about="family of the kernel on mediators")), "rbf")  # fmt: skip
    spatial = OrNone(
        Named("Kernel of the coordinates", _USUAL.spatial, options=KERNEL_FAMILIES, widget="menu", address="place",
              about="family of the kernel on coordinates"),
        f"{TREND.spatial} for {_IN_SPACE}; {ROUGH.spatial} for bag_gp of matched cells; else {_USUAL.spatial}",
    )  # fmt: skip
    structure = Choice("Together they form a", "sum", options={"sum": "sum", "product": "product"}, address="struct",
                       about="how the kernels on coordinates and covariates are combined")  # fmt: skip
    linear_mean = Switch(
        "A prior mean linear in the covariates", False, box=True, address="linmean",
        about=f"an unknown prior mean that is linear in the covariates, always part of {_IN_SPACE}",
        help="Off: f varies around zero, the mean of the standardised targets. On: f varies around b₀ + Σ bⱼcⱼ, "
        "whose unknown coefficients are integrated out; cells and mediators average it as they average f.",
    )  # fmt: skip
    local_slopes = OrNone(
        Switch("Slopes of the covariates", False, address="slopes",
               about="let the slopes of the covariates vary from place to place",
               help="The effect of a covariate inside a cell is then estimated from the neighbouring cells, not from "
               "all. Where they determine it poorly the intervals are wider, as at coasts and over steep terrain."),
        "not done",
    )  # fmt: skip
    regularisation = OrNone(
        Log("λ", _USUAL.ridge, low=1e-8, high=1.0, symbol="λ", address="lam",
            about="regularisation, inside Bλ (shrinkage_cmp) or Nλ (cmp)",
            help="Regularisation of the conditional mean operator; it enters multiplied by the number of bags. As λ "
            "→ 0 the mediation weights W interpolate; a large λ shrinks them."),
        f"λ times the number of bags B is {TREND_BESIDE_MEDIATORS.ridge} for partial_cmp; else {_USUAL.ridge}",
    )  # fmt: skip
    noise = OrNone(
        Log("σ²", _USUAL.noise, low=1e-6, high=10.0, symbol="σ²", about="noise variance of the standardised targets",
            plain="How noisy the coarse values are",
            plain_help="The sd of the noise of a coarse value, in the units of the field; σ² is its square divided "
            "by the variance of all coarse values. The noisier the values, the less closely the map follows them."),
        f"{TREND.noise:g} for {_IN_SPACE}, and for bag_gp of matched cells; else {_USUAL.noise}",
    )  # fmt: skip
    point_noise = OrNone(
        Log("ς²", _USUAL.point_noise, low=1e-6, high=10.0, symbol="ς²", address="point",
            about="noise variance of each pixel",
            help="Sd of each pixel's own noise. It enters a cell mean divided by the root of the number of "
            "pixels, so coarse data hardly determine it, but it enters a pixel in full. The lowest value means none."),
        f"{TREND.point_noise:g} for {_IN_SPACE}, and for bag_gp of matched cells; else {_USUAL.point_noise}",
    )  # fmt: skip
    representativeness = OrNone(
        OrEach(
            Log("τ²", _USUAL.representativeness, low=1e-6, high=10.0, symbol="τ²", address="tau", sweep=False,
                about="variance by which a station differs from its pixel, or a value of --also from its cell; one "
                "for all, or one for each source (stations last)",
                help="Sd by which a value differs from the map where it was measured, beyond its known error.")
        ),
        f"{_USUAL.representativeness}, if there are stations or further sources",
    )  # fmt: skip
    inducing = OrDict(
        Integer("Inducing points", 200, low=5, high=2000, step=50, least=1, typed=True, symbol="P", address="induce",
                about="inducing points of variational models",
                help="Number of inducing points, placed by k-means. Models on centroids use at most one per cell.")
    )  # fmt: skip
    placement = Choice("Where inducing points lie", "kmeans", options={"kmeans": "k-means", "grid": "on a grid"},
                       address=None)  # fmt: skip
    warp = OrDict(
        Choice(
            "Warp of the target", AUTO, widget="menu", address="warp",
            options={
                AUTO: "The best one scale up", "none": "None", "log": "Logarithm", "box-cox": "Box-Cox",
                "logit": "Logit, between two bounds",
            },
            about="transformation of the target that the model uses: a logarithm or a power (box-cox) makes a skewed "
            "target more nearly Gaussian, a logit one between two bounds; auto uses a warp for such targets if its "
            "intervals are better one scale up, and none for others",
            help="Rain is skewed and never negative, and a fraction lies between 0 and 1: a Gaussian describes their "
            "logarithm, power or logit better. Mean, intervals and draws are converted back and stay inside the "
            "limits, and the mean still averages to the measured cells.",
            plain="How a skewed or bounded quantity is treated",
        )
    )  # fmt: skip
    local_scale = OrNone(
        Switch("Standard deviation of the map", _USUAL.local_scale, address="local",
               about="let the sd vary with how well each cell is predicted from the others",
               help="A factor κ on the sd: intervals become wider where cells are predicted badly from the others and "
               "narrower where they are predicted well. κ varies smoothly in space and with the roughness of the "
               "covariates."),
        "done for area_to_point_gp and regression_kriging of matched cells, and for partial_cmp",
    )  # fmt: skip
    centroid_gp = Switch(
        "Compare with a GP on centroids", False, address="centroids",
        about="add a Gaussian process on the cells' centres to the baselines; its hyperparameters are learned like "
        "those of the model",
        help="The usual baseline: each cell value is treated as a measurement at the centre of the cell. It is "
        "learned like the model, and takes about as long.",
    )  # fmt: skip
    gradient_boosting = Switch(
        "Compare with gradient boosting", False, address="boost",
        about="add gradient boosting to the baselines (takes some seconds)",
        help="Regression trees on the pixels, consistent with the cell means, with quantiles. Takes some seconds.",
    )  # fmt: skip
    device = Choice("Device", "auto", options={"auto": "a GPU where there is one", "cpu": "CPU", "cuda": "GPU"},
                    address=None, about="where to compute; auto uses a GPU if there is one")  # fmt: skip


class LearningSettings(Settings):
    """How hyperparameters are learned."""

    learn = Switch("Learn hyperparameters", True, address=None, about="learn hyperparameters, or keep them as given")
    choose = OrNone(
        Switch(
            "Choose the model by a test one scale up", True, box=True,
            about="if cells are matched through mediators, let learning take area_to_point_gp or partial_cmp, "
            "whichever is more accurate one scale up",
            help="Two models suit cells that are matched through mediators. The first predicts each cell's target, "
            "with its uncertainty, from the mediators; the second also uses the location of the target and mediates "
            "the rest. Learn tests both on larger cells, whose values are known, and continues with the more accurate "
            "one.",
        ),
        "done where the model is auto",
    )  # fmt: skip
    average = OrNone(
        OrDict(
            Switch(
                "Average several models", True, box=True,
                about="average the models that suit the data, weighted by how well each predicts the known cells one "
                "scale up, instead of taking one",
                help="Learn tests several models on larger cells, whose values are known, and averages them. The "
                "weights are those with the best predictions there (stacking); a weight near 1 means that one model "
                "is chosen.",
            )
        ),
        "done where the model is auto",
    )  # fmt: skip
    stage_one = Choice(
        "Stages", CHOOSE, widget="menu", address="stage",
        about="how λ and the mediators' lengthscales are found; choose: joint, or leave_one_bag_out if that is clearly "
        "more accurate one scale up",
        options={
            CHOOSE: "Jointly, or from left-out bags if that is clearly more accurate one scale up",
            "leave_one_bag_out": "Two stages: λ and ℓ from left-out bags, then k and noise variances by the evidence",
            "target_gp": "Two stages: ℓ from the GP of targets on mediators, λ fixed",
            "joint": "All jointly by the evidence (may diverge)",
        },
    )  # fmt: skip
    method = Choice("Optimiser", "lbfgs", options={"lbfgs": "L-BFGS", "adam": "Adam"}, address="optimiser")
    restarts = OrNone(
        Integer("Starts", _USUAL.restarts, low=1, high=10, typed=True, about="starts of the optimiser",
                help="The first start is at the values of the sliders; the others are spread around them."),
        f"{TREND.restarts} for {_IN_SPACE}; else {_USUAL.restarts}",
    )  # fmt: skip
    steps = Integer("Steps per start", 100, low=5, high=500, typed=True, about="steps of each start")
    bound = Choice("Bound", "collapsed", options={"collapsed": "collapsed", "stochastic": "stochastic"}, address=None,
                   about="what learning of variational models maximises")  # fmt: skip
    points = Integer("Points per cell while learning", 10, low=1, high=100, least=1, typed=True,
                     about="points of each cell while learning; the posterior uses all")  # fmt: skip
    every_pixel = OrNone(
        Switch(
            "Location is summed", _USUAL.every_pixel, address="every_pixel",
            about="while learning, sum isotropic terms in location over every pixel, from a table of distances",
            help="While learning, isotropic terms in location can be summed over all pixels of each cell, accurate to "
            "1e-8, from a table of distances computed once; other terms are summed over the points above. Needs an "
            "evenly spaced grid and a model that reads the cells themselves.",
        ),
        f"done for {_IN_SPACE}",
    )  # fmt: skip
    prior_sd = OrNone(
        Linear(
            "Width of priors", _USUAL.prior_sd, low=0.0, high=10.0, address="prior",
            about="sd of the log-normal priors that keep kernel parameters near their starting values during "
            "learning; 0 for none",
            help="Standard deviation of the log-normal priors that keep lengthscales and variances near the model's "
            "starting values (near the sliders' values for models without their own priors). 0 means no prior.",
        ),
        f"{TREND.prior_sd:g} for {_IN_SPACE}; else {_USUAL.prior_sd:g}",
    )  # fmt: skip
    hold = OrNone(
        Several(
            "Noise variances", _USUAL.hold, options=HELD,
            about="noise variances that learning keeps fixed (representativeness-2: of source 2); no value frees all",
            help="Coarse values barely distinguish noise from variation of the field inside the cells. If both noise "
            "variances are learned freely, they absorb what the kernel should explain.",
        ),
        f"both for {_IN_SPACE}, and for bag_gp of matched cells; else point_noise",
    )  # fmt: skip
    integrate = OrNone(
        OrDict(
            Switch(
                "Hyperparameters of few cells", _USUAL.integrate, address="integrate",
                about="if fewer than 60 cells are visible, average the map over samples of the posterior of the "
                "hyperparameters, instead of fixing the most probable ones",
                help="A few cells hardly determine roughness, lengthscales and slopes. The map is then the average "
                "over 16 samples of their posterior, and its variance includes how much these differ.",
            )
        ),
        f"done for {_IN_SPACE}",
    )  # fmt: skip
    seed = Integer(
        "Seed", 0, low=0, high=9999, typed=True, address=None, sweep=False, about="seed of restarts and k-means"
    )


class DownscaleSettings(KernelSettings, LearningSettings):
    """Everything ``downscale`` needs beside the problem; JSON-able.

    Parameters
    ----------
    model : name in the catalogue; "auto" is area_to_point_gp where coordinates join (`choose`), else bag_gp where cells
        are matched and shrinkage_cmp where they are matched through mediators.
    kernel, mediator_kernel : a family for the columns that are no coordinates ("rbf", "matern32" …), or a whole
        kernel as ``KernelSpec.to_dict`` gives it; ``None`` for the default.
    linear_mean : whether f has an unknown prior mean that is linear in the covariates (`with_linear_mean`); always so
        for models of fields in space.
    local_slopes : whether slopes of the covariates vary from place to place (models of fields in space whose kernel is
        not given whole); ``None``: no.
    spatial : family on the coordinates, ``None`` for the model's own (`Start`); structure : "sum" or "product".
    regularisation, noise, point_noise, representativeness : λ, σ², ς², τ² (targets standardised; τ² a list for
        several sources); ``None`` for the start values.
    inducing : inducing points of a sparse model: how many, or a whole ``Inducing`` as a dict; ``placement`` of them.
    choose : whether learning may take the other of the two models that suit cells matched through mediators, if it is
        more accurate one scale up; ``None``: where the model is "auto".
    average : whether learning averages the models that suit the data, with weights found one scale up, or the other
        models of a learned average and their weights; ``None``: where the model is "auto".
    learn : whether hyperparameters are learned; hold and others as in ``LearningOptions``.
    stage_one : as in ``LearningOptions``, or "choose": joint learning unless it is clearly less accurate one scale
        up than leaving bags out, if λ and ℓ can be learned in both ways (`deconditioning.downscaling.stages`).
    points : points per bag while learning (k-means coreset); the posterior uses all.
    every_pixel : learning sums isotropic terms in location over every pixel instead (`bag_sums.radii`); ``None``
        for the model's own.
    local_scale : whether the sd is multiplied by a factor that varies in space, learned from the left-out cells
        (``ModelSpec``; matched cells, exact models on bags, coordinates); ``None`` for the model's own.
    warp : "auto", "none", "log", "box-cox", "logit", or a `deconditioning.fields.problem.warp.Warp` as a dictionary.
    integrate : whether the map of fewer than 60 visible cells is averaged over the posterior of the hyperparameters
        (`models.learning.integrate`), or their `Spread` as a dictionary; ``None`` for the model's own.
    prior_sd, restarts : width of the priors that hold kernels near their start (0: none) and starts of the optimiser,
        ``None`` for the model's own.
    centroid_gp, gradient_boosting : whether the baselines include these too (`run.centroid_baseline`, learned as a
        model is; `downscaling.boosting`, some seconds).
    seed : of restarts and k-means; device : "auto", "cpu" or "cuda".
    """

    def __init__(self, model: str = AUTO, **values: Any) -> None:
        check_seed(values.get("seed", 0))
        super().__init__(model=model, **values)
        self._check_kernels()
        if self.prior_sd and self.bound == "stochastic":
            raise InputError(
                "Minibatch optimisation does not support priors: omit their width or use the collapsed bound."
            )
        if self.local_scale and self.model != AUTO and not self.kind.on_bags:
            raise InputError(
                f"The model '{self.model}' has no local scale; only models on all pixels of a cell have one. Omit it."
            )

    def _check_kernels(self) -> None:
        from deconditioning.kernels.families.registry import family_of

        for family in (self.kernel, self.mediator_kernel, self.spatial):
            if isinstance(family, str) and family_of(family).without_scales:
                raise InputError(f"A {family} kernel has no lengthscale to learn: choose another family.")
        lines_alone = self.model != AUTO and not self.kind.has_covariate_kernel
        if lines_alone and (isinstance(self.kernel, str) or self.structure == "product"):
            raise InputError(
                f"The model '{self.model}' is linear in the covariates: omit their kernel family and the product, or "
                "choose area_to_point_gp."
            )

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "DownscaleSettings":
        """Settings from plain data."""
        return DownscaleSettings(**value)

    @property
    def kind(self) -> "NamedModel":
        """The model itself; the one for "auto" is known once the settings are `completed`."""
        from deconditioning.models.catalogue import named

        return named(self.model)

    def learning(self) -> "LearningOptions":
        """The options of learning; give it `completed` settings."""
        from deconditioning.models.learning.initial import Start
        from deconditioning.models.learning.learning import LearningOptions

        return LearningOptions(
            stage_one=LearningOptions.stage_one if self.stage_one == CHOOSE else self.stage_one,
            method=self.method,
            restarts=Start.restarts if self.restarts is None else self.restarts,
            steps=self.steps,
            seed=self.seed,
            bound=self.bound,
            prior_sd=self.prior_sd or 0.0,
            hold=self.hold or (),
        )

    def inducing_points(self, there: int) -> "Inducing":
        """Where a sparse model keeps its inducing points; a plain number is cut to the points there are."""
        from deconditioning.models.spec import Inducing

        if isinstance(self.inducing, dict):
            return Inducing.from_dict(self.inducing)
        return Inducing(min(int(self.inducing), there), self.placement, seed=self.seed)
