"""Members of an ensemble together, against each member by itself."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning import downscale
from deconditioning.cli.program import main
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.peers.alone import downscale_by_method
from deconditioning.period.archive.peers.fitted import QUANTILES
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.ensemble import (
    Ensemble,
    downscale_ensemble,
    ensemble_dataset,
    further_member,
    member_dimension,
    members_of,
    predictors_of_members,
    read_ensemble,
)
from deconditioning.period.run import downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws, period_statistics, statistics_of_members
from tests.core.period.made import SPEC, UNLEARNED, made_dataset

MEMBERS = 3


def of_members(times: int, changed: float = 1.0, dim: str = "realization") -> xr.Dataset:
    """``t`` (realization, time, lat, lon): the first member as made, the others with other winds."""
    dataset = made_dataset(times)
    shifted = [
        dataset["t"] + changed * n * (dataset["wind"].roll(time=n, roll_coords=False) - 1) for n in range(MEMBERS)
    ]
    along = xr.concat(shifted, dim).assign_attrs(dataset["t"].attrs)
    return dataset.drop_vars(["t", "wind"]).assign(t=along.assign_coords({dim: [2, 5, 9][:MEMBERS]}))


def read(dataset: xr.Dataset, words: str = "all") -> Ensemble:
    fields = fields_from_dataset(dataset)
    result = read_ensemble(Source("x"), SPEC, lambda key: fields, [words])
    assert result is not None
    return result


def one(dataset: xr.Dataset, member: int, words: str = "all") -> Series:
    fields = fields_from_dataset(dataset.isel(realization=member, drop=True))
    return read_series(Source("x"), SPEC, lambda key: fields, [words])


def test_members_have_the_means_and_sds_that_each_field_has_alone_with_the_scale_of_all() -> None:
    dataset = of_members(4)
    ensemble = read(dataset)
    assert (len(ensemble), ensemble.dim, ensemble.labels) == (3, "realization", ("2", "5", "9"))
    members = downscale_ensemble(ensemble, UNLEARNED).members
    problems = [
        [
            make_problem(fields_from_dataset(dataset.isel(realization=n, time=time, drop=True)), SPEC)
            for time in range(4)
        ]
        for n in range(MEMBERS)
    ]
    cells = np.array([[each.coarse_truth.flat[each.target_cell] for each in row] for row in problems])
    scale = float(np.sqrt(cells.var(axis=2).mean()))
    for n, row in enumerate(problems):
        assert members[n].series.labels == ensemble.series[n].labels and len(members[n].series) == 4
        for time, problem in enumerate(row):
            shared = Scale(float(cells[n, time].mean()), scale)
            targets = torch.as_tensor(shared.forward(cells[n, time]))
            given = problem.__class__(**{**vars(problem), "target_scale": shared})
            data = problem.data.__class__(**{**vars(problem.data), "targets": targets})
            moments = predict(members[n].spec, data, given)
            np.testing.assert_allclose(members[n].means[time], given.physical_mean(moments.mean), rtol=0, atol=1e-8)
            sd = members[n].amplitude[time] * given.physical_sd(moments.sd)
            np.testing.assert_allclose(members[n].sd(time), sd, rtol=0, atol=1e-8)
            assert np.array_equal(members[n].series.fine(time), problem.truth)  # type: ignore[misc]


def test_equal_members_are_the_single_series_with_its_draws() -> None:
    """Also their errors last as long: members at the same time are not taken for neighbours in time."""
    dataset = of_members(12, changed=0.0)
    members = downscale_ensemble(read(dataset), UNLEARNED).members
    alone = downscale_series(one(dataset, 0), UNLEARNED)
    for member in members:
        np.testing.assert_allclose(member.means, alone.means, rtol=0, atol=1e-9)
        np.testing.assert_allclose(member.evidence, alone.evidence, rtol=0, atol=1e-8)
        assert member.residuals is not None and alone.residuals is not None
        assert member.residuals.correlation == alone.residuals.correlation
        for (draw, _), (expected, _) in zip(period_draws(member, 2, 3), period_draws(alone, 2, 3), strict=True):
            np.testing.assert_allclose(draw, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("link", [False, True])
def test_covariates_that_change_with_time_are_those_of_each_member(link: bool) -> None:
    """Also in draws: the same as by itself, and of linked times with the same distribution."""
    spec = replace(SPEC, covariates=("wind",))
    dataset = of_members(9, changed=0.0).assign(wind=made_dataset(9)["wind"])
    fields = [fields_from_dataset(each) for each in (dataset, dataset.isel(realization=0, drop=True))]
    ensemble = read_ensemble(Source("x"), spec, lambda key: fields[0], ["all"])
    assert ensemble is not None
    members = members_of(downscale_series(ensemble.pooled, UNLEARNED, link=link))
    alone = downscale_series(read_series(Source("x"), spec, lambda key: fields[1], ["all"]), UNLEARNED, link=link)
    for member in members:
        np.testing.assert_allclose(member.means, alone.means, rtol=0, atol=1e-8)
        np.testing.assert_allclose(member.sd(4), alone.sd(4), rtol=0, atol=1e-8)
        (draw, fixed), (expected, own) = next(period_draws(member, 2, 3)), next(period_draws(alone, 2, 3))
        assert draw.shape == expected.shape and fixed is not None
        if not link:
            np.testing.assert_allclose(draw, expected, rtol=0, atol=1e-6)
            np.testing.assert_allclose(fixed, own, rtol=0, atol=1e-6)


def test_with_an_archive_each_member_is_as_by_itself() -> None:
    dataset, archive = of_members(60), fields_from_dataset(made_dataset(60))
    ensemble = read(dataset, "#48/#59")
    training = read_training(ensemble.pooled, archive)
    assert len(training) == 48
    result = downscale_ensemble(ensemble, UNLEARNED, training=training)
    for n, member in enumerate(result.members):
        series = one(dataset, n, "#48/#59")
        alone = downscale_with_archive(series, read_training(series, archive), UNLEARNED)
        np.testing.assert_allclose(member.means, alone.means, rtol=0, atol=1e-8)
        for time in (0, 7):
            np.testing.assert_allclose(member.sd(time), alone.sd(time), rtol=0, atol=1e-8)
        for name in set(alone.peers) - {QUANTILES}:  # whose quantiles are those of all members
            peer = alone.peers[name]
            np.testing.assert_allclose(member.peers[name].means, peer.means, rtol=0, atol=1e-8)
        (draw, _), (expected, _) = next(period_draws(member, 1, 3)), next(period_draws(alone, 1, 3))
        np.testing.assert_allclose(draw, expected, rtol=0, atol=1e-7)


def test_behind_a_warp_each_member_is_as_by_itself() -> None:
    def positive(dataset: xr.Dataset) -> xr.Dataset:
        return dataset.assign(t=np.maximum((dataset["t"] - 279) / 3, 0).assign_attrs(units="mm"))

    dataset, archive = positive(of_members(60)), fields_from_dataset(positive(made_dataset(60)))
    settings = UNLEARNED.replace(warp="box-cox")
    ensemble = read(dataset, "#56/#59")
    member = downscale_ensemble(ensemble, settings, training=read_training(ensemble.pooled, archive)).members[2]
    series = one(dataset, 2, "#56/#59")
    alone = downscale_with_archive(series, read_training(series, archive), settings)
    assert member.behind is not None and alone.behind is not None
    np.testing.assert_allclose(member.means, alone.means, rtol=0, atol=1e-7)
    for time in range(4):
        levels = [each.predictive(time).quantile(0.9) for each in (member, alone)]
        np.testing.assert_allclose(*levels, rtol=0, atol=1e-7)
    (draw, _), (expected, _) = next(period_draws(member, 1, 3)), next(period_draws(alone, 1, 3))
    np.testing.assert_allclose(draw, expected, rtol=0, atol=1e-6)


def test_the_model_is_known_by_all_members_in_turn() -> None:
    """The coarse values of the training period, by which a driving model's bias is removed, are of every member."""
    ensemble = read(of_members(30), "#24/#29")
    for index in range(5):
        expected = ensemble.series[index % 3].file.coarse(index)
        assert np.array_equal(ensemble.pooled.file.coarse(index), expected, equal_nan=True)


