"""The process that opens an uploaded file: ``python -m core.fields.reader INPUT OUTPUT NAME BYTES SECONDS``.

It runs under limits on memory, time and file size, and answers on standard output with one line of
JSON: ``{"ok": true}`` when the fields lie in OUTPUT (see ``store``), else ``{"error": sentence}``.
Its imports stay light: no torch, no Streamlit.
"""

import json
import math
import resource
import sys
from pathlib import Path

DATA_SHARE = 0.3  # of the memory: values are held, decoded and written


def _limit(memory: int, seconds: int) -> None:
    for what, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, hard))


def read(source: Path, target: Path, name: str, memory: int) -> None:
    """Open, check the declared size, load, put in order, store; raises ``InputError``."""
    from core.errors import InputError
    from core.fields.opening import decode, fields_from_dataset
    from core.fields.store import write_fields

    with decode(source) as dataset:
        size, most = dataset.nbytes, int(DATA_SHARE * memory)
        if size > most:
            raise InputError(
                f"{name} declares {_words(size)} of data, at most {_words(most)} can be opened here: "
                "cut out the region, times and variables you need first."
            )
        fields = fields_from_dataset(dataset.load(), source=name)
    with open(target, "wb") as file:
        write_fields(fields, file)


def _words(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _sentence(name: str, error: BaseException) -> str:
    from core.errors import InputError

    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"{name} needs more memory than a file may use here: cut out the region and variables you need first."
    text = " ".join(str(error).split()) or type(error).__name__
    text = text.replace("\x00", "")[:120].rstrip(" .")
    return f"{name} could not be read, it looks damaged or cut short ({text}): copy or download it again."


def main(arguments: list[str]) -> int:
    """Run the reader; 0 when the fields were stored, 2 with a sentence otherwise."""
    source, target, name, memory, seconds = arguments
    _limit(int(memory), max(1, math.ceil(float(seconds))))
    try:
        read(Path(source), Path(target), name, int(memory))
    except Exception as error:  # the border of the process: everything becomes one sentence
        print(json.dumps({"error": _sentence(name, error)}))
        return 2
    print(json.dumps({"ok": True}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
