"""Options whose source takes long to import."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property


class Lazily(Mapping[str, str]):
    """Value → what a page calls it, looked up when it is first asked: a command's help does not ask."""

    def __init__(self, look_up: Callable[[], Mapping[str, str]]) -> None:
        self._look_up = look_up

    @cached_property
    def _options(self) -> Mapping[str, str]:
        return self._look_up()

    def __getitem__(self, name: str) -> str:
        return self._options[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)
