"""The table 'Replicated?' as Markdown."""

from deconditioning.studies.replicated.claims import VERDICTS, Claim, Replicated

HEAD = """# Replicated?

Every table and figure of the five texts, what it claims, what we measured, and whether that bears the claim out.
Numbers come from the files of `data/benchmarks`, claims from `data/replicated.toml`; a verdict follows from comparisons
of the numbers, written below each claim: it *holds* where all of them do, *partly* where some do or part of the claim
was not tried. Where the text's own data are not to be had, the claim was tried *only on other data*, whatever these say
of it. Page **Replicated?** shows the same. This file is written by

    deconditioning replicated --markdown docs/replicated.md
"""


def to_markdown(found: Replicated) -> str:
    """The whole document: counts, then one list a text."""
    lines = [HEAD, f"| text | {' | '.join(VERDICTS)} |", f"|---|{'---|' * len(VERDICTS)}"]
    for text in (*found.texts, None):
        counts = found.counts(text)
        name = "**all**" if text is None else found.texts[text]
        lines.append(f"| {name} | {' | '.join(str(counts[verdict]) for verdict in VERDICTS)} |")
    for text, title in found.texts.items():
        lines += ["", f"## {title}"]
        for claim in found.claims:
            if claim.text == text:
                lines += ["", *_entry(claim)]
    return "\n".join(lines) + "\n"


def _entry(claim: Claim) -> list[str]:
    """A heading with the verdict, and what stands behind it."""
    lines = [f"### {claim.item}: {claim.verdict}", "", f"- **Claim.** {claim.claim}", f"- **Ours.** {claim.ours}"]
    if claim.answers:
        asked = "; ".join(f"{says}: {'yes' if holds else 'no'}" for says, holds in claim.answers)
        lines.append(f"- **Asked.** {asked}.")
    if claim.data:
        lines.append(f"- **Not to be had.** {claim.data}.")
    if claim.missing:
        lines.append(f"- **Not tried.** {claim.missing}.")
    if claim.why:
        lines.append(f"- **Why.** {claim.why}")
    made = [f"`data/benchmarks/{file}.json` (`{command}`)" for file, command in claim.sources]
    return [*lines, f"- **Where.** {'; '.join([f'`pages/{claim.page}`', *made])}"]
