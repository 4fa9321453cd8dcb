from __future__ import annotations

from pathlib import Path

import pytest

from kernels.records import Kernel, Submission
from results_db.blobs import BlobStore
from results_db.errors import BlobError, UnknownKernelError
from tests.results_db.records import kernel


def blob_file(home: Path, digest: str) -> Path:
    return home / "blobs" / "sources" / digest[:2] / f"{digest}.json"


def test_a_kernel_comes_back_from_another_store_of_the_same_home(tmp_path: Path) -> None:
    files = {"kernel.py": "x = 'é🙂\udc80'\r\n\t \n", "more.py": ""}
    made = Kernel("k1", Submission("szp", "numba", files, parent="k0"), "alice", "s1")

    BlobStore(tmp_path).put_kernel(made)

    assert BlobStore(tmp_path).get_kernel("k1") == made


def test_texts_that_differ_in_blanks_only_are_stored_apart(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    plain = Submission("szp", "numba", {"kernel.py": "x = 1\n"})
    blanks = Submission("szp", "numba", {"kernel.py": "x = 1  \r\n"})

    first, second = store.put_source(plain), store.put_source(blanks)

    assert plain.content_hash == blanks.content_hash
    assert store.get_source(first) == plain.files
    assert store.get_source(second) == blanks.files


def test_the_same_source_is_stored_once(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    source = kernel("k1").submission

    first = store.put_source(source)
    written = blob_file(tmp_path, first).stat().st_ino
    second = store.put_source(source)

    assert first == second
    assert blob_file(tmp_path, first).stat().st_ino == written
    assert len(list((tmp_path / "blobs").rglob("*.json"))) == 1


@pytest.mark.parametrize("name", ["k9", "", "../kernels/k1", "k1.json", "k" * 65, "k\0", "k/1"])
def test_an_id_that_nobody_was_given_is_unknown(tmp_path: Path, name: str) -> None:
    store = BlobStore(tmp_path)
    store.put_kernel(kernel("k1"))

    with pytest.raises(UnknownKernelError, match="compile_kernel"):
        store.get_kernel(name)


def test_a_source_that_was_changed_on_disk_is_refused(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    digest = store.put_kernel(kernel("k1"))
    path = blob_file(tmp_path, digest)
    path.write_bytes(path.read_bytes().replace(b"k1", b"k2"))

    with pytest.raises(BlobError, match="changed on disk, submit it again"):
        store.get_kernel("k1")

    store.put_source(kernel("k1").submission)
    assert store.get_kernel("k1") == kernel("k1")


def test_a_source_that_was_deleted_is_refused(tmp_path: Path) -> None:
    store = BlobStore(tmp_path)
    blob_file(tmp_path, store.put_kernel(kernel("k1"))).unlink()

    with pytest.raises(BlobError, match="is missing"):
        store.get_kernel("k1")


def test_the_name_of_a_source_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(BlobError, match="not the name"):
        BlobStore(tmp_path).get_source("../" * 22)


def test_a_home_that_cannot_be_written_is_a_blob_error(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where the home should be")

    with pytest.raises(BlobError, match="can't store"):
        BlobStore(tmp_path / "home").put_kernel(kernel("k1"))


def test_no_half_written_file_stays_behind(tmp_path: Path) -> None:
    BlobStore(tmp_path).put_kernel(kernel("k1"))

    assert list((tmp_path / "blobs").rglob(".*")) == []
