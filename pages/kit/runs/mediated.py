"""The paper's mediated models beside their plain counterparts, from the stored draws of page Benchmarks."""

from deconditioning.figures.colours import model_name
from pages.kit.runs.stored_results import FOLDER, stored

FILE = "downscaling.json"
#: A mediated model and what it is without mediation.
_COUNTERPARTS = {"shrinkage_cmp": "bag_gp", "cmp": "bag_gp", "variational_cmp": "vbagg"}


def lost(model: str = "shrinkage_cmp") -> str:
    """How often a mediated model is farther off than its plain counterpart; nothing without rows or a counterpart."""
    plain = _COUNTERPARTS.get(model, "")
    rows = stored(FILE)["rows"] if plain and (FOLDER / FILE).is_file() else []
    result = {(row["case"], row["seed"], row["model"]): row["scores"]["rmse"] for row in rows if row["scores"]}
    pairs = [
        (rmse, result[case, seed, plain])
        for (case, seed, name), rmse in result.items()
        if name == model and (case, seed, plain) in result
    ]
    if not pairs:
        return ""
    more = sum(mine > other for mine, other in pairs)
    return (
        f"{model_name(model)} has a larger RMSE than the unmediated {model_name(plain)} on {more} of {len(pairs)} "
        "draws. The paper's Table 2 reports the opposite."
    )
