"""What a reader that has been taken over would try: each deed with what came of it, written to the target as JSON."""

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.sandbox import serve


def read(source: Path, target: Path, name: str, memory: int, settings: str) -> None:
    while settings == "compute without end":
        pass
    told = json.loads(settings)
    secret, folder, ports = Path(told["secret"]), Path(told["folder"]), told["ports"]
    deeds: dict[str, Callable[[], Any]] = {
        "own file": source.read_text,
        "secret": secret.read_text,
        "secret by a link": Path(told["link"]).read_text,
        "passwd": Path("/etc/passwd").read_text,
        "own environment": Path("/proc/self/environ").read_text,
        "parent's environment": Path(f"/proc/{os.getppid()}/environ").read_text,
        "project": Path(told["project"]).read_text,
        "list": lambda: os.listdir(folder),
        "new file": lambda: (folder / "new").write_text("x"),
        "change": lambda: secret.write_text("x"),
        "remove": secret.unlink,
        "new beside": lambda: (target.parent / "new").write_text("x"),
        "link beside": lambda: (target.parent / "link").symlink_to(secret),
        "stream": lambda: socket.create_connection(("127.0.0.1", ports[0]), timeout=5),
        "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ports[1])),
        "unix": lambda: socket.socket(socket.AF_UNIX).connect(told["unix"]),
        "program": lambda: os.posix_spawn("/bin/sh", ["sh", "-c", f"echo x > {folder}/new"], {}),
        "signal": lambda: os.kill(os.getppid(), 0),
        "environment": lambda: dict(os.environ),
    }
    found = {what: _outcome(deed) for what, deed in deeds.items()}
    target.write_text(json.dumps(found))


def _outcome(deed: Callable[[], Any]) -> list[Any]:
    try:
        value = deed()
    except OSError as error:
        return ["refused", type(error).__name__]
    return ["done", value if isinstance(value, str | dict) else None]


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
