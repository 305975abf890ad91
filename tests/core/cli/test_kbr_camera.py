"""``deconditioning kbr-camera``: the document, bad input."""

import pytest

from deconditioning.cli.commands.studies import kbr_camera
from deconditioning.kernels import lanczos


def test_cameras_in_the_one_shape(command) -> None:
    answer = command("kbr-camera", "--train", 60, "--test", 5, "--noise", 0.01, 0.3, "--scale", 1, "--epsilon", 1e-4)
    assert answer.code == 0, answer.err
    found = answer.document
    models = ["kbr_gauss", "kbr_tr", "kalman_matrix", "kalman_quaternion", "nearest"]
    assert [(r["noise"], r["model"]) for r in found["results"]] == [(sd, m) for sd in (0.01, 0.3) for m in models]
    assert found["results"][0]["units"]["angle"] == "degrees" and found["settings"]["tilt"] == 20
    assert "run 0: MSE" in answer.err


@pytest.mark.parametrize(
    ("command_line", "word"),
    [
        (("--train", 5), "at least 20"),
        (("--methods", "nonsense"), "unknown"),
        (("--noise", -1), "not negative"),
        (("--full-rank", 2, "--scale", 1, "--epsilon", 1e-4), "below 1"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(command, command_line, word) -> None:
    answer = command("kbr-camera", *command_line, "--quiet")
    assert answer.code == 2 and word in answer.err and answer.out == ""


def test_frames_at_full_rank(command) -> None:
    told = (
        "--train",
        60,
        "--test",
        5,
        "--noise",
        0.1,
        "--scale",
        1,
        "--epsilon",
        1e-4,
        "--methods",
        "kbr_tr",
        "--quiet",
    )
    assert kbr_camera.ACCURACY == lanczos.ACCURACY
    cut, whole = (
        command("kbr-camera", *told, *more).document["results"][0]["scores"] for more in ((), ("--full-rank",))
    )
    assert whole["rank"] == 60 > cut["rank"] and whole["mse"] != cut["mse"]
