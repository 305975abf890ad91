"""The essential controls of page Distribution regression: at most four of a data set."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "d-data": Essential("Which data", "The paper's simulation (20), a generated stand-in, or a table of your own."),
    "d-n": Essential("How many subjects", "n: each has one outcome."),
    "d-m": Essential("How many measures of each", "m: all that is seen of a subject's distribution."),
    "d-people": Essential("How many people", "n, each with 1,440 minutes of made-up activity."),
    "d-file": Essential("Your own table", "A CSV with one row a measurement: subject, value, outcome."),
    "d-table": Essential("Which table", "Those that were uploaded."),
    "d-*-scale": Essential(
        "How smooth the effect is taken to be",
        "The lengthscale of the kernel K: how far apart two values may lie and still have nearly the same f.",
    ),
}
