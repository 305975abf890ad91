"""``clustered-regression``, and few features of ``distribution-regression``: rows, settings, refusals."""


def test_rows_of_every_way_distance_and_seed(command) -> None:
    size = ("--subjects", 20, "--measures", 10, "--clusters", 2)
    answer = command("clustered-regression", *size, "--apart", 0, 0.3, "--seeds", "0-1")
    assert answer.code == 0, answer.err
    found = answer.document
    assert len(found["results"]) == 3 * 2 * 2 and found["settings"]["apart"] == [0, 0.3]
    assert {row["apart"] for row in found["results"]} == {0, 0.3} and "exchangeable, δ = 0.3" in answer.err
    refused = command("clustered-regression", "--subjects", 20, "--clusters", 11, "--quiet")
    assert refused.code != 0 and "give 2 to 10" in refused.err


def test_few_features_on_the_stand_in(command) -> None:
    """A lengthscale by the range of the measures, no covariates, both components."""
    how = ("--rank", 3, "--repeats", 2, "--lengthscale", 0.5, "--of-range", "--covariate", "--quiet")
    answer = command("distribution-regression", "--stand-in", 30, "--methods", "gpdr", "gpdr_flr", *how)
    assert answer.code == 0, answer.err
    found = answer.document
    assert [row["model"] for row in found["results"]] == ["gpdr", "gpdr_flr"]
    assert found["settings"]["covariates"] == [] and 3 < found["settings"]["lengthscale"] < 8
    refused = command("distribution-regression", "--stand-in", 30, "--methods", "bdr10", *how)
    assert refused.code != 0 and "few features" in refused.err
    missing = command("distribution-regression", "--stand-in", 30, "--covariate", "age")
    assert missing.code != 0 and "choose one of bmi" in missing.err
