"""What a file, an address or a run says is never Markdown: every text of every page that shows it, and the code."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.core.engine.made import write_run
from tests.pages import hostile
from tests.pages.conftest import FEW_CELLS
from tests.pages.reading import elements
from tests.pages.visitor_files import downscaled, offered

ROOT = Path(__file__).resolve().parents[2]
#: Fields of an element that Streamlit shows as they are, or shows nobody.
LITERAL = ("id", "key", "options", "default", "value", "raw_values", "set_value", "url", "form_id", "query_param_key",
           "formatted_options", "page_script_hash", "page", "file_type", "raw_value")  # fmt: skip
MARKDOWN = re.compile(r"(?<!\\)(\!\[p\]|\[p\]\(|\[l\]\(|<img|\$x\^2\$|\$n\^2\$|:red\[|http://)")
CODE = re.compile(r"(?<!\\)`[^`]*`")
HTML = re.compile(r"<(img|a)\b")


def texts(node: Any) -> Iterator[str]:
    """Every text in an element that Streamlit may read as Markdown."""
    for field, value in node.ListFields():
        if field.name not in LITERAL:
            for item in value if field.is_repeated else [value]:
                yield from [item] if isinstance(item, str) else texts(item) if hasattr(item, "ListFields") else []


def drawn(value: Any) -> Iterator[str]:
    """Every text that plotly draws in a figure."""
    if isinstance(value, dict):
        yield from (text for name, inner in value.items() if name != "meta" for text in drawn(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in drawn(inner))
    elif isinstance(value, str):
        yield value


def not_escaped(page: AppTest) -> list[str]:
    """Texts with a mark that a browser would not show as it is."""
    found = []
    for proto in elements(page._tree):
        kind = proto.DESCRIPTOR.name
        if kind == "Html":
            found += [proto.body] if HTML.search(proto.body) else []
        elif kind == "BidiComponent":
            figure = json.loads(proto.json).get("figure") if proto.json else None
            found += [text for text in drawn(json.loads(figure)) if HTML.search(text)] if figure else []
        elif kind not in ("Arrow", "ArrowData", "Code"):
            found += [f"{kind}: {text}" for text in texts(proto) if MARKDOWN.search(CODE.sub("", text))]
    return [text[:300] for text in found]


def complaints(page: AppTest) -> list[str]:
    return [error.value for error in (*page.error, *page.exception)]


def test_downscaling(open_page) -> None:
    data = hostile.fields()  # before the page imports in its background what writes a file
    page = open_page("downscaling", **FEW_CELLS)
    downscaled(page, (f"{hostile.HOSTILE}.nc", data))
    assert complaints(page) == [] and page.selectbox(key="data").value.startswith("upload:")
    assert not_escaped(page) == []
    assert any("http" in option for option in page.multiselect(key="cov").options)
    page.number_input(key="rows").set_value(200).run()
    assert complaints(page) and not_escaped(page) == []
    offered(page, (f"{hostile.HOSTILE}.nc", b"no file"))
    assert complaints(page) and not_escaped(page) == []


def test_filtering(open_page) -> None:
    page = open_page("filtering")
    page.selectbox(key="f-system").set_value("series").run()
    page.file_uploader(key="f-file").set_value([(f"{hostile.HOSTILE}.csv", hostile.series(), "text/csv")]).run()
    assert complaints(page) == [] and not_escaped(page) == []
    page.multiselect[1].set_value([]).run()
    assert complaints(page) and not_escaped(page) == []
    page.file_uploader(key="f-file").set_value([(f"{hostile.HOSTILE}.csv", b"", "text/csv")]).run()
    assert complaints(page) and not_escaped(page) == []


def test_likelihood_free(open_page) -> None:
    page = open_page("likelihood_free")
    page.selectbox(key="lf-problem").set_value("table").run()
    page.file_uploader(key="lf-table").set_value([(f"{hostile.HOSTILE}.csv", hostile.simulations(), "")]).run()
    assert complaints(page) == [] and not_escaped(page) == []
    page.segmented_control(key="lf-prior").set_value("normal").run()
    assert complaints(page) == [] and not_escaped(page) == []
    page.multiselect[0].set_value([]).run()
    assert complaints(page) and not_escaped(page) == []


def test_distribution_regression(open_page) -> None:
    page = open_page("distribution_regression")
    page.segmented_control(key="d-data").set_value("table").run()
    page.file_uploader(key="d-file").set_value([(f"{hostile.HOSTILE}.csv", hostile.measures(), "")]).run()
    assert complaints(page) == [] and not_escaped(page) == []
    page.selectbox(key=next(box.key for box in page.selectbox if box.key.startswith("d-value-"))).select_index(0).run()
    assert complaints(page) and not_escaped(page) == []


def test_runs(open_page, runs_folder: Path) -> None:
    spec = {"settings": {"model": hostile.HOSTILE, hostile.HOSTILE: hostile.HOSTILE}, "title": hostile.HOSTILE}
    said = {"units": hostile.HOSTILE, "warnings": [hostile.HOSTILE], "notes": [hostile.HOSTILE],
            "scores": {hostile.HOSTILE: {hostile.HOSTILE: 1.0, "rmse": 2.0}}}  # fmt: skip
    row = {"step": 1, hostile.HOSTILE: 1.0, "stage": hostile.HOSTILE, "kernel": {hostile.HOSTILE: 2.0}}
    for index, state in enumerate(("done", "failed", "interrupted")):
        status = {"status": state, "message": hostile.HOSTILE}
        write_run(runs_folder, f"20260101-000000-0000000{index}", spec=spec, status=status, result=said,
                  trace=2 * (json.dumps(row) + "\n"), files={"a $x^2$ :red[x].txt": b"a"})  # fmt: skip
    page = open_page("runs")
    page.query_params["with"] = hostile.HOSTILE
    for run_id in page.selectbox(key="box-run").options:
        page.selectbox(key="box-run").set_value(run_id).run()
        assert not page.exception and len(page.subheader) == 1 and not_escaped(page) == []


OUTSIDE = {"units", "long_name", "message", "trouble", "source", "outcome_name", "covariate_names", "covariates",
           "mediators", "mediator_columns", "state_names", "observation_names", "licence", "refused"}  # fmt: skip
NAMES = {"error", "warning", "trouble", "file.name"}
SINKS = {"markdown", "caption", "error", "warning", "info", "success", "toast", "title", "header", "subheader", "badge",
         "metric", "progress", "expander", "popover", "tabs", "button", "download_button", "spinner", "write",
         "toggle", "checkbox", "slider", "number_input", "page_link"}  # fmt: skip
SAFE = {"plain", "sentence_of", "escape", "literal", "refusal"}


def unescaped(node: ast.AST) -> Iterator[str]:
    """Words of others inside an expression, outside a call that escapes them, that measures or that formats numbers."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAFE | {"len", "sum", "int"}:
        return
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        return
    attribute = isinstance(node, ast.Attribute) and node.attr in OUTSIDE
    if attribute or (isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in NAMES):
        yield ast.unparse(node)
    shown = (node.body, node.orelse) if isinstance(node, ast.IfExp) else ast.iter_child_nodes(node)
    for child in shown:
        yield from unescaped(child)


