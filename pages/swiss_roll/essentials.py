"""The essential controls of page Swiss roll."""

from pages.kit.controls.essential import Essential

ESSENTIALS = {
    "r-match": Essential(
        "How points and means belong together",
        "Direct: every slice has its points and its mean. Indirect: half of the slices keep their points, the other "
        "half their means; only the height connects them.",
    ),
    "r-bags": Essential("How many slices", "B: the number of horizontal slices the roll is cut into."),
    "r-noise": Essential("How noisy the means are", "The standard deviation of the noise on a slice's mean."),
    "r-lam": Essential(
        "How strongly slices are blended",
        "λ, the regularisation of the conditional mean operator: the larger it is, the more a slice also represents "
        "its neighbours. Models without mediation have none.",
    ),
}
