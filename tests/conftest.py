"""Fixtures for all tests: bounded threads, an empty runs folder, the real files where they are."""

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Processes that tests start use this tree, wherever the installed package lies.
os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / "core"), str(ROOT)))
#: Workers that tests start share the cores with the tests: at a lower priority a busy machine would starve them.
os.environ["DECONDITIONING_NICE"] = "0"
SLOW = [hypothesis.HealthCheck.too_slow]
TESTS = ROOT / "tests"
BROWSER = TESTS / "browser"
#: Where every call of `core` is checked against the types and shapes that it says it takes and gives.
TENSORS = [
    TESTS / "core" / topic
    for topic in (
        "bag_sums",
        "distribution_regression",
        "downscaling",
        "embeddings",
        "filtering",
        "kernels",
        "likelihood_free",
        "metrics",
        "models",
        "studies",
    )
]
#: The files that take longest, begun first so that no process waits for another in the end.
LONGEST = [
    TESTS / name
    for name in (
        "core/downscaling/test_run.py",
        "test_benchmarks_run.py",
        "core/studies/test_stored.py",
        "core/downscaling/test_predict_store.py",
        "core/downscaling/test_guard.py",
        "core/studies/test_swiss_roll.py",
        "core/models/test_sparse_gp.py",
        "pages/test_downscaling.py",
        "pages/test_address.py",
        "test_adding.py",
        "pages/test_stations.py",
        "pages/test_tools.py",
        "core/engine/test_runs.py",
        "pages/test_uploads.py",
        "core/fields/test_marks.py",
        "core/estimators/test_downscaling.py",
        "test_wheel.py",
        "core/fields/test_uploads.py",
        "corpus/test_corpus.py",
        "core/engine/test_scheduler.py",
        "pages/test_missing.py",
        "pages/test_downscaling_draws.py",
        "core/datasets/test_catalogue.py",
        "pages/test_levels.py",
        "pages/test_glossary.py",
        "core/fields/test_regions.py",
        "pages/test_exercises.py",
        "pages/test_distribution_regression.py",
        "core/cli/test_kernel_bayes.py",
        "core/cli/test_downscale.py",
        "browser/test_every_page.py",
        "browser/test_every_view.py",
        "browser/test_sliders.py",
        "browser/test_own_file.py",
        "browser/test_shared_server.py",
        "browser/test_downscaling.py",
        "browser/test_teach_offline.py",
        "browser/test_hostile_files.py",
        "browser/test_back.py",
        "browser/test_points.py",
        "browser/test_phone.py",
    )
]
REAL_DATA = TESTS.parent / "data"

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before any test imports torch or numpy


def pytest_configure(config: pytest.Config) -> None:
    """Tests neither see nor change the runs, data folder and scheduler of the person who starts them.

    Properties are tried on the same examples every time, however long one takes.
    """
    hypothesis.settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=SLOW)
    hypothesis.settings.load_profile("same")
    for variable in ("DECONDITIONING_DATA", "DECONDITIONING_SHARED", "DASK_SCHEDULER_ADDRESS"):
        os.environ.pop(variable, None)
    folder = tempfile.TemporaryDirectory(prefix="deconditioning-runs-", ignore_cleanup_errors=True)
    os.environ["DECONDITIONING_RUNS"] = folder.name
    config.add_cleanup(folder.cleanup)
    if config.getoption("part") == "tensors":
        _check_shapes()


def _check_shapes() -> None:
    """Check types and shapes at every call of `core`, which nothing may have imported yet."""
    from tests import shapes

    shapes.install("deconditioning")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--part``: tests of tensors, with shapes checked; other computing; those in the browser, after all others."""
    parts = ("all", "tensors", "computing", "browser")
    parser.addoption("--part", choices=parts, default="all", help="which tests to run")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the other parts."""
    return True if collection_path.suffix == ".py" and _other_part(collection_path, config) else None


def _other_part(path: Path, config: pytest.Config) -> bool:
    return config.getoption("part") not in ("all", _part(path))


def _part(path: Path) -> str:
    if BROWSER in path.parents:
        return "browser"
    return "tensors" if any(topic in path.parents for topic in TENSORS) else "computing"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the other part, also where its files were named; skip what needs a GPU where there is none.

    The longest files come first, then those of most tests.
    """
    other = [item for item in items if _other_part(item.path, config)]
    if other:
        config.hook.pytest_deselected(items=other)
        items[:] = [item for item in items if item not in other]
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: (LONGEST.index(item.path) if item.path in LONGEST else len(LONGEST), -sizes[item.path]))
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _cuda():
        reason = "torch finds no CUDA device here (it needs an NVIDIA GPU and a torch built with CUDA)"
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """What collection has imported stays: no later collection of garbage looks through it again."""
    gc.collect()
    gc.freeze()


def _cuda() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Shapes are not checked: for a test that gives wrong ones on purpose."""
    import jaxtyping

    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def few_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prior draws of few random features: over draws their covariance is the kernel however many there are."""
    from deconditioning.kernels import fourier

    monkeypatch.setattr(fourier, "FEATURES", 32)


@pytest.fixture(scope="module")
def short_chain() -> Iterator[None]:
    """Chains of few cells' hyperparameters keep half of the members and take a tenth of the steps.

    A mixture is one whichever its members are, and however many.
    """
    from deconditioning.models.learning import integrate

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integrate, "MEMBERS", 8)
        patch.setattr(integrate, "_APART", 1)
        patch.setattr(integrate, "_BEFORE", 4)
        yield


@pytest.fixture
def coarse_print(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slides are printed with few dots: what is asked of them is what they show."""
    from deconditioning.slides import deck, report

    for module in (deck, report):
        monkeypatch.setattr(module, "DPI", 50)


@pytest.fixture
def runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty runs folder of this test's own, in DECONDITIONING_RUNS."""
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setenv("DECONDITIONING_RUNS", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def quick_readers() -> Iterator[None]:
    """Uploaded files are read by forks that share their imports."""
    from deconditioning import sandbox
    from tests import readers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "_run", readers.run)
        yield


@pytest.fixture
def real_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploaded files are read by processes that start from nothing, as in the app."""
    from deconditioning import sandbox
    from tests import readers

    monkeypatch.setattr(sandbox, "_run", readers.started)


@pytest.fixture(scope="session")
def kept_cluster() -> Iterator[Any]:
    """The cluster of all engines that ask for ``shared_cluster``."""
    from tests.clusters import KeptCluster

    kept = KeptCluster(None, None)
    yield kept
    kept.end()


@pytest.fixture
def shared_cluster(kept_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that this test makes compute on the one cluster of this process."""
    from deconditioning.engine import engine
    from deconditioning.engine.cluster import Cluster

    def chosen(address: str | None, workers: int | None, *, encrypted: bool) -> Cluster:
        return kept_cluster if address is None else Cluster(address, workers, encrypted=encrypted)

    monkeypatch.setattr(engine, "Cluster", chosen)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files for tests (its README.md says whose they are)."""
    return REAL_DATA
