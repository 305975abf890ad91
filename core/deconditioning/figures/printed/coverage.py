"""What intervals held, for print: promised and held shares on one line a level."""

from typing import Any

from deconditioning.figures.colours import VERDICTS
from deconditioning.metrics.intervals import LEVELS, Trust

TITLE = "Coverage of the intervals"


def mark_of(trust: Trust) -> str:
    """What the colour of a verdict is called in the palette (`VERDICTS`)."""
    return "good" if trust.right else "bad"


def draw_trust(axes: Any, trust: Trust, aspect: float) -> None:
    """On Matplotlib axes of that height over width: the verdict, and a line for each level, ring and dot on it."""
    colour = VERDICTS[mark_of(trust)][0]
    before, verdict = trust.sentence.rsplit(": ", 1)
    axes.set_title(TITLE, fontsize=9.5, loc="left")
    axes.set_axis_off()
    axes.set_xlim(-14, 116)
    axes.set_ylim(2.4 - max(12 * aspect, 6.6), 2.4)  # lines as far apart whatever the height
    axes.text(-14, 1.9, f"{before}:", fontsize=8, va="center")
    axes.text(-14, 1.15, verdict, fontsize=8, va="center", color=colour, weight="bold")
    for row, (level, share) in enumerate(zip(LEVELS, trust.held, strict=True)):
        axes.plot([100 * level, 100 * share], [-row, -row], color=colour, alpha=0.55, linewidth=2.2, zorder=2)
        axes.plot(100 * level, -row, "o", markersize=6.5, markerfacecolor="none", markeredgecolor="0.2", zorder=3)
        axes.plot(100 * share, -row, "o", markersize=6.5, color=colour, zorder=3)
        axes.text(-4, -row, f"{100 * level:.0f} %", fontsize=8, ha="right", va="center")
        axes.text(104, -row, f"{100 * share:.0f} %", fontsize=8, va="center", color=colour, weight="bold")
    for at in (0, 25, 50, 75, 100):
        axes.plot([at, at], [-2.5, 0.5], color="0.8", linewidth=0.6, zorder=1)
        axes.text(at, -2.95, str(at), fontsize=7.5, ha="center", va="center")
    axes.text(
        50,
        -3.7,
        ("area with the truth inside, %; ring: nominal, dot: actual"),
        fontsize=7,
        ha="center",
        va="center",
    )