def test_a_further_member_has_the_variance_of_members_drawn_at_random() -> None:
    """Against a million values: a member at random, then its Gaussian; spread with E − 1 as of a sample."""
    ensemble = read(of_members(4))
    members = downscale_ensemble(ensemble, UNLEARNED).members
    statistics = [period_statistics(each, ["mean", "month"], 20, 0) for each in members]
    dataset = ensemble_dataset(ensemble, members, statistics)
    assert (
        dataset["mean"].dims == ("realization", "time", "lat", "lon")
        and dataset["orog" if "orog" in dataset else "lat"].ndim
    )
    assert dataset["realization"].values.tolist() == [2, 5, 9]
    assert dataset["ensemble_mean"].dims == dataset["ensemble_sd"].dims == ("time", "lat", "lon")
    rng, at = np.random.default_rng(0), {"time": 2, "lat": 3, "lon": 7}
    mean, sd = (dataset[name].isel(at).values for name in ("mean", "sd"))
    chosen = rng.integers(0, 3, 1_000_000)
    values = mean[chosen] + sd[chosen] * rng.normal(size=len(chosen))
    spread = float(np.sqrt(((mean - mean.mean()) ** 2).sum() / 2))
    assert float(dataset["ensemble_spread"].isel(at)) == pytest.approx(spread, rel=1e-9)
    assert float(dataset["ensemble_mean"].isel(at)) == pytest.approx(values.mean(), abs=0.02)
    stated = (
        float(dataset["ensemble_sd"].isel(at)) ** 2 - spread**2 / 3
    )  # a drawn member is one of these, not a further one
    assert stated == pytest.approx(values.var(), rel=0.01)
    months = dataset["ensemble_month_mean"]
    np.testing.assert_allclose(months, np.mean([each[1].mean for each in statistics], axis=0))
    between = np.std([each[0].mean[0] for each in statistics], axis=0, ddof=1)
    within = np.mean([each[0].sd[0] ** 2 for each in statistics], axis=0)
    np.testing.assert_allclose(dataset["ensemble_period_mean_spread"], between)
    np.testing.assert_allclose(dataset["ensemble_period_mean_sd"], np.sqrt(within + between**2))


