"""The app as `scripts.serve` serves it, telling in its log when files are watched or magic is added to a script."""

from collections.abc import Callable
from typing import Any

from streamlit.runtime.scriptrunner import magic
from streamlit.watcher.local_sources_watcher import LocalSourcesWatcher

from scripts.serve import main

WATCHES, MAGIC = "told: files are watched", "told: magic is added"


def telling(function: Callable[..., Any], words: str) -> Callable[..., Any]:
    """The function, saying so."""

    def told(*arguments: Any, **more: Any) -> Any:
        print(words, flush=True)
        return function(*arguments, **more)

    return told


if __name__ == "__main__":
    LocalSourcesWatcher.__init__ = telling(LocalSourcesWatcher.__init__, WATCHES)  # type: ignore[method-assign]
    magic.add_magic = telling(magic.add_magic, MAGIC)
    main()
