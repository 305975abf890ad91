"""The essential controls of page Swiss roll."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "r-match": Essential(
        "How points and means belong together",
        "Direct: every slice has its points and its mean. Indirect: half the slices keep their points, the other half "
        "their means; only the heights connect them.",
    ),
    "r-bags": Essential("How many slices", "B: into so many slices the roll is cut, each of one height."),
    "r-noise": Essential("How noisy the means are", "The standard deviation of the noise on a slice's mean."),
    "r-lam": Essential(
        "How much slices are blended",
        "λ, the regularisation of the conditional mean operator: the larger, the more a slice is taken for its "
        "neighbours too. Models without mediation have none.",
    ),
}