def test_a_further_member_as_a_result_is_that_of_the_dataset() -> None:
    """Which xarray computes from the members' own files; with an archive, whose sd depends on the value."""
    dataset, archive = of_members(60), fields_from_dataset(made_dataset(60))
    ensemble = read(dataset, "#56/#59")
    result = downscale_ensemble(ensemble, UNLEARNED, training=read_training(ensemble.pooled, archive))
    further, file = further_member(ensemble, result), ensemble_dataset(ensemble, result.members)
    assert len(further.series) == 4 and further.series.fine is None and further.residuals is None
    for time in range(4):
        np.testing.assert_allclose(further.means[time], file["ensemble_mean"][time], rtol=0, atol=1e-3)
        np.testing.assert_allclose(further.sd(time), file["ensemble_sd"][time], rtol=1e-5)
        assert np.array_equal(further.predictive(time).sd, further.sd(time))
    np.testing.assert_allclose(further.series.coarse, sum(each.coarse for each in ensemble.series) / 3)
    at = further.series.problem.target_cell
    np.testing.assert_allclose(further.series.level, further.series.coarse[:, at].mean(1))


def test_a_selected_member_and_other_dimensions_are_no_ensemble() -> None:
    fields = fields_from_dataset(of_members(3))
    assert member_dimension(fields, SPEC) == "realization"
    for key in ("realization", "t:realization"):
        assert member_dimension(fields, DownscalingSpec(**{**vars(SPEC), "select": {key: "5"}})) is None
    assert member_dimension(fields_from_dataset(of_members(3, dim="member")), SPEC) == "member"
    assert member_dimension(fields_from_dataset(of_members(3, dim="level")), SPEC) is None
    named = of_members(3, dim="run")
    named["run"].attrs["standard_name"] = "realization"
    assert member_dimension(fields_from_dataset(named), SPEC) == "run"
    assert member_dimension(fields_from_dataset(made_dataset(3)), SPEC) is None


def test_members_of_other_times_or_cells_are_refused() -> None:
    dataset = of_members(4)
    dataset["t"][1, 2] = np.nan
    with pytest.raises(InputError, match="members 2 and 5 of `realization` have values at different times or cells"):
        read(dataset)


