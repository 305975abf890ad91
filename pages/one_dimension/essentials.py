"""The essential controls of page One dimension: at most four of a view."""

from deconditioning.studies.one_dimension.settings import BayesSettings, RecoverSettings, TripSettings
from pages.kit.controls.essential import Essential
from pages.kit.controls.settings import essentials

ESSENTIALS = {
    "o-view": Essential("What to look at", "Three ways to use the same two data sets."),
    **essentials(RecoverSettings, TripSettings, BayesSettings),
}