def faults(source: str) -> list[str]:
    """Texts of Streamlit's that take words of others as Markdown."""
    found = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in SINKS:
            if not isinstance(call.func, ast.IfExp):  # (st.error if … else st.markdown)(…)
                continue
        shown = [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("help", "text", "label"))]
        found += [f"line {call.lineno}: {name}" for argument in shown for name in unescaped(argument)]
    return found


@pytest.mark.parametrize("path", sorted(ROOT.glob("pages/**/*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_hands_words_of_others_to_markdown(path: Path) -> None:
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "st.error(str(error))",
        "st.caption(f'{file.name}: {error}')",
        "st.markdown(f'in {problem.units}')",
        "(st.error if bad else st.markdown)(run.message)",
        "column.number_input('x', help=f'{table.source}')",
    ],
)
def test_the_rule_can_be_broken(line: str) -> None:
    assert faults(line)


def test_a_printed_map_reads_no_mathematics() -> None:
    import numpy as np

    from deconditioning.figures.map_panel import MapScale, Panel
    from deconditioning.figures.printed.publication import publication_figure
    from tests.core.fields.samples import fields, region

    grid = fields(region(6, 8)).grid
    scale = MapScale("cost $x^$", "K $y_$", "sequential", 0.0, 1.0)
    panel = Panel("mean", "of $x_$", np.zeros(grid.shape), grid, scale)
    assert publication_figure([panel], grid, heading="$h^$", caption="from $z^$ to $", dpi=40).startswith(b"\x89PNG")
