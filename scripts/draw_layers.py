"""Draws the layers of the library from its imports, as the Mermaid graph of docs/architecture.md.

``python -m scripts.draw_layers`` writes it there; a test holds the page to the imports.
"""

import re
from pathlib import Path

from scripts.changed_tests import imported_modules, module_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
#: Small modules that everybody may import: left out, as is the command line's entry.
GROUND = frozenset(
    "bundled device errors expressions jail fill_values plain_data sandbox seccomp sweeps threads versions wording "
    "__init__ __main__".split()
)


def layer(module: str) -> str:
    """The layer of a module: the part of the library, or ``pages``."""
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "deconditioning" else "pages" if top in ("pages", "app") else ""


def imports() -> dict[str, set[str]]:
    """Layer → the layers that its files import, inside functions and for annotations too."""
    below: dict[str, set[str]] = {}
    for path in [*(ROOT / "core" / "deconditioning").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]:
        module = module_name(path.relative_to(ROOT))
        of = below.setdefault(layer(module) or "__init__", set())
        for name in imported_modules(path.read_text(encoding="utf-8"), module.rpartition(".")[0]):
            of.add(layer(name))
    kept = below.keys() - GROUND
    return {part: {other for other in others & kept if other != part} for part, others in below.items() if part in kept}


def reduced(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that do not follow from others (transitive reduction of a graph without circles)."""

    def reachable(part: str) -> set[str]:
        return below[part].union(*map(reachable, below[part]))

    return {part: others - set().union(*map(reachable, others)) for part, others in below.items()}


def mermaid() -> str:
    """The graph, from the pages down."""
    arrows = [
        f"    {part} --> {other}" for part, others in sorted(reduced(imports()).items()) for other in sorted(others)
    ]
    return "\n".join(["```mermaid", "graph TD", *arrows, "```"])


def main() -> None:
    """Write the graph into the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(r"```mermaid\n.*?```", lambda _: mermaid(), text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
