"""What the paper says of figure 1, and what the stored runs say of that."""

from typing import Any

from deconditioning.figures.colours import model_name
from deconditioning.studies.distribution_regression.few_features import BOTH
from deconditioning.studies.distribution_regression.study import CUT, LANDMARKS_GP, NARROW
from deconditioning.wording import number

#: Level of the significance tests.
LEVEL = 0.05
_DENSITIES = ("kde", NARROW, CUT)


def counts(document: dict[str, Any], second: str) -> tuple[int, int, int]:
    """In how many settings GPDR is significantly better than another method, in how many worse, and of how many."""
    tests = [test for test in document["tests"] if test["second"] == second]
    differences = [test["mean_difference"] for test in tests if test["p_mean"] < LEVEL]
    return sum(gap < 0 for gap in differences), sum(gap > 0 for gap in differences), len(tests)


def on_densities(document: dict[str, Any]) -> str:
    """The claim that GPDR beats kernel densities everywhere: it hangs on what densities do at the ends."""
    sentences = [_count_sentence(document, name) for name in _DENSITIES if name in document["settings"]["methods"]]
    sentence = (
        "In the paper the Gaussian process (GPDR) is significantly better than kernel density estimation in all "
        f"settings. Here, at p < 0.05, it is better than {', than '.join(sentences)}. The paper states neither the "
        "bandwidth nor the treatment of the ends."
    )
    if CUT not in document["settings"]["methods"] or counts(document, CUT)[0] < counts(document, CUT)[2]:
        return sentence
    return (
        f"{sentence} The published code truncates narrow densities at 0 and 1 and rescales the rest to sum to one. "
        "Against these densities the claim holds everywhere, because of the truncation and not because of density "
        "estimation."
    )


def on_embeddings(document: dict[str, Any]) -> str:
    """The claim that GPDR beats BDR for large n; what divides them; what uncertain embeddings add."""
    risks = {(c["model"], c["subjects"], c["measures"]): c["mean"] for c in document["curves"]}
    if not {"bdr50", "shrunk", LANDMARKS_GP} <= set(document["settings"]["methods"]):
        return ""
    n, m = max(document["settings"]["subjects"]), min(document["settings"]["measures"])
    gap = max(abs(risks[LANDMARKS_GP, *size] / risks["gpdr", *size] - 1) for size in {key[1:] for key in risks})
    return (
        "In the paper the Gaussian process is better than Bayesian distribution regression (BDR) for large n. "
        f"Here it is better than {_count_sentence(document, 'bdr10')}, than {_count_sentence(document, 'bdr50')}. "
        "The difference is due to the prior of f, not to the number of landmarks: with the Gaussian process's "
        "prior, 10 landmarks have the same "
        f"risk, within {number(max(100 * gap, 0.01), 2)} % in every setting. With few measurements of many subjects "
        f"({m} of {n}), uncertain embeddings help, most of all with that prior: the risk is {risks['gpdr', n, m]:.4f} "
        f"for the Gaussian process, {risks['bdr50', n, m]:.4f} for *BDR, 50 landmarks* and "
        f"{risks['shrunk', n, m]:.4f} for *BDR with the GP's prior*."
    )


def on_accelerometers(results: list[dict[str, Any]]) -> str:
    """Table 1 on the generated stand-in: how much each method explains, and what both components together do."""
    share = {row["model"]: 100 * row["scores"]["r2"] for row in results}
    return (
        "Stored, like Table 1 of the paper, for 2,719 synthetic people and 500 partitions: the Gaussian process with "
        f"ten eigenvectors explains {share['gpdr']:.1f} % of the variance, ten landmarks {share['landmark10']:.1f} %, "
        f"fifty {share['landmark50']:.1f} %, functional regression {share['flr']:.1f} %. The paper reports 18.5, 17.6, "
        "17.6 and 14.7 % for its survey, which is not available here. With a distributional and a functional component "
        f"(§4.3) the share is {share[BOTH]:.1f} %."
    )


def _count_sentence(document: dict[str, Any], name: str) -> str:
    better, worse, every = counts(document, name)
    return f"*{model_name(name)}* in {better} of {every} (worse in {worse})"