def test_command_and_function_downscale_all_members_of_a_coarse_file(tmp_path: Path, capsys) -> None:
    dataset = of_members(6)
    coarse = dataset[["t"]].coarsen(lat=4, lon=4).mean().isel(time=slice(0, 5))
    fine = dataset[["orog"]]
    for name, each in (("coarse.nc", coarse), ("fine.nc", fine)):
        each.to_netcdf(tmp_path / name, engine="h5netcdf")
    words = ["downscale", tmp_path / "fine.nc", "--coarse", tmp_path / "coarse.nc", "--target", "t"]
    words += ["--covariates", "orog", "--model", "area_to_point_gp", "--no-learn", "--times", "all"]
    out = ["--output", tmp_path / "out.nc", "--statistics", "mean", "--realizations", 4]
    assert main([*map(str, words), *map(str, out)]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["results"][0]["times"] == 5
    assert "all 3 members of `realization` are downscaled" in found.err
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert dict(result["mean"].sizes) == {"realization": 3, "time": 5, "lat": 16, "lon": 20}
        assert {"ensemble_mean", "ensemble_period_mean_spread", "period_mean_low"} <= set(result)
        assert result["realization"].attrs["standard_name"] == "realization"
        function = downscale(coarse, fine, model="area_to_point_gp", learn=False, times="all", covariate_names=["orog"])
        np.testing.assert_allclose(function["mean"], result["mean"], atol=1e-8)
        for option in ("--select", "--coarse-select"):
            chosen = [option, "realization=5", "--output", tmp_path / "one.nc", "--quiet"]
            assert main([*map(str, words), *map(str, chosen)]) == 0
            with xr.open_dataset(tmp_path / "one.nc") as single:
                assert single["mean"].dims == ("time", "lat", "lon")
                assert float(np.abs(single["mean"] - result["mean"].sel(realization=5)).max()) < 0.2
    capsys.readouterr()
    true = dataset["t"].isel(realization=1, time=slice(0, 5), drop=True).to_dataset(name="t").sortby("lat")
    true.to_netcdf(tmp_path / "true.nc", engine="h5netcdf")
    scores = {}
    for name, chosen in (("all", []), ("5", ["--member", "5"]), ("one", [])):
        file = tmp_path / ("one.nc" if name == "one" else "out.nc")
        assert main(["verify", str(file), "--truth", str(tmp_path / "true.nc"), *chosen]) == 0
        scores[name] = json.loads(capsys.readouterr().out)["results"][0]["scores"]
    assert scores["5"]["crps"] == pytest.approx(scores["one"]["crps"], rel=0.05)
    assert scores["all"]["crps"] > scores["5"]["crps"] and scores["all"]["coverage95"] > 0.9
    assert main(["verify", str(tmp_path / "out.nc"), "--member", "3"]) != 0
    assert "`realization` has no member 3: choose one of 2, 5, 9." in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "one.nc"), "--member", "3"]) != 0
    assert "the prediction has none: leave it out" in capsys.readouterr().err
    assert main([*map(str, words), "--archive", str(tmp_path / "fine.nc"), "--upper", "t"]) != 0
    assert "`--upper` cannot be used with the 3 members of `realization`" in capsys.readouterr().err
    with pytest.raises(InputError, match="`upper` cannot be used"):
        downscale(coarse, fine, times="all", covariate_names=["orog"], archive=dataset, upper="u")


def test_statistics_of_members_are_those_of_a_further_one() -> None:
    """Mean, sd and spread as the file has them; the interval is that of draws of a mixture of the same variance."""
    ensemble = read(of_members(6))
    members = downscale_ensemble(ensemble, UNLEARNED).members
    words, count, pixel = ["mean", "above=280"], 40, ensemble.pooled.problem.pixel
    found = statistics_of_members(members, words, count)
    written = ensemble_dataset(ensemble, members, [period_statistics(each, words, count) for each in members])
    for statistic in found:
        name = statistic.statistic.name
        np.testing.assert_allclose(statistic.mean[0], written[f"ensemble_{name}"].values, atol=1e-9)
        np.testing.assert_allclose(statistic.sd[0], written[f"ensemble_{name}_sd"].values, atol=1e-9)
        assert statistic.truth is None and statistic.sd_if_fixed is not None
    draws = [list(period_draws(each, count, 0)) for each in members]
    values = np.array([[draw.mean(0) for draw, _ in each] for each in draws])
    mean, means = values.mean((0, 1)), values.mean(1)
    moved = values - means[:, None] + mean + np.sqrt(MEMBERS / (MEMBERS - 1)) * (means - mean)[:, None]
    low, high = (each[0].flat[pixel] for each in (found[0].low, found[0].high))
    pooled = moved.reshape(-1, len(pixel))
    inside = np.mean((low <= pooled) & (pooled <= high))
    assert inside == pytest.approx(0.9, abs=0.02)
    within = values.var(1).mean(0)
    np.testing.assert_allclose(pooled.var(0), within + means.var(0, ddof=1), rtol=1e-9)
    again = statistics_of_members(members, words, draws=draws)
    np.testing.assert_array_equal(again[1].high, found[1].high)
    with pytest.raises(InputError, match="1 draws cannot show"):
        statistics_of_members(members, words, 1)


