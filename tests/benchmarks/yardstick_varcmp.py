"""The yardstick of the full size: the variational CMP of Chau et al. 2021 (App. B, E.2.2) in plain gpytorch, by us.

Written the way a user of gpytorch would: ``ApproximateGP`` with ``VariationalStrategy``, autograd, Adam, float32 (the
strategy factorises in float64 by itself). Where the paper leaves a choice, the faster one is taken, so that a ratio
against it is not flattered: a step draws 64 of the bags with its 64 targets (all 441 would be 127,449 pixels a step),
W is computed between bags, not between pixels, inducing points stay where they are, and the kernel is exact wherever
that costs less than 1,000 Fourier features: they stand only for the covariance between the pixels of a step,
18,496 × 18,496, which autograd could not hold. λ is 1e-5, ℓ is learned with the rest.

It learns: `check_yardstick` (200 inducing points) takes it on the made-up planet of 2° to an RMSE of 12.8 K in 20
epochs and 12.7 K in 30, bilinear interpolation having 14.8 K.
"""

import math
import time
from collections.abc import Iterator

import gpytorch
import torch
from gpytorch.kernels import MaternKernel, RBFKernel, RFFKernel, ScaleKernel
from linear_operator.operators import MatmulLinearOperator, RootLinearOperator
from torch import Tensor

from deconditioning.fields.problem.problem import DownscalingProblem

INDUCING, FEATURES, BATCH, EPOCHS = 800, 1000, 64, 701
#: Points above which the covariance of a set of points with itself is taken from Fourier features.
MANY = 4000
LAMBDA = 1e-5


class FourierGaussian(RFFKernel):
    """gpytorch's random Fourier features of a Gaussian kernel; as a plain product: sums of roots call Lanczos."""

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params):
        found = super().forward(x1, x2, diag=diag, **params)
        rooted = isinstance(found, RootLinearOperator)
        return MatmulLinearOperator(found.root, found.root.mT) if rooted else found


class FourierMatern(FourierGaussian):
    """The same for Matérn-3/2, whose spectral density is Student's t with 3 degrees of freedom."""

    def _init_weights(self, num_dims=None, num_samples=None, randn_weights=None):
        if randn_weights is None:
            normal = torch.randn(num_dims, num_samples)
            randn_weights = normal * (3 / torch.distributions.Chi2(3.0).sample((num_samples,))).sqrt()
        super()._init_weights(num_dims, num_samples, randn_weights)


class Approximated(gpytorch.kernels.Kernel):
    """A kernel with an approximation of its own for many points against themselves; both share a lengthscale."""

    def __init__(self, exact, features, active_dims) -> None:
        super().__init__(active_dims=active_dims)
        self.exact, self.features = exact, features
        features.register_parameter("raw_lengthscale", exact.raw_lengthscale)
        self.always = False

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params):
        approximate = not diag and (self.always or (len(x1) > MANY and torch.equal(x1, x2)))
        return (self.features if approximate else self.exact).forward(x1, x2, diag=diag, **params)


def paper_kernel(places: list[int], others: list[int]) -> gpytorch.kernels.Kernel:
    """Matérn-3/2 on the coordinates plus a Gaussian on the covariates."""
    first = Approximated(MaternKernel(nu=1.5), FourierMatern(FEATURES, len(places)), places)
    second = Approximated(
        RBFKernel(ard_num_dims=len(others)), FourierGaussian(FEATURES, len(others), ard_num_dims=len(others)), others
    )
    return ScaleKernel(first) + ScaleKernel(second)


