"""The essential controls of page Conditional mean embeddings: at most four of a view."""

from pages.kit.essential import Essential

ESSENTIALS = {
    "e-view": Essential("What to look at", "Two estimates side by side, or how fast they come nearer to the truth."),
    "e-layout": Essential("How many groups, and points in each", "B bags of so many points; own numbers at All."),
    "e-unequal": Essential("Groups of unequal size", "Off: every bag has as many points as the others."),
    "e-lam": Essential(
        "How much groups are blended",
        "λ, the regularisation: the larger, the more a bag is taken for its neighbours too.",
    ),
    "e-a": Essential("How many samples the first step gets", "a: their number N is a power of M in proportion to it."),
    "e-b": Essential("How fast fine detail fades", "b: the eigenvalues of the kernel decay with this power."),
    "e-c": Essential("How smooth the truth is", "c, the smoothness of the operator that the second stage learns."),
}
