"""The lesson of 45 minutes, as docs/teaching.md tells it and the handout prints it."""

from dataclasses import dataclass

#: What a student can say afterwards: a title and the answer.
ANSWERS = (
    (
        "What deconditioning does",
        "Many fine fields have the same coarse averages. Deconditioning finds the likely ones, which also agree with "
        "what is known about the field: how smooth it is and which covariates shape it. It also states its "
        "uncertainty.",
    ),
    (
        "What a mediator is for",
        "Two tables without common rows can be linked by a third quantity that both contain.",
    ),
    (
        "When to distrust the map",
        "When the covariates explain little of the variation inside the cells; when the intervals, tested where the "
        "truth is known, do not contain their share of it; and when the test one scale up fails.",
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
        "Most guesses are too small: an average hides the extremes. Larger cells keep a smaller share of the "
        "variation.",
    ),
    Part(
        4, "/story?step=2", "",
        "Which of the three curves is real? Vote by show of hands.",
        "There is no majority: all three have the same averages. This is why a prior is needed.",
    ),
    Part(
        8, "/story?step=3", "own devices",
        "Everybody looks for the length that makes the averages most probable.",
        "With too short a length the curve bends everywhere; with too long a length it cannot follow the data. The "
        "evidence finds a good length without the truth.",
    ),
    Part(
        13, "/story?step=4", "",
        "How much does knowing the mountains reduce the error?",
        "With and without mountains the curve returns the cell averages; inside the cells the difference is large.",
    ),
    Part(
        17, "/story?step=5", "",
        "No row has both the input and the outcome. How can the function still be found? Move the slider.",
        '"Through the column that both tables have": the mediator. Let a student say it before you do.',
    ),
    Part(
        22, "/story?step=6", "",
        "How much is recovered from three averages? From twelve?",
        "No method can recover what no average contains.",
    ),
    Part(
        25, "/story?step=7", "",
        "Dissolve the blocks. What must stay true?",
        "The average over every cell is still its value: the check stays green.",
    ),
    Part(
        28, "/story?step=8", "then /story?step=9",
        "Would you trust this map? How could you tell without the truth?",
        "Intervals can be tested where a truth is known. Near the ground the signs turn amber.",
    ),
    Part(
        33, "/exercises", "in pairs",
        "Exercises 1 and 11, the quick ones 2, 6 and 12.",
        "The page itself gives the tick. A band that is too narrow is wrong, and so is one that is too wide.",
    ),
    Part(42, "handout", "", "Write down the three answers.", "Compare with the list above."),
)  # fmt: skip
