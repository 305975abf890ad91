"""The table 'Replicated?' as Markdown."""

from deconditioning.studies.replicated.claims import Claim, Replicated, Verdict

_HEAD = """# Replicated?

Every table and figure of the five sources: the claim, our result, and whether the claim holds. Numbers come from
the files of `data/benchmarks`, claims from `data/replicated.toml`. The comparisons below each claim decide: it
*holds* if all of them hold, and it *holds partly* if only some hold or if a part of it was not tested. If the data of
a text are not available, the claim was tested on other data only, which do not decide it. Page **Replicated?**
shows the same. This file is written by

    deconditioning replicated --markdown docs/replicated.md
"""


def to_markdown(replicated: Replicated) -> str:
    """The whole document: counts, then one list a text."""
    lines = [_HEAD, f"| text | {' | '.join(Verdict)} |", f"|---|{'---|' * len(Verdict)}"]
    for text in (*replicated.texts, None):
        counts = replicated.counts(text)
        name = "**all**" if text is None else replicated.texts[text]
        lines.append(f"| {name} | {' | '.join(str(counts[verdict]) for verdict in Verdict)} |")
    for text, title in replicated.texts.items():
        lines += ["", f"## {title}"]
        for claim in replicated.claims:
            if claim.text == text:
                lines += ["", *_entry(claim)]
    return "\n".join(lines) + "\n"


def _entry(claim: Claim) -> list[str]:
    """A heading with the verdict, and what stands behind it."""
    lines = [f"### {claim.item}: {claim.verdict}", "", f"- **Claim.** {claim.claim}", f"- **Ours.** {claim.ours}"]
    if claim.answers:
        requested = "; ".join(f"{sentence}: {'yes' if holds else 'no'}" for sentence, holds in claim.answers)
        lines.append(f"- **Comparisons.** {requested}.")
    if claim.data:
        lines.append(f"- **Not available.** {claim.data}.")
    if claim.missing:
        lines.append(f"- **Not tested.** {claim.missing}.")
    if claim.why:
        lines.append(f"- **Why.** {claim.why}")
    made = [f"`data/benchmarks/{file}.json` (`{command}`)" for file, command in claim.sources]
    return [*lines, f"- **Where.** {'; '.join([f'`pages/{claim.page}`', *made])}"]
