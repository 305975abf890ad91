"""Fields behind addresses: files and OPeNDAP from a server on this machine, stores through fsspec, no answer."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import xarray as xr

from deconditioning.downscaling.source import open_source
from deconditioning.errors import InputError
from deconditioning.fields.reading.addresses import is_address
from deconditioning.fields.reading.opening import open_fields
from tests.core.fields.samples import netcdf, region

DATA = region(8, 12)


class Server(BaseHTTPRequestHandler):
    """``/t.nc`` as a file, ``/dodsC/t`` by DAP 2; ``asked`` holds what was asked for."""

    asked: list[str] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.asked.append(self.path)
        place, _, wanted = self.path.partition("?")
        body = {"/t.nc": lambda: netcdf(DATA), "/dodsC/t.dds": lambda: self.dds(""), "/dodsC/t.das": self.das,
                "/dodsC/t.dods": lambda: self.dods(wanted)}.get(place)  # fmt: skip
        self.send_response(200 if body else 404)
        self.end_headers()
        if body:
            self.wfile.write(body())

    def log_message(self, *words) -> None: ...

    def parts(self, wanted: str) -> list[tuple[str, xr.DataArray]]:
        """What a constraint such as ``t[0:1:7][2:1:5]`` asks for."""
        found = []
        for one in wanted.replace("%5B", "[").replace("%5D", "]").split(",") if wanted else DATA.variables:
            name, *cuts = re.split(r"[\[\]]+", str(one).rstrip("]"))
            spans = [[int(number) for number in cut.split(":")] for cut in cuts]
            cut = {d: slice(s[0], s[-1] + 1) for d, s in zip(DATA[name].dims, spans, strict=False)}
            found.append((name, DATA[name].isel(cut)))
        return found

    def dds(self, wanted: str) -> bytes:
        lines = [
            f"Float64 {name}{''.join(f'[{d} = {n}]' for d, n in array.sizes.items())};"
            for name, array in self.parts(wanted)
        ]
        return ("Dataset {\n" + "\n".join(lines) + "\n} t;\n").encode()

    def das(self) -> bytes:
        def said(name: str) -> str:
            return " ".join(f'String {key} "{value}";' for key, value in DATA[name].attrs.items())

        return ("Attributes {\n" + "\n".join(f"{n} {{ {said(str(n))} }}" for n in DATA.variables) + "\n}\n").encode()

    def dods(self, wanted: str) -> bytes:
        body = b""
        for _, array in self.parts(wanted):
            body += 2 * np.array([array.size], ">i4").tobytes() + array.values.astype(">f8").tobytes()
        return self.dds(wanted) + b"\nData:\n" + body


@pytest.fixture(scope="module")
def server():
    found = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()


def test_a_file_is_fetched(server):
    found = open_fields(f"{server}/t.nc")
    np.testing.assert_array_equal(found.values("t"), DATA.t)
    with pytest.raises(InputError, match=r"none\.nc answers 404"):
        open_fields(f"{server}/none.nc")


def test_of_an_opendap_set_only_what_is_asked_for_is_read(server):
    Server.asked.clear()
    found = open_fields(f"{server}/dodsC/t")
    assert found.lazy and sorted(found.variables()) == ["orog", "q", "t"] and found.variables()["t"].units == "K"
    assert not any("dods?" in place and re.search(r"\bt\b.*\[", place.partition("?")[2]) for place in Server.asked)
    np.testing.assert_array_equal(found.values("t"), DATA.t)
    assert any("dods?t" in place for place in Server.asked)
    assert not any("dods?orog" in place for place in Server.asked)


def test_stores_and_files_through_fsspec():
    DATA.to_zarr("memory://kept.zarr", zarr_format=2, consolidated=True)
    np.testing.assert_array_equal(open_fields("memory://kept.zarr").values("t"), DATA.t)
    import fsspec

    with fsspec.open("memory://kept.nc", "wb") as file:
        file.write(netcdf(DATA))
    np.testing.assert_array_equal(open_fields("memory://kept.nc").values("t"), DATA.t)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:9/t.nc", "could not be reached .*Connection refused.*download the file elsewhere"),
        ("http://127.0.0.1:9/dodsC/t", "could not be reached .*download the file"),
        ("nowhere://a/t.nc", "could not be reached .*nowhere"),
    ],
)
def test_where_nothing_answers_a_sentence_says_so(address, said):
    with pytest.raises(InputError, match=said):
        open_fields(address)


def test_a_missing_package_is_named(monkeypatch):
    def without(*names, **more):
        raise ImportError("no s3fs")

    monkeypatch.setattr("fsspec.open", without)
    monkeypatch.setattr("xarray.open_dataset", without)
    for address in ("s3://bucket/t.nc", "s3://bucket/t.zarr"):
        with pytest.raises(InputError, match="needs the package s3fs: `python -m pip install s3fs`"):
            open_fields(address)


def test_a_page_opens_no_address(server):
    Server.asked.clear()
    for key in (f"{server}/t.nc", f"{server}/dodsC/t", f"ukv-645m + {server}/t.nc", "/etc/passwd"):
        with pytest.raises(InputError):
            open_source(key)
    assert not Server.asked
    assert is_address(f"{server}/t.nc") and not is_address("/data/t.nc") and not is_address("https://a/b.zarr")
