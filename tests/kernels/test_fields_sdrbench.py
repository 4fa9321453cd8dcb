"""SDRBench sets, from an archive made here: selected, unpacked, verified, registered."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernels.fields import Catalogue, FetchError
from kernels.fields.deliveries import LocalCopy, Package
from kernels.fields.registry import Registry
from kernels.fields.sdrbench import (
    KNOWN_FILLS,
    DataSet,
    Delivery,
    Order,
    Outcome,
    SetArray,
    fetch,
    field_name,
    select,
)
from kernels.records import Array

RNG = np.random.default_rng(5)
TEMPERATURE = RNG.standard_normal((4, 5, 6)).astype(np.float32)
LAND = RNG.standard_normal((4, 5, 6)).astype(np.float32)
LAND[0, :2] = 1e36
STACK = RNG.standard_normal((3, 4, 5))
ORBITALS = RNG.standard_normal((4, 5, 6)).astype(np.float32)
IDS = np.arange(10, dtype=np.uint64)
CONTENT: dict[str, Array] = {
    "T_1_4_5_6.f32": TEMPERATURE,
    "SST_1_4_5_6.f32": LAND,
    "stacked.field.d64": STACK,
    "orbitals.f32": ORBITALS,
    "ids.u64": IDS,
}


def described(file: str, name: str, array: Array, **more: object) -> SetArray:
    stored = CONTENT[file]
    return SetArray(
        name=name,
        path=f"folder/{file}",
        size=stored.nbytes,
        sha256=hashlib.sha256(stored.tobytes()).hexdigest(),
        dtype=stored.dtype.str,
        shape=array.shape,
        file_shape=stored.shape,
        **more,  # type: ignore[arg-type]
    )


ARRAYS = (
    described("T_1_4_5_6.f32", "T", TEMPERATURE),
    described("SST_1_4_5_6.f32", "SST", LAND),
    described("stacked.field.d64", "CH4/1.1E-03", STACK[0], index=0),
    described("stacked.field.d64", "O2/1.1E-03", STACK[1], index=1),
    described("orbitals.f32", "orbitals", ORBITALS.transpose(2, 0, 1), axes=(2, 0, 1)),
    described("ids.u64", "ids", IDS),
)
DEFAULT = DataSet(
    name="cesm-atm",
    variant="2d",
    is_default=True,
    title="CESM-ATM",
    provider="A provider",
    licence="none stated",
    url="https://example.org/cesm.tar.gz",
    archive_bytes=12_300_000_000,
    arrays=ARRAYS,
)
STEPS = replace(
    DEFAULT,
    variant="P",
    is_default=False,
    arrays=(replace(ARRAYS[0], name="P/01"), replace(ARRAYS[1], name="P/02")),
)


class FakeLibrary:
    """Sets of this file, and a download that has only some of the files or a broken one."""

    def __init__(self, *available: str, broken: str = "") -> None:
        self.available = available
        self.broken = broken
        self.asked: list[str] = []

    def sets(self) -> tuple[DataSet, ...]:
        return (DEFAULT, STEPS)

    def deliver(
        self, data_set: DataSet, wanted: Sequence[SetArray], folder: Path
    ) -> Iterator[Delivery]:
        for path in dict.fromkeys(array.path for array in wanted):
            self.asked.append(path)
            name = Path(path).name
            if name not in self.available:
                raise FetchError(f"{data_set.label} is not there")
            folder.mkdir(parents=True, exist_ok=True)
            local = folder / name
            content = bytearray(CONTENT[name].tobytes())
            if name == self.broken:
                content[7] ^= 1
            local.write_bytes(content)
            yield Delivery(local, tuple(a for a in wanted if a.path == path), is_ours=True)


def archive(folder: Path, form: str = "tar.gz", *, but: str = "") -> Path:
    path = folder / f"set.{form}"
    files = {name: data.tobytes() for name, data in CONTENT.items() if name != but}
    if form == "zip":
        with zipfile.ZipFile(path, "w") as zipped:
            for name, content in files.items():
                zipped.writestr(f"top/{name}", content)
        return path
    with tarfile.open(path, "w:gz") as tape:
        for name, content in {"../../outside.f32": b"1234", **files}.items():
            member = tarfile.TarInfo(name if name.startswith("..") else f"top/{name}")
            member.size = len(content)
            tape.addfile(member, io.BytesIO(content))
    return path


def registered(home: Path, place: Path, what: str) -> list[Outcome]:
    return list(fetch(Registry(home), LocalCopy(FakeLibrary(), place), Order(what)))


@pytest.mark.parametrize("form", ["tar.gz", "zip", "folder"])
def test_a_set_downloaded_by_hand_becomes_fields(tmp_path: Path, form: str) -> None:
    place = archive(tmp_path, "zip" if form == "folder" else form)
    if form == "folder":
        zipfile.ZipFile(place).extractall(tmp_path / "unpacked")
        place = tmp_path / "unpacked"
    home = tmp_path / "home"

    outcomes = {one.name: one for one in registered(home, place, "cesm-atm")}

    catalogue = Catalogue(home)
    for name, expected in {
        "cesm-atm-T": TEMPERATURE,
        "cesm-atm-SST": LAND,
        "cesm-atm-CH4-1.1E-03": STACK[0],
        "cesm-atm-O2-1.1E-03": STACK[1],
        "cesm-atm-orbitals": ORBITALS.transpose(2, 0, 1),
    }.items():
        field = catalogue.load(name)
        assert outcomes[name].added is not None
        assert np.array_equal(field.data, expected)
        assert field.info.sha256 == hashlib.sha256(expected.tobytes()).hexdigest()
        assert field.info.licence == "none stated"
        assert field.info.source.startswith("SDRBench cesm-atm: ")
    assert outcomes["cesm-atm-ids"].skipped == "it holds <u8, a field is float32 or float64"
    assert not list(tmp_path.parent.rglob("outside.f32"))
    assert not list(tmp_path.rglob("*.partial"))
    assert (tmp_path / "unpacked/top/T_1_4_5_6.f32").exists() == (form == "folder")


def test_a_known_fill_value_counts_where_it_occurs(tmp_path: Path) -> None:
    registered(tmp_path / "home", archive(tmp_path), "cesm-atm")

    catalogue = Catalogue(tmp_path / "home")
    assert catalogue.info("cesm-atm-SST").fill_value == float(np.float32(1e36))
    assert catalogue.info("cesm-atm-SST").character == "3-D, 10% filled with 1e+36"
    assert catalogue.info("cesm-atm-T").fill_value is None


def test_every_known_fill_value_has_a_source_and_a_set_of_the_package() -> None:
    pytest.importorskip("sdrbench", reason="sdrbench is not installed: extra `sdrbench`")
    names = {one.name for one in Package().sets()}

    for known in KNOWN_FILLS:
        assert known.data_set in names
        assert len(known.source) > 20


def test_what_is_registered_already_is_not_downloaded_again(tmp_path: Path) -> None:
    registered(tmp_path / "home", archive(tmp_path), "cesm-atm/T")
    library = FakeLibrary("SST_1_4_5_6.f32")
    outcomes = list(fetch(Registry(tmp_path / "home"), library, Order("cesm-atm/T")))

    assert [one.skipped for one in outcomes] == ["it is registered already"]
    assert library.asked == []


def test_a_damaged_download_is_refused_and_deleted(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    for name, what in {"T_1_4_5_6.f32": "T", "stacked.field.d64": "O2/1.1E-03"}.items():
        with pytest.raises(FetchError, match=r"sha256 .* it should be .* It was not registered"):
            list(fetch(registry, FakeLibrary(name, broken=name), Order(f"cesm-atm/{what}")))

    assert registry.entries() == ()
    assert not [path for path in registry.data.rglob("*") if path.is_file()]


def test_a_download_that_ends_half_way_keeps_what_was_whole(tmp_path: Path) -> None:
    registry = Registry(tmp_path)

    with pytest.raises(FetchError, match="is not there"):
        list(fetch(registry, FakeLibrary("T_1_4_5_6.f32"), Order("cesm-atm")))

    assert [entry.name for entry in registry.entries()] == ["cesm-atm-T"]
    assert np.array_equal(Catalogue(tmp_path).load("cesm-atm-T").data, TEMPERATURE)


def test_an_archive_without_the_file_says_what_to_download(tmp_path: Path) -> None:
    place = archive(tmp_path, but="T_1_4_5_6.f32")

    with pytest.raises(FetchError) as caught:
        registered(tmp_path / "home", place, "cesm-atm/T")

    assert "does not hold T_1_4_5_6.f32 (480 bytes) of cesm-atm" in str(caught.value)
    assert "Download https://example.org/cesm.tar.gz (12.3 GB) by hand" in str(caught.value)
    assert "sz-mcp fields add FILE --dims 4x5x6 --dtype f32" in str(caught.value)
    assert Registry(tmp_path / "home").entries() == ()


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(b"no archive")

    with pytest.raises(FetchError, match=r"x\.tar\.gz can't be unpacked"):
        registered(tmp_path / "home", tmp_path / "x.tar.gz", "cesm-atm/T")
    with pytest.raises(FetchError, match=r"none\.zip can't be unpacked"):
        registered(tmp_path / "home", tmp_path / "none.zip", "cesm-atm/T")


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    place = archive(tmp_path)
    place.write_bytes(place.read_bytes()[: place.stat().st_size // 2])

    with pytest.raises(FetchError, match="give a whole"):
        registered(tmp_path / "home", place, "cesm-atm")
    assert not list(tmp_path.rglob("*.partial"))


def test_files_can_be_kept_elsewhere_and_outlive_their_field(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "home")
    library = FakeLibrary("T_1_4_5_6.f32")

    list(fetch(registry, library, Order("cesm-atm/T", folder=tmp_path / "big")))
    registry.remove("cesm-atm-T")

    assert (tmp_path / "big" / "cesm-atm" / "T_1_4_5_6.f32").exists()


def test_a_file_of_two_fields_is_deleted_with_the_second(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    list(fetch(registry, FakeLibrary("stacked.field.d64"), Order("cesm-atm/CH4/1.1E-03")))
    list(fetch(registry, FakeLibrary("stacked.field.d64"), Order("cesm-atm/O2/1.1E-03")))
    file = registry.data / "sdrbench" / "cesm-atm" / "stacked.field.d64"

    registry.remove("cesm-atm-CH4-1.1E-03")
    assert np.array_equal(Catalogue(tmp_path).load("cesm-atm-O2-1.1E-03").data, STACK[1])
    registry.remove("cesm-atm-O2-1.1E-03")
    assert not file.exists()


def test_a_fetched_field_can_be_hidden(tmp_path: Path) -> None:
    library = FakeLibrary("T_1_4_5_6.f32")
    list(fetch(Registry(tmp_path), library, Order("cesm-atm/T", hidden=True)))

    catalogue = Catalogue(tmp_path)
    assert catalogue.problem("cesm-atm-T") is not None
    assert catalogue.info("cesm-atm-T").name.startswith("hidden-")
    assert catalogue.info("cesm-atm-T").licence == ""


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("cesm-atm/T", ["cesm-atm-T"]),
        ("CESM_ATM/T", ["cesm-atm-T"]),
        ("cesm-atm/2d/T", ["cesm-atm-T"]),
        ("cesm-atm/O2/1.1E-03", ["cesm-atm-O2-1.1E-03"]),
        ("cesm-atm/P", ["cesm-atm-P-01", "cesm-atm-P-02"]),
        ("cesm-atm/P/02", ["cesm-atm-P-02"]),
        ("cesm-atm/P/P/02", ["cesm-atm-P-02"]),
    ],
)
def test_a_set_a_variant_or_a_field_can_be_named(what: str, names: list[str]) -> None:
    chosen = select((DEFAULT, STEPS), what)

    assert [field_name(chosen.data_set, array) for array in chosen.arrays] == names


def test_an_unknown_set_or_field_is_told_the_choices() -> None:
    with pytest.raises(FetchError, match="no data set 'nyx': choose one of cesm-atm"):
        select((DEFAULT, STEPS), "nyx/T")
    with pytest.raises(FetchError, match=r"no field or variant 'X'; fields of 2d: T, SST.*: P"):
        select((DEFAULT, STEPS), "cesm-atm/X")


def test_the_packages_own_sets_are_known_without_network() -> None:
    pytest.importorskip("sdrbench", reason="sdrbench is not installed: extra `sdrbench`")

    sets = Package().sets()

    titles = {one.title for one in sets}
    assert {
        "Hurricane ISABEL",
        "CESM-ATM",
        "NYX",
        "HACC",
        "Miranda",
        "EXAALT",
        "SCALE-LETKF",
        "QMCPACK",
        "S3D",
    } <= titles
    assert all(one.url.startswith("https://") and one.archive_bytes > 1e7 for one in sets)
    chosen = select(sets, "miranda/density")
    assert (chosen.arrays[0].shape, chosen.arrays[0].dtype) == ((256, 384, 384), "<f8")
    steps = select(sets, "hurricane-isabel/P/07")
    assert field_name(steps.data_set, steps.arrays[0]) == "hurricane-isabel-P-07"
    names = [field_name(one, array) for one in sets for array in one.arrays]
    assert len(set(names)) == len(names)
