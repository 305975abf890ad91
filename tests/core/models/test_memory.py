"""Learning and predicting 5,000 points in 50 bags stays under 0.6 GB above what importing takes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MEASURE = """
import torch
from core.datasets.swiss_roll import RollSpec, make_swiss_roll
from core.experiments.reporting import peak_mb
from core.experiments.swiss_roll import COLUMNS, RollSettings, posterior_at_points, starting_spec
from core.models.learning import LearningOptions, learn

torch.set_num_threads(1)
roll = make_swiss_roll(RollSpec())
spec = starting_spec(roll, RollSettings(model="cmp"))
before = peak_mb(torch.device("cpu"))
learned = learn(spec, roll.data, COLUMNS, LearningOptions("joint", restarts=1, steps=2))
posterior_at_points(learned.spec, roll.data, roll.inputs)
print(peak_mb(torch.device("cpu")) - before)
"""


def test_five_thousand_points_take_little_memory():
    done = subprocess.run([sys.executable, "-c", MEASURE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 600  # megabytes
