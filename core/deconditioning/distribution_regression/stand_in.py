"""Synthetic data in place of the accelerometer study: minute counts of a day, with age as the outcome.

The survey of Tang et al., §6, is not part of this project. The synthetic data have its structure: a day of 1,440
minutes per person, x = log(1 + count), many zeros at night and when sitting, movement that becomes rarer and milder
with age, and people who differ from each other more than age explains.
"""

import numpy as np

from deconditioning.distribution_regression.subjects import Subjects, make_subjects
from deconditioning.errors import InputError

_MINUTES = 1440
LABEL = "Generated stand-in for an accelerometer study: no real person, not the survey's data."


def accelerometer_stand_in(people: int = 300, seed: int = 0, minutes: int = _MINUTES) -> Subjects:
    """``people`` subjects with log(1 + count) of every minute, age (20 to 85 years) and the covariate ``bmi`` (kg/m²).

    A person is awake from about 7 to 23 h and then moves with a probability and an intensity that decrease with age and
    differ between people; counts are negative binomial around the intensity. Raises ``InputError`` below 2 people.
    """
    if people < 2 or not 1 <= minutes <= _MINUTES or people * minutes > 5_000_000:
        raise InputError(
            f"{people} people and {minutes} minutes were requested: give 2 to 3,000 people, 1 to {_MINUTES} minutes."
        )
    rng = np.random.default_rng([seed, 6])
    age = rng.uniform(20, 85, people)
    bmi = 23 + 0.06 * age + 3.5 * rng.standard_normal(people)
    vigour = rng.standard_normal(people)
    start, end = rng.normal(7.0, 1.0, people), rng.normal(22.5, 1.0, people)
    hours = np.arange(minutes)[None] * (24 / minutes)
    awake = (hours > start[:, None]) & (hours < end[:, None])
    older = (age - 50)[:, None] / 30
    logit = 0.1 - 0.12 * older + 0.5 * vigour[:, None] + 0.5 * np.cos((hours - 13) * np.pi / 9)
    moving = awake & (rng.random((people, minutes)) < 1 / (1 + np.exp(-logit)))
    level = (
        5.6
        - 0.22 * older
        + 0.35 * vigour[:, None]
        - 0.03 * (bmi - 26)[:, None]
        + 0.9 * rng.standard_normal((people, minutes))
    )
    brisk = moving & (
        rng.random((people, minutes)) < 0.10 - 0.03 * older.clip(-1, 1) + 0.03 * vigour[:, None].clip(-2, 2)
    )
    mean = np.exp(np.clip(level + 1.8 * brisk, 0, 10.5))
    counts = np.where(moving, rng.negative_binomial(2.0, 2.0 / (2.0 + mean)), 0)
    values = np.log1p(counts).ravel()
    return make_subjects(
        values, np.repeat(np.arange(people), minutes), age, covariates=bmi[:, None],
        names=[f"generated {i + 1}" for i in range(people)], columns=("log(1 + count)",), covariate_names=("bmi",),
        outcome_name="age",
    )  # fmt: skip
