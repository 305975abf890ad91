"""Pictures of the camera: what is in them is what was given."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from deconditioning.errors import InputError
from deconditioning.figures.studies.camera import ENLARGE, angles_plot, attitude_plot, frames_plot, noises_plot
from deconditioning.filtering.room import Room


def pixels(image: dict) -> np.ndarray:
    """An image of a layout as RGB in [0, 1]."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(image["source"].split(",")[1])))) / 255


def numbers(packed: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["bdata"]), "<f8")


def test_frames_are_enlarged_pixel_by_pixel_and_clipped():
    frame = np.random.default_rng(0).uniform(-0.2, 1.2, (4, 4, 3))
    figure = frames_plot({"truth": frame, "observed": frame[::-1]}, dark=True)
    first, second = (pixels(image) for image in figure["layout"]["images"])
    assert first.shape == (4 * ENLARGE, 4 * ENLARGE, 3)
    assert np.allclose(first[::ENLARGE, ::ENLARGE], frame.clip(0, 1), atol=0.003)
    assert np.allclose(second[::ENLARGE, ::ENLARGE], frame[::-1].clip(0, 1), atol=0.003)
    assert [words["text"] for words in figure["layout"]["annotations"]] == ["truth", "observed"]
    with pytest.raises(InputError, match="at least one"):
        frames_plot({})


def test_a_line_that_leaves_the_panorama_is_broken():
    way = (np.array([170.0, 178, -178, -170]), np.zeros(4))
    figure = attitude_plot(Room().panorama(10), way, {"truth": way, "kbr_tr": way})
    across = numbers(figure["data"][0]["x"])
    assert np.isnan(across).tolist() == [False, False, True, False, False] and across[0] == -170
    assert [trace["name"] for trace in figure["data"] if trace.get("showlegend", True)] == [
        "true path", "Truth", "Kernel Bayes (trace)",
    ]  # fmt: skip
    image = figure["layout"]["images"][0]
    assert (image["x"], image["y"], image["sizex"], image["sizey"]) == (-180, 90, 360, 180)


def test_angles_and_the_paper_beside_ours():
    lines = angles_plot({"kbr_tr": np.array([1.0, 2.0]), "nearest": np.array([3.0, 4.0])}, 1)
    assert numbers(lines["data"][1]["y"]).tolist() == [3, 4] and lines["layout"]["shapes"][0]["x0"] == 2
    bars, marks = noises_plot({"kbr_tr": (0.2, 0.01), "nearest": (0.1, 0)}, {"kbr_tr": (0.146, 0.003)}, title="σ²")[
        "data"
    ]
    assert bars["x"] == [0.2, 0.1] and bars["error_x"]["array"] == [0.01, 0]
    assert marks["x"] == [0.146] and marks["y"] == ["Kernel Bayes (trace)"]
