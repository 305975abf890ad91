"""Models of 5,000 points in 50 bags against plain implementations: N×N with replicated labels, N×N covariance of q(f).

Both sides: float64, one thread, the same values checked against each other; CPU time, median of 7 (yardstick: of 3).
"""

import math
from dataclasses import replace

import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.datasets.swiss_roll import RollSpec, make_swiss_roll
from deconditioning.figures.colours import model_name
from deconditioning.models.learning.objectives import exact_objective, projected
from deconditioning.models.learning.optimise import minimise
from deconditioning.models.learning.parameters import ParameterVector
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.sparse.bag_prior import BagPrior
from deconditioning.models.sparse.sparse_gp import WhitenedGaussian
from deconditioning.models.sparse.stochastic import elbo
from deconditioning.studies.swiss_roll.study import COLUMNS, RollSettings, score, starting_spec
from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds
from tests.core.models.test_memory import MEASURE

ROLL = RollSpec()
SIZE = "5,000 points, 50 bags"
SMOKE = {"ROLL": RollSpec(200, 10), "SIZE": "small", "MEASURE": MEASURE.replace("RollSpec()", "RollSpec(200, 10)")}
ROWS: list[Row] = []


def setting(model: str, **changes):
    """The roll, the model at its starting values, and everything trainable."""
    roll = make_swiss_roll(ROLL)
    spec = replace(starting_spec(roll, RollSettings(model=model, regularisation=1e-2)), **changes)
    return roll, spec, Trainable(spec, roll.data, COLUMNS, joint=True)


def gaussian(left: torch.Tensor, right: torch.Tensor, lengthscale: torch.Tensor) -> torch.Tensor:
    """A plain Gaussian kernel matrix."""
    return torch.exp(-0.5 * torch.cdist(left / lengthscale, right / lengthscale).square())


def plain_weights(trainable: Trainable, roll) -> torch.Tensor:
    """``(L + NλI)⁻¹ ℓ(y, ỹ)`` with every label replicated over its bag (N, M)."""
    data = roll.data
    scale = trainable.mediator_kernel.kernels[0].base_kernel.kernels[0].lengthscale.flatten()
    labels, count = data.mediators[data.bags.bag], len(data.bags.bag)
    within = gaussian(labels, labels, scale) + count * trainable.regularisation * torch.eye(count).double()
    return torch.cholesky_solve(gaussian(labels, data.query_mediators, scale), torch.linalg.cholesky(within))


