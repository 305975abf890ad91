"""The frame of a picture that is still being computed."""

from deconditioning.figures.studies.one_dimension import frame
from deconditioning.figures.style import Figure


def awaited_plot(title: str, names: tuple[str, str], *, height: int = 300, dark: bool = False) -> Figure:
    """The empty frame of a picture that is being computed: what stands around it keeps its place."""
    picture = frame(title, names, height, dark, legend=False)
    for side in ("xaxis", "yaxis"):
        picture[side] |= {"showticklabels": False, "showgrid": False, "zeroline": False, "range": [0, 1]}
    middle = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
    picture["annotations"] = [{"text": "computing …", **middle}]
    picture["meta"]["alt"] = f"{title}: being computed."
    return {"data": [], "layout": picture}
