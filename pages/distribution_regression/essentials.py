"""The essential controls of page Distribution regression: at most four of a data set."""

from pages.kit.controls.essential import Essential

ESSENTIALS = {
    "d-data": Essential("Which data", "The paper's simulation (20), a synthetic substitute, or your own table."),
    "d-n": Essential("How many subjects", "n: each has one outcome."),
    "d-m": Essential("How many measurements of each", "m: the number of samples from each subject's distribution."),
    "d-people": Essential("How many people", "n, each with 1,440 minutes of synthetic activity."),
    "d-file": Essential("Your own table", "A CSV with one row per measurement: subject, value, outcome."),
    "d-table": Essential("Which table", "The tables you uploaded."),
    "d-*-scale": Essential(
        "How smooth the effect is assumed to be",
        "The lengthscale of the kernel K: how far apart two values can be and still have nearly the same f.",
    ),
}
