"""How a file says what it rests on: the papers of its method, this software, the data (see CITATION.cff)."""

TITLE = "Deconditioning Lab"
#: Papers by the words with which models name them.
PAPERS = {
    "Chau et al. 2021": "Chau, S. L., Bouabid, S., Sejdinovic, D. (2021): Deconditional Downscaling with Gaussian "
    "Processes, NeurIPS 34, doi:10.48550/arXiv.2105.12909",
    "Hsu and Ramos 2019": "Hsu, K., Ramos, F. (2019): Bayesian Deconditional Kernel Mean Embeddings, ICML 36, "
    "doi:10.48550/arXiv.1906.00199",
    "Kyriakidis 2004": "Kyriakidis, P. C. (2004): A Geostatistical Framework for Area-to-Point Spatial Interpolation, "
    "Geographical Analysis 36, doi:10.1111/j.1538-4632.2004.tb01135.x",
    "Goovaerts 2008": "Goovaerts, P. (2008): Kriging and Semivariogram Deconvolution in the Presence of Irregular "
    "Geographical Units, Mathematical Geosciences 40, doi:10.1007/s11004-007-9129-1",
    "Wang et al. 2015": "Wang, Q., Shi, W., Atkinson, P. M., Zhao, Y. (2015): Downscaling MODIS images with "
    "area-to-point regression kriging, Remote Sensing of Environment 166, doi:10.1016/j.rse.2015.06.003",
    "Law et al. 2018": "Law, H. C. L. et al. (2018): Variational Learning on Aggregate Outputs with Gaussian "
    "Processes, NeurIPS 31, doi:10.48550/arXiv.1805.08463",
    "Titsias 2009": "Titsias, M. (2009): Variational Learning of Inducing Variables in Sparse Gaussian Processes, "
    "AISTATS 12",
}


def references_of(method: str) -> str:
    """The papers that a model's source names, deconditioning's own first."""
    method_paper = "Chau et al. 2021"
    return "; ".join(PAPERS[name] for name in (method_paper, *(n for n in PAPERS if n in method and n != method_paper)))


def citation(version: str, data: str, doi: str = "") -> str:
    """What to cite with a file: this software as CITATION.cff has it, and the data, by their ``doi`` where they say."""
    return f"{TITLE} {version} (CITATION.cff); data: {data}{f', doi:{_bare(doi)}' if doi else ''}"


def _bare(doi: str) -> str:
    """A DOI without the address or the word before it."""
    return doi.strip().removeprefix("https://doi.org/").removeprefix("http://doi.org/").removeprefix("doi:").strip()
