"""Where the files of a data set come from: the package sdrbench, or a copy downloaded by hand."""

from __future__ import annotations

import importlib
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import IO, Any

from kernels.fields.arrays import bytes_text
from kernels.fields.errors import FetchError
from kernels.fields.sdrbench import DataSet, Delivery, Library, SetArray, by_file, by_hand

_CHUNK_BYTES = 2**22


class Package:
    """The package sdrbench: its catalogue, and downloads from its mirror, checked by it."""

    def sets(self) -> tuple[DataSet, ...]:
        """Every variant of every set, from the package's own catalogue. Raises FetchError."""
        content = _sdrbench().catalog()
        return tuple(
            _data_set(name, meta, variant, number == 0)
            for name, meta in content["datasets"].items()
            for number, variant in enumerate(meta["variants"])
        )

    def deliver(
        self, data_set: DataSet, wanted: Sequence[SetArray], folder: Path
    ) -> Iterator[Delivery]:
        """Download each file into `folder`. Raises FetchError."""
        opened = _sdrbench().dataset(data_set.name, data_set.variant)
        _check_room(wanted, folder)
        for path, arrays in by_file(wanted).items():
            try:
                # Not its fallback to the archives: that would fetch up to 52 GB for one array.
                local = Path(opened.field(path).download(folder, source="hf"))
            except Exception as error:
                raise FetchError(
                    f"{data_set.label}/{arrays[0].name} can't be downloaded from "
                    f"https://huggingface.co/datasets/{opened.repo} ({_first_line(error)}). "
                    f"Nothing of it was registered. {by_hand(data_set, arrays[0])}"
                ) from error
            yield Delivery(local, arrays, is_ours=True)


class LocalCopy:
    """An archive (.tar.gz, .zip) or an unpacked folder of a set, that was downloaded by hand."""

    def __init__(self, library: Library, place: Path) -> None:
        """library: says what the sets hold."""
        self._library = library
        self._place = place

    def sets(self) -> tuple[DataSet, ...]:
        """Those of the library."""
        return self._library.sets()

    def deliver(
        self, data_set: DataSet, wanted: Sequence[SetArray], folder: Path
    ) -> Iterator[Delivery]:
        """Find the files by name and size: in a folder where they lie, else unpacked."""
        left = {(_name(path), arrays[0].size): arrays for path, arrays in by_file(wanted).items()}
        for found in self._found(left, folder):
            yield found
            left.pop((found.path.name, found.arrays[0].size))
        if left:
            missing = ", ".join(f"{name} ({size:,} bytes)" for name, size in sorted(left))
            first = next(iter(left.values()))[0]
            raise FetchError(
                f"{self._place} does not hold {missing} of {data_set.label}. "
                f"{by_hand(data_set, first)}"
            )

    def _found(
        self, wanted: dict[tuple[str, int], tuple[SetArray, ...]], folder: Path
    ) -> Iterator[Delivery]:
        if self._place.is_dir():
            for path in sorted(self._place.rglob("*")):
                key = (path.name, path.stat().st_size if path.is_file() else -1)
                if key in wanted:
                    yield Delivery(path, wanted[key], is_ours=False)
            return
        for name, size, stream in _members(self._place):
            arrays = wanted.get((name, size))
            if arrays is not None:
                path = folder / arrays[0].path
                with _readable(self._place):
                    _unpack(stream, path)
                yield Delivery(path, arrays, is_ours=True)


def _sdrbench() -> ModuleType:
    try:
        return importlib.import_module("sdrbench")
    except ImportError as error:
        raise FetchError(
            "the package sdrbench is not installed: pip install 'sz-mcp[sdrbench]', or download a "
            "file from https://sdrbench.github.io and add it with sz-mcp fields add"
        ) from error


def _check_room(wanted: Sequence[SetArray], folder: Path) -> None:
    needed = sum(arrays[0].size for arrays in by_file(wanted).values())
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise FetchError(
            f"the files need {bytes_text(needed)}, and {bytes_text(free)} are free in {folder}: "
            "choose another folder with --to, or fetch one field at a time (SET/FIELD)"
        )


def _data_set(name: str, meta: dict[str, Any], variant: str, is_default: bool) -> DataSet:
    content = meta["variants"][variant]
    return DataSet(
        name=name,
        variant=variant,
        is_default=is_default,
        title=meta["title"],
        provider=meta["source"],
        licence=_licence(meta),
        url=content["archive"]["url"],
        archive_bytes=content["archive"]["bytes"],
        arrays=tuple(_array(file) for file in content["files"] if file["dtype"]),
    )


def _licence(meta: dict[str, Any]) -> str:
    """SDRBench states none; it asks to cite it and the provider, who may ask for more."""
    asked = meta.get("acknowledgment") or meta.get("citation_extra") or ""
    text = "none stated; SDRBench asks to cite it and the provider"
    return f"{text}, who asks: {asked}" if asked else text


def _array(file: dict[str, Any]) -> SetArray:
    shape = tuple(file["shape"])
    return SetArray(
        name=file["name"],
        path=file["path"],
        size=file["bytes"],
        sha256=file["sha256"],
        dtype=file["dtype"],
        shape=shape,
        file_shape=tuple(file.get("file_shape") or shape),
        axes=tuple(file.get("transpose") or ()),
        index=file.get("index"),
    )


@contextmanager
def _readable(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise FetchError(
            f"{place} can't be unpacked ({_first_line(error)}): give a whole .tar.gz or .zip, or "
            "the folder of an unpacked one"
        ) from error


def _members(place: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    """File name, size and content of each file of an archive, in its order. Raises FetchError."""
    with _readable(place):
        if zipfile.is_zipfile(place):
            with zipfile.ZipFile(place) as archive:
                for info in archive.infolist():
                    with archive.open(info) as stream:
                        yield _name(info.filename), info.file_size, stream
            return
        with tarfile.open(place, "r|*") as tape:
            for member in tape:
                content = tape.extractfile(member)
                if content is not None:
                    yield _name(member.name), member.size, content


def _unpack(stream: IO[bytes], path: Path) -> None:
    """Write a member to a path of ours: names in archives are never followed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.partial")
    try:
        with part.open("wb") as out:
            shutil.copyfileobj(stream, out, _CHUNK_BYTES)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
