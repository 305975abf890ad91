"""Page Benchmarks: stored tables on opening, with the command that made them."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def test_it_opens_on_the_stored_table(runs_folder: Path):
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    page.switch_page(str(ROOT / "pages" / "benchmarks.py")).run()
    assert not page.exception and page.error == []
    assert page.subheader[0].value == "Speed and memory"
    said = " ".join(block.value for block in page.caption)
    assert "made by `python -m core benchmark downscaling" in said
    table = page.dataframe[0].value
    assert {"Model", "RMSE", "SSIM", "CRPS", "In 95 %"} <= set(table.columns)
    assert {"Shrinkage CMP", "Variational CMP", "VBAgg", "Bicubic"} <= set(table["Model"])