class Field(gpytorch.models.ApproximateGP):
    """``f`` at high resolution through inducing points."""

    def __init__(self, inducing: Tensor, kernel: gpytorch.kernels.Kernel) -> None:
        q = gpytorch.variational.CholeskyVariationalDistribution(len(inducing))
        strategy = gpytorch.variational.VariationalStrategy(self, inducing, q, learn_inducing_locations=False)
        super().__init__(strategy)
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), kernel

    def forward(self, x: Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Noises(gpytorch.Module):
    """σ² of a target and ς² of a pixel, both positive."""

    def __init__(self) -> None:
        super().__init__()
        for name, start in (("raw_noise", 0.05), ("raw_point_noise", 0.01)):
            self.register_parameter(name, torch.nn.Parameter(torch.tensor(math.log(math.expm1(start)))))

    @property
    def values(self) -> tuple[Tensor, Tensor]:
        return torch.nn.functional.softplus(self.raw_noise), torch.nn.functional.softplus(self.raw_point_noise)


class Yardstick:
    """A problem in float32 with a model, its optimiser and its minibatches; 701 epochs of 7 steps is the paper's."""

    def __init__(
        self, problem: DownscalingProblem, seed: int = 0, *, rate: float = 0.01, inducing: int = INDUCING
    ) -> None:
        torch.manual_seed(seed)
        data = problem.data
        self.inputs = problem.inputs.float()
        self.points, self.area = data.bags.inputs.float(), data.bags.weights.float()
        self.rows = [torch.nonzero(data.bags.bag == j)[:, 0] for j in range(data.bags.count)]
        self.mediators, self.queries = data.mediators.float(), data.query_mediators.float()
        self.targets = data.targets.float()
        covariates = {*problem.spec.covariates, *problem.spec.mediators}
        sides = [self._sides(names, covariates) for names in (problem.columns, problem.mediator_columns)]
        chosen = torch.linspace(0, len(self.points) - 1, min(inducing, len(self.points))).long()
        self.field, self.noises = Field(self.points[chosen].clone(), paper_kernel(*sides[0])), Noises()
        self.ell = paper_kernel(*sides[1])
        every = [*self.field.parameters(), *self.ell.parameters(), *self.noises.parameters()]
        self.optimiser = torch.optim.Adam(every, lr=rate)
        self._batches = self._endless()

    @staticmethod
    def _sides(names: tuple[str, ...], covariates: set[str]) -> tuple[list[int], list[int]]:
        places = [i for i, name in enumerate(names) if name not in covariates]
        return places, [i for i in range(len(names)) if i not in places]

    @property
    def steps_an_epoch(self) -> int:
        """Steps until every target was seen."""
        return math.ceil(len(self.targets) / BATCH)

    def _endless(self) -> Iterator[Tensor]:
        while True:
            yield from torch.randperm(len(self.targets)).split(BATCH)

    def step(self) -> float:
        """One step of Adam on minus the ELBO per target, estimated from 64 bags and 64 targets."""
        self.field.train()
        targets, bags = next(self._batches), torch.randperm(len(self.rows))[:BATCH]
        self.optimiser.zero_grad()
        loss = -self._elbo(targets, bags) / len(self.targets)
        loss.backward()
        self.optimiser.step()
        return float(loss.detach())

    def _elbo(self, targets: Tensor, bags: Tensor) -> Tensor:
        pixels = torch.cat([self.rows[j] for j in bags])
        aggregate = torch.block_diag(*[self.area[self.rows[j]][:, None] for j in bags])  # pixels × bags
        y, query = self.mediators[bags], self.queries[targets]
        ridge = self.ell(y).to_dense() + len(bags) * LAMBDA * torch.eye(len(bags))
        spread = aggregate @ torch.linalg.solve(ridge, self.ell(y, query).to_dense())  # A, pixels × targets
        found = self.field(self.points[pixels], diag=False)  # all of the covariance, not its diagonal
        mean, covariance = spread.T @ found.mean, spread.T @ (found.lazy_covariance_matrix @ spread)
        noise, point_noise = self.noises.values
        sigma = noise * torch.eye(len(targets)) + point_noise * spread.T @ spread
        root = torch.linalg.cholesky(sigma)
        density = torch.distributions.MultivariateNormal(mean, scale_tril=root).log_prob(self.targets[targets])
        fit = density - 0.5 * torch.cholesky_solve(covariance, root).trace()
        return fit * len(self.targets) / len(targets) - self.field.variational_strategy.kl_divergence()

    def predict(self, *, fourier: bool = False) -> tuple[Tensor, Tensor]:
        """Mean and sd of the field at all pixels; with ``fourier`` the features replace the kernel, as in the paper."""
        self.field.eval()
        self._use_features(fourier)
        means, variances = [], []
        with torch.no_grad():
            for x in self.inputs.split(MANY):
                found = self.field(x)
                means.append(found.mean)
                variances.append(found.variance)
        self._use_features(False)
        return torch.cat(means), torch.cat(variances).sqrt()

    def _use_features(self, wanted: bool) -> None:
        self.field.train(), self.field.eval()  # drops what gpytorch remembers
        for module in self.field.modules():
            if isinstance(module, Approximated):
                module.always = wanted


def check_yardstick(epochs: int = 60, rate: float = 0.01, inducing: int = 200) -> None:
    """Train on the made-up planet of 2° and print RMSE at every pixel beside bilinear's."""
    from deconditioning.datasets.entries import find
    from deconditioning.downscaling.source import Source, build_problem
    from deconditioning.fields.problem.baselines import bilinear
    from deconditioning.fields.spec import DownscalingSpec
    from deconditioning.metrics.field_scores import score_field
    from deconditioning.metrics.predictive import Predictive

    problem = build_problem(Source("atmosphere-small"), DownscalingSpec.from_dict(find("atmosphere-small").default))
    area = problem.grid.area
    print("bilinear", score_field(problem.truth, bilinear(problem), area=area)["rmse"])
    yardstick, begin = Yardstick(problem, rate=rate, inducing=inducing), time.process_time()
    for epoch in range(1, epochs + 1):
        losses = [yardstick.step() for _ in range(yardstick.steps_an_epoch)]
        if epoch % 20 == 0 or epoch == epochs:
            mean, sd = yardstick.predict()
            scores = score_field(
                problem.truth, Predictive(problem.physical_mean(mean), problem.physical_sd(sd)), area=area
            )
            took = time.process_time() - begin
            print(f"epoch {epoch}: {took:.0f} CPU s, loss {sum(losses) / len(losses):.3f}, RMSE {scores['rmse']:.3f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    check_yardstick()
