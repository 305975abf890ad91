"""The essential controls of page Kernel Bayes' rule: at most four in a dimension."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "k-dim": Essential("How many unknown numbers", "d, the dimension of X and of Y."),
    "k-obs": Essential("Which observation", "One of fifty, each with its own exact posterior."),
    "k-y0": Essential("What was observed", "y (in two dimensions its first coordinate)."),
    "k-n": Essential("How many examples", "n, the pairs (X, Y) from which the rule learns what an observation means."),
    "k-eps": Essential(
        "How cautious the rule is", "ε, its first regularisation: small, and it trusts every example; large: none."
    ),
}
