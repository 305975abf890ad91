"""The lesson of 45 minutes, as docs/teaching.md tells it and the handout prints it."""

from dataclasses import dataclass

#: What a student can say afterwards: a title and the answer.
ANSWERS = (
    (
        "What deconditioning does",
        "Many fine fields have the same coarse averages. Deconditioning gives back the likely ones: those that also "
        "fit what is known of the field, how smooth it is and what shapes it, and it says how sure it is.",
    ),
    (
        "What a mediator is for",
        "Two tables without common rows can be linked by a third quantity that both contain.",
    ),
    (
        "When to distrust the map",
        "When what is known finely explains little of what happens inside the cells, when the intervals do not hold "
        "what they promise wherever that can be checked, and when a check on larger cells already fails.",
    ),
)


@dataclass(frozen=True)
class Part:
    """From ``minute`` on: the ``address`` that is opened and how, what the class is asked, what is to be expected."""

    minute: int
    address: str
    how: str
    ask: str
    expect: str

    @property
    def opened(self) -> str:
        """As the table of docs/teaching.md has it."""
        return ", ".join(filter(None, (self.address, self.how)))


LESSON = (
    Part(
        0, "/story?step=1", "projector",
        "How far can the real field stray from its cell's average? All guess, then Reveal.",
        "Guesses are too small: an average hides its extremes. Larger cells keep a smaller share of the variation.",
    ),
    Part(
        4, "/story?step=2", "",
        "Which of the three curves is real? Vote by hands.",
        "No majority: all three return the same averages. This is why a prior is needed.",
    ),
    Part(
        8, "/story?step=3", "own devices",
        "Everybody finds the length that makes the averages most probable.",
        "Too short a length bends everywhere, too long a one cannot follow; the evidence finds one without any truth.",
    ),
    Part(
        13, "/story?step=4", "",
        "By how much does knowing the mountains lower the error?",
        "The cells are returned with and without mountains; inside them the difference is large.",
    ),
    Part(
        17, "/story?step=5", "",
        "No row has both input and outcome. How can one still find the function? Move the slider.",
        '"Through what both know": the mediator. Let a student say it before you do.',
    ),
    Part(
        22, "/story?step=6", "",
        "What comes back from three averages? From twelve?",
        "What an average never saw cannot return, whatever the method.",
    ),
    Part(
        25, "/story?step=7", "",
        "Dissolve the blocks. What must stay true?",
        "Every cell still averages to its value: the check stays green.",
    ),
    Part(
        28, "/story?step=8", "then /story?step=9",
        "Would you trust this map? How would you know, if nobody had the truth?",
        "Intervals can be held to their word where a truth is known; near the ground the signs turn amber.",
    ),
    Part(
        33, "/exercises", "in pairs",
        "Exercises 1 and 11, the quick ones 2, 6 and 12.",
        "A tick from the page itself. Too narrow and too wide bands are both wrong.",
    ),
    Part(42, "handout", "", "Write down the three answers.", "Compare with the list above."),
)  # fmt: skip
