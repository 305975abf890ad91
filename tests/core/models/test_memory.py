"""Memory above what importing takes: 5,000 points in 50 bags, and a sparse representation of 40,000 data."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MEASURE = """
import torch
from deconditioning.datasets.swiss_roll import RollSpec, make_swiss_roll
from deconditioning.engine.reporting import peak_mb
from deconditioning.studies.swiss_roll.study import COLUMNS, RollSettings, posterior_at_points, starting_spec
from deconditioning.models.learning.learning import LearningOptions, learn

torch.set_num_threads(1)
roll = make_swiss_roll(RollSpec())
spec = starting_spec(roll, RollSettings(model="cmp"))
before = peak_mb(torch.device("cpu"))
learned = learn(spec, roll.data, COLUMNS, LearningOptions("joint", restarts=1, steps=2))
posterior_at_points(learned.spec, roll.data, roll.inputs)
print(peak_mb(torch.device("cpu")) - before)
"""

SPARSE = """
import numpy as np, torch
from deconditioning.datasets.sparse_toy import ToySpec, make_toy
from deconditioning.engine.reporting import peak_mb
from deconditioning.studies.sparse_representation.study import true_model
from deconditioning.models.sparse.sparse_representation import sparse_objective, sparse_posterior

torch.set_num_threads(1)
toy = make_toy(ToySpec(40_000, points=12))
spec = true_model(toy, np.linspace(-5, 5, 30))
before = peak_mb(torch.device("cpu"))
loss, vector, now = sparse_objective(spec, toy.inputs, toy.targets)
for _ in range(3):
    loss().backward()
sparse_posterior(now(), toy.inputs, toy.targets).variance(toy.inputs)
print(peak_mb(torch.device("cpu")) - before)
"""


def test_five_thousand_points_take_little_memory():
    done = subprocess.run([sys.executable, "-c", MEASURE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 600  # megabytes


def test_forty_thousand_data_of_a_sparse_representation_take_little_memory():
    done = subprocess.run([sys.executable, "-c", SPARSE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 300  # megabytes; an m×m matrix would take 13 GB