def plain_kernel(trainable: Trainable, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The Gaussian k with its variance."""
    term = trainable.kernel.kernels[0]
    return term.outputscale * gaussian(left, right, term.base_kernel.kernels[0].lengthscale.flatten())


def plain_evidence(trainable: Trainable, roll) -> torch.Tensor:
    """Minus the log evidence per target, through N×N matrices."""
    weights, inputs, z = plain_weights(trainable, roll), roll.data.bags.inputs, roll.data.targets
    covariance = weights.T @ plain_kernel(trainable, inputs, inputs) @ weights
    covariance = covariance + trainable.noise * torch.eye(len(z)).double()
    normal = torch.distributions.MultivariateNormal(torch.zeros_like(z), covariance)
    return -normal.log_prob(z) / len(z)


def timed(loss, vector: ParameterVector, repeats: int) -> tuple[float, float]:
    """CPU seconds of a value with its gradients, and the value."""
    seen = []

    def work() -> None:
        vector.clear_gradient()
        value = loss()
        value.backward()
        seen.append(float(value.detach()))

    return cpu_seconds(work, repeats), seen[-1]


def row(name: str, ours: tuple[float, float], plain: tuple[float, float]) -> None:
    """One line of the table; the two values must agree."""
    difference = abs(ours[1] - plain[1]) / abs(plain[1])
    assert difference < 1e-7
    ROWS.append(Row(name, SIZE, ours[0], "CPU s", plain[0], "N×N matrices", f"value to {difference:.0e}, relative"))


def bench_exact_evidence() -> None:
    """Evidence of the CMP with gradients in k, σ², ℓ and λ."""
    torch.set_num_threads(1)
    roll, _, trainable = setting("cmp")
    ours = timed(exact_objective(trainable, roll.data, lambda: None), trainable.vector, 7)
    plain = timed(lambda: plain_evidence(trainable, roll), trainable.vector, 3)
    row("CMP, evidence with gradients", ours, plain)


def bench_elbo_steps() -> None:
    """One full ELBO with gradients in the hyperparameters and q; 200 inducing points."""
    torch.set_num_threads(1)
    for model in ("variational_cmp", "vbagg"):
        roll, _, trainable = setting(model)
        count = len(trainable.inducing)
        q = WhitenedGaussian.prior(count, roll.inputs)
        q.mean.requires_grad_(True), q.root.requires_grad_(True)
        bags, prior = sort_bags(roll.data.bags), BagPrior.of(roll.data.bags, whole=trainable.model.mediated)

        def ours(trainable=trainable, roll=roll, q=q, bags=bags, prior=prior):
            targets, projection, variances = projected(trainable, roll.data, bags, prior, lambda: None)
            return -elbo(projection, variances, targets, q)

        def plain(trainable=trainable, roll=roll, q=q):
            return -plain_elbo(trainable, roll, q)

        row(
            f"{model_name(model)}, ELBO with gradients, 200 inducing",
            timed(ours, trainable.vector, 7),
            timed(plain, trainable.vector, 3),
        )


def plain_elbo(trainable: Trainable, roll, q: WhitenedGaussian) -> torch.Tensor:
    """The ELBO through the N×N covariance of q(f), aggregated afterwards."""
    data, w = roll.data, trainable.inducing
    inputs, z = data.bags.inputs, data.targets
    root = torch.linalg.cholesky(plain_kernel(trainable, w, w) + jitter(trainable, w))
    a = torch.linalg.solve_triangular(root, plain_kernel(trainable, w, inputs), upper=False)
    covariance = plain_kernel(trainable, inputs, inputs) - a.T @ a + (a.T @ q.root) @ (q.root.T @ a)
    if trainable.model.mediated:
        weights = plain_weights(trainable, roll)
    else:
        weights = torch.zeros(len(inputs), len(z)).double()
        weights[torch.arange(len(inputs)), data.bags.bag] = data.bags.weights
    mean, variance = weights.T @ (a.T @ q.mean), (weights * (covariance @ weights)).sum(0)
    noise = trainable.noise
    fit = -0.5 * (((z - mean).square() + variance) / noise + noise.log() + math.log(2 * math.pi)).sum()
    return fit - q.divergence()


def jitter(trainable: Trainable, w: torch.Tensor) -> torch.Tensor:
    """What our own factorisation added, so that both sides factorise the same matrix."""
    from deconditioning import linalg
    from deconditioning.kernels.tiles import evaluate

    with torch.no_grad():
        factor = linalg.cholesky(evaluate(trainable.kernel, w, w))
    return factor.jitter * torch.eye(len(w)).double()


def bench_accuracy_and_memory() -> None:
    """RMSE after the same few steps on both sides, and our peak memory above what importing takes."""
    torch.set_num_threads(1)
    found = []
    for name in ("ours", "plain"):
        roll, _, trainable = setting("cmp")
        ours = exact_objective(trainable, roll.data, lambda: None)

        def loss(name=name, ours=ours, trainable=trainable, roll=roll):
            return ours() if name == "ours" else plain_evidence(trainable, roll)

        took = cpu_seconds(lambda: minimise(loss, trainable.vector, restarts=1, steps=4), 1)  # noqa: B023
        given = named_posterior(trainable.learned(), roll.data, COLUMNS)
        rmse = score(roll, given.mean(roll.inputs), given.variance(roll.inputs).sqrt())["rmse"]
        found.append((took, rmse))
    peak = float(output_of("-c", MEASURE))
    (took, rmse), (slow, plain_rmse) = found
    ROWS.append(
        Row(
            "CMP, four steps of L-BFGS",
            SIZE,
            took,
            yardstick=slow,
            against="N×N matrices",
            accuracy=f"RMSE {rmse:.3f}, yardstick {plain_rmse:.3f}",
            peak_mb=peak,
            note="once on each side; memory above the imports, learning and predicting",
        )
    )
    keep("models", ROWS)
