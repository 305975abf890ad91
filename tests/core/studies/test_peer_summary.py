"""The default beside other tools: ratios by hand."""

from typing import Any

import pytest

from deconditioning.studies.downscaling.peer_summary import peer_summaries


def row(model: str, case: str, rmse: float, crps: float | None = None, **more: Any) -> dict[str, Any]:
    scores = {"rmse": rmse} if crps is None else {"rmse": rmse, "crps": crps, "coverage95": 0.9}
    return {"model": model, "case": case, "seed": 0, "scores": scores, **more}


def test_ratios_are_geometric_means_over_the_fields_that_both_have() -> None:
    rows = [
        row("auto", "a", 1.0, 0.5, seconds={"cpu": 3.0}, reaggregated=1e-6), row("auto", "b", 4.0, 2.0),
        row("peer", "a", 2.0, 2.0, seconds={"cpu": 1.0}, reaggregated=0.1), row("peer", "b", 2.0, 1.0),
        row("peer", "c", 9.0, 9.0), row("bilinear", "a", 3.0), row("elsewhere", "c", 1.0, 1.0),
        {"model": "refused", "case": "a", "seed": 0, "scores": {}},
    ]  # fmt: skip
    first, peer, bilinear = peer_summaries(rows, "auto")
    assert (first.model, first.rmse_ratio, first.crps_ratio, first.better) == ("auto", 1.0, 1.0, 0)
    assert (first.cpu_s, first.reaggregated, first.coverage) == (3.0, 1e-6, 0.9)
    assert (peer.model, peer.fields, peer.better) == ("peer", 2, 1)
    assert peer.rmse_ratio == pytest.approx(1.0) and peer.crps_ratio == pytest.approx(2**0.5)
    assert bilinear.rmse_ratio == pytest.approx(3.0)
    assert (bilinear.crps_ratio, bilinear.coverage, bilinear.cpu_s) == (None, None, None)


def test_without_the_reference_there_is_nothing_to_compare_with() -> None:
    assert peer_summaries([row("peer", "a", 2.0, 2.0)], "auto") == []