def test_each_member_has_its_own_predictors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the mixture of all, each member is as if it were alone; a variable without members is that of all."""
    dataset, fine = of_members(60), made_dataset(60)
    winds = [fine["wind"].roll(time=n, roll_coords=False) for n in range(MEMBERS)]
    whole = dataset.assign(
        wind=xr.concat(winds, dataset["realization"]).assign_attrs(fine["wind"].attrs), other=fine["wind"]
    )
    fields = fields_from_dataset(whole)
    source, words = Source("x"), ["#48/#59"]
    ensemble = read_ensemble(source, SPEC, lambda key: fields, words)
    assert ensemble is not None
    others = predictors_of_members(source, SPEC, lambda key: fields, words, ["wind", "other"], ensemble)
    assert [len(each) for each in others] == [36, 36]
    training = read_training(ensemble.pooled, fields_from_dataset(fine), predictors=others)
    values = training.predictors.at(ensemble.pooled.labels)
    for n in range(MEMBERS):
        alone = fields_from_dataset(whole.isel(realization=n, drop=True))
        series = read_series(source, SPEC, lambda key, alone=alone: alone, words)
        read_alone = read_predictors(source, SPEC, lambda key, alone=alone: alone, words, ["wind", "other"])
        own = read_training(series, fields_from_dataset(fine), predictors=read_alone).predictors
        sd = own.later.std() / values[12 * n : 12 * n + 12].std()  # in units of the training times' sd
        assert sd == pytest.approx(1, abs=0.2) and own.later.shape == (12, 40)
        known = np.corrcoef(own.later.ravel(), values[12 * n : 12 * n + 12].ravel())[0, 1]
        assert known > 0.999
    np.testing.assert_allclose(values[:12, 20:], values[12:24, 20:], atol=1e-12)
    assert np.abs(values[:12, :20] - values[12:24, :20]).max() > 0.5
    result = downscale_ensemble(ensemble, UNLEARNED, training=training)
    assert len(result.members) == MEMBERS and np.isfinite(result.pooled.means).all()
    whole.to_netcdf(tmp_path / "w.nc")
    command = [tmp_path / "w.nc", "--target", "t", "--covariates", "orog", "--block", 4, 4, "--withhold", 0, "--times",
               "#48/#59", "--archive", tmp_path / "w.nc", "--predictors", "wind", "--no-learn", "--quiet"]  # fmt: skip
    assert main(["downscale", *map(str, command)]) == 0
    assert "Cell" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["bcsd", "qdm", "analogs"])
def test_another_method_predicts_every_member_as_its_series_alone(name: str) -> None:
    """The archive's means are the training period's coarse values, so that members share nothing else."""
    dataset, archive = of_members(60), fields_from_dataset(made_dataset(60)[["t"]])
    ensemble = read(dataset, "#48/#59")
    training = read_training(ensemble.pooled, archive, ["#0/#47"])
    result = downscale_ensemble(ensemble, UNLEARNED, training=training, other_method=name)
    means, sds = [], []
    for number, member in enumerate(result.members):
        series = one(dataset, number, "#48/#59")
        alone = downscale_by_method(series, read_training(series, archive, ["#0/#47"]), name, UNLEARNED)
        np.testing.assert_allclose(member.means, alone.means, rtol=0, atol=1e-9)
        np.testing.assert_allclose(member.sd(3), alone.sd(3), rtol=0, atol=1e-9)
        means.append(alone.means)
        sds.append(np.stack([alone.sd(time) for time in range(12)]))
    further = further_member(ensemble, result)
    np.testing.assert_allclose(further.means, np.mean(means, axis=0), atol=1e-9)
    expected = np.sqrt(np.mean(np.square(sds), axis=0) + np.var(means, axis=0, ddof=1))
    np.testing.assert_allclose(further.sd(5), expected[5], atol=1e-9)
    written = ensemble_dataset(ensemble, result.members)
    np.testing.assert_allclose(written["ensemble_sd"].values[5], expected[5], atol=1e-9)


def test_members_of_a_target_that_ends_at_zero_are_those_of_their_times() -> None:
    dataset, fine = of_members(60), made_dataset(60)[["t"]]
    for each in (dataset, fine):
        each["t"] = (each["t"] - 278).clip(0).assign_attrs(units="mm", standard_name="precipitation_amount")
    archive, ensemble = fields_from_dataset(fine), read(dataset, "#48/#59")
    training = read_training(ensemble.pooled, archive, ["#0/#47"])
    result = downscale_ensemble(ensemble, UNLEARNED.replace(warp="auto"), training=training, other_method="bcsd")
    assert result.pooled.behind is not None
    for number, member in enumerate(result.members):
        whole, own = result.pooled.predictive(12 * number + 3), member.predictive(3)
        np.testing.assert_array_equal(own.mean, whole.mean)
        (drawn,) = member.behind.draws(1, 0)
        assert drawn.shape == (12, 320) and drawn.min() >= 0
