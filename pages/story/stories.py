"""The stories by name, each with its steps in order."""

from pages.story import bayes, distributions, fields, link, maps, mediator, period, simulators
from pages.story.step import Step

STORIES: dict[str, tuple[Step, ...]] = {
    "deconditioning": (*fields.STEPS, *mediator.STEPS, *link.STEPS, *maps.STEPS, *period.STEPS),
    "bayes": bayes.STEPS,
    "simulators": simulators.STEPS,
    "distributions": distributions.STEPS,
}
FIRST = next(iter(STORIES))
MOST = max(map(len, STORIES.values()))


def step_key(about: str, at: int) -> str:
    """The name of a step in the address and in the session."""
    return f"{about if about != FIRST else 's'}{at}"
