"""The essential controls of page Conditional mean embeddings: at most four of a view."""

from pages.kit.controls.essential import Essential

ESSENTIALS = {
    "e-view": Essential("What to look at", "Two estimates side by side, or how fast they approach the truth."),
    "e-layout": Essential(
        "How many groups, and points in each", "B bags with this many points each; other numbers under All."
    ),
    "e-unequal": Essential("Groups of unequal size", "Off: all bags have the same number of points."),
    "e-lam": Essential(
        "How strongly groups are blended",
        "λ, the regularisation: the larger it is, the more a bag also represents its neighbours.",
    ),
    "e-a": Essential(
        "How many samples the first step gets",
        ("a: the number N of samples is a power of M, with an exponent proportional to a."),
    ),
    "e-b": Essential("How fast fine detail fades", "b: the eigenvalues of the kernel decay with this power."),
    "e-c": Essential("How smooth the truth is", "c, the smoothness of the operator that the second stage learns."),
}
