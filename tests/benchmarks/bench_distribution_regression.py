"""The posterior of 400 subjects with 2,000 measures each, merged or all distinct, by every route; CPU seconds."""

import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.routes import Route
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import SimulationSpec, simulate
from deconditioning.kernels.tiles import evaluate
from deconditioning.studies.distribution_regression.study import MethodSettings, posterior_risk, regress
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds

ROUTES = {Route.CHEBYSHEV: "Chebyshev interpolation", Route.SORTED: "sorted sums"}
SUBJECTS, MEASURES, BLOCK = 400, 2000, 3000
SMOKE = {"SUBJECTS": 12, "MEASURES": 30, "BLOCK": 100}
NAMES = {"rbf": "Gaussian", "matern52": "Matérn 5/2", "matern12": "Matérn 1/2"}


def bench_distribution_regression() -> None:
    """One row a kernel and kind of measures; the yardstick sums every pair, estimated from a block of them."""
    torch.set_num_threads(1)
    rows = []
    for distinct in (False, True):
        subjects = simulate(SimulationSpec(SUBJECTS, MEASURES, 0, distinct=distinct)).subjects
        for family in ("rbf", "matern52", "matern12"):
            settings = MethodSettings(family)
            spec = settings.regression(("x",))

            def whole(subjects=subjects, spec=spec, settings=settings) -> float:
                sums = KernelSums(subjects.bags, ("x",))
                return posterior_risk(regress(sums, subjects, spec, settings)[0])

            ours, count = cpu_seconds(whole), len(subjects.bags.inputs)
            block = sort_bags(subjects.bags).bags.inputs[:BLOCK]
            with torch.no_grad():
                some = cpu_seconds(lambda spec=spec, block=block: evaluate(spec.kernel.build(("x",)), block, block), 1)
            route = KernelSums(subjects.bags, ("x",)).routes(spec.kernel)[0].route
            rows.append(
                Row(
                    f"Distribution regression, posterior, {NAMES[family]}",
                    f"{SUBJECTS} subjects × {MEASURES:,} measures, {count:,} distinct",
                    ours,
                    yardstick=some * (count / BLOCK) ** 2 / 2,
                    against="every pair",
                    accuracy="posterior risk to 1e-12 (tests)",
                    note=f"{ROUTES[route]}; yardstick extrapolated from {BLOCK:,} values",
                )
            )
    keep("distribution_regression", rows)
