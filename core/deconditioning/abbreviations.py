"""Abbreviations of the field, spelt out where a page or a file uses them first."""

import re

#: Abbreviation → what it stands for.
_SPELT = {
    "ABC": "approximate Bayesian computation",
    "BCSD": "bias correction and spatial disaggregation",
    "BDR": "Bayesian distribution regression",
    "BLR": "Bayesian linear regression",
    "CME": "conditional mean embedding",
    "CMO": "conditional mean operator",
    "CMP": "conditional mean process",
    "CRPS": "continuous ranked probability score",
    "DME": "deconditional mean embedding",
    "EKF": "extended Kalman filter",
    "ELBO": "evidence lower bound",
    "GP": "Gaussian process",
    "GPDR": "Gaussian process distribution regression",
    "KBR": "kernel Bayes' rule",
    "KELFI": "kernel embedding likelihood-free inference",
    "MAE": "mean absolute error",
    "MSE": "mean square error",
    "RKHS": "reproducing kernel Hilbert space",
    "RMSE": "root mean square error",
    "SSIM": "structural similarity",
    "UKF": "unscented Kalman filter",
    "VBAgg": "variational bag aggregation",
}
_ANY = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(_SPELT, key=len, reverse=True))})(?!\w)")


def _used_in(*texts: str) -> list[str]:
    """Abbreviations in these texts, in the order in which they come first."""
    return list(dict.fromkeys(match for text in texts for match in _ANY.findall(text)))


def legend(*texts: str) -> str:
    """What the abbreviations in these texts stand for: "GP: Gaussian process; RMSE: root mean square error"."""
    return "; ".join(f"{short}: {_SPELT[short]}" for short in _used_in(*texts))


def spelt_out(text: str, known: set[str]) -> str:
    """``text`` with every abbreviation that is not yet ``known`` spelt out at its first use; then it is known.

    "the CMP" becomes "the conditional mean process (CMP)". What stands between backquotes is left alone.
    """

    def spelt(match: re.Match[str]) -> str:
        """The abbreviation, after its words at the first use."""
        short = match[0]
        first = short not in known and f"({short})" not in text
        known.add(short)
        return f"{_SPELT[short]} ({short})" if first else short

    parts = text.split("`")
    return "`".join(_ANY.sub(spelt, part) if index % 2 == 0 else part for index, part in enumerate(parts))
