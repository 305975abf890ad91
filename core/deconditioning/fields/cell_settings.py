"""How coarse cells are formed, matched and withheld: the settings of a problem that a page or a command offers."""

from deconditioning.settings.setting import Choice, Integer, Linear, Switch
from deconditioning.settings.settings import Settings


class CellSettings(Settings):
    """The settings of a `DownscalingSpec` that do not depend on the fields; it says what they do."""

    rows = Integer("Rows per cell", 9, low=1, high=200, least=1, typed=True, about="size of a coarse cell in pixels")
    columns = Integer("Columns per cell", 9, low=1, high=200, least=1, typed=True)
    withhold = Linear(
        "Hidden cells", 0.5, low=0.0, high=0.9, step=0.05,
        about="fraction of the cells whose target is withheld for scoring",
        plain="How many cells are hidden to test the map",
        plain_help="The model does not see their coarse values; they are used only to score it.",
    )  # fmt: skip
    matching = Choice("Matching", "auto", widget="menu", address="match",
                      options={"auto": "auto", "direct": "direct", "indirect": "indirect"},
                      about="indirect if there are mediators")  # fmt: skip
    coordinates = Switch("Add coordinates to covariates and mediators", True, address="coords")
    reweigh = Switch(
        "Weight cells by the targets' mediators", False,
        about="weight cells by how common their mediators are among the targets",
        help="Gives a cell more weight in the regression on mediators if its mediator values are common among the "
        "targets. 'Assumptions of the map' shows how much the two sets of mediators differ. This helps if the kernel "
        "of the mediators is too smooth. It hurts if the kernel is learned and few cells carry most of the weight "
        "(docs/one_dimension.md).",
    )  # fmt: skip
    seed = Integer("Seed", 0, low=0, high=9999, typed=True, about="seed of the withheld cells and of learning")

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of a cell, in pixels."""
        return self.rows, self.columns
