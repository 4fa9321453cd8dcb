"""Wafer submissions of tests: the worked lorenzo-1d with parts replaced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kernels import baselines
from kernels.records import Failure, Submission
from toolchains.base import Cancellation
from toolchains.wafer import WaferToolchain
from toolchains.wafer_session import WaferSession


def lorenzo(target: str = "wafer:wse3", **changes: str) -> Submission:
    """The worked submission; changes: file name with _ for its dot → text."""
    worked = baselines.read("lorenzo-1d", "naive", "wafer")
    files = dict(worked.files)
    for name, text in changes.items():
        files[name.replace("_", ".")] = text
    return replace(worked, target=target, files=files)


def edited(name: str, old: str, new: str, target: str = "wafer:wse3") -> Submission:
    """The worked submission with a piece of a file replaced."""
    text = baselines.read("lorenzo-1d", "naive", "wafer").files[name]
    assert old in text
    return lorenzo(target, **{name.replace(".", "_"): text.replace(old, new)})


@contextmanager
def loaded(toolchain: WaferToolchain, submission: Submission) -> Iterator[WaferSession]:
    """A session that is closed at the end."""
    session = toolchain.load(submission, 1, Cancellation())
    assert not isinstance(session, Failure), session
    assert isinstance(session, WaferSession)
    try:
        yield session
    finally:
        session.close()
