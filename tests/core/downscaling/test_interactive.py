"""What a page needs while a slider moves: values that are computed when they are first asked for."""

import gc
import weakref

import pytest
import torch

from deconditioning.downscaling.interactive import Later


def test_what_comes_later_is_computed_once_and_lets_its_source_go():
    calls = []

    def from_tensor(source: torch.Tensor) -> Later[torch.Tensor]:
        return Later(lambda: calls.append(1) or 2 * source)

    source = torch.ones(3)
    kept, value = weakref.ref(source), from_tensor(source)
    del source
    assert not calls and kept() is not None
    assert value().tolist() == [2.0, 2.0, 2.0] and value() is value()
    gc.collect()
    assert calls == [1] and kept() is None


def test_a_failure_is_told_again_each_time():
    later = Later(lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            later()
