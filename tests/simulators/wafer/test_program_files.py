"""Programs written to folders and read again, whole and damaged."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simulators.wafer.dsd import Completion, DsrConfig, Operand, Operation, Vector
from simulators.wafer.program import (
    CodeClass,
    Export,
    ExportKind,
    Fifo,
    FifoAction,
    Filter,
    FilterKind,
    Function,
    Pattern,
    Place,
    PopMode,
    Program,
    Queue,
    Region,
    Route,
    Stream,
    Switch,
    Task,
    TaskKind,
)
from simulators.wafer.program_files import ProgramFileError, load_program, save_program


def _code() -> CodeClass:
    return CodeClass(
        "pe",
        np.array([[2, 0, 0, -7], [13, 0, 0, 0]], np.int32),
        np.array([0, -1], np.int32),
        (Function("f", 0, 3),),
        (Task(TaskKind.DATA, 4, 0, (16, 16), (4, 9)),),
        (
            Operation(
                Vector.FMACS,
                (Operand.DSD, 1),
                ((Operand.DSD, 1), (Operand.DSR, 18), (Operand.SCALAR, 0)),
                asynchronous=True,
                completion=Completion.ACTIVATE,
                completion_id=9,
            ),
        ),
        (0,),
        (DsrConfig(save_address=True),),
        (Pattern((2, 3), (3, -1)),),
        (Fifo("q", 32, 8, 4, empty_action=FifoAction.FAULT),),
        (Queue(True, 2, -1),),
        bytes(range(40)),
        (Region("a", 16, 24, "[12]i16", Place("code.csl", 3, 5)),),
        ("ü".encode(),),
        12,
        active=(8,),
        teardown_handlers={5: 0},
        exported_functions={"f": 0},
        exported_variables={"a": 16},
        control_table=(4, 2),
    )


def _program() -> Program:
    route = Route(
        16,
        4,
        (Switch(receive=8), Switch(invalid=True)),
        pop=PopMode.ALWAYS_POP,
        filter=Filter(FilterKind.RANGE, max_index=7),
    )
    return Program(
        "wse3",
        2,
        1,
        (9, 3),
        (4, 1),
        (_code(),),
        np.zeros((1, 2), np.int32),
        (route,),
        np.full((1, 2, 24), -1, np.int32),
        (Export(0, "a", ExportKind.POINTER, "[*]i16", 2),),
        (Stream(3, True),),
        (Place("code.csl", 1, 1),),
        {"N": "4"},
    )


def _fields(value: object) -> object:
    """Records as values that can be compared, arrays as lists."""
    if isinstance(value, np.ndarray):
        return value.tolist(), value.dtype.str
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [
            _fields(getattr(value, field.name)) for field in dataclasses.fields(value)
        ]
    if isinstance(value, tuple):
        return [_fields(item) for item in value]
    return value


def test_a_program_is_read_as_it_was_written(tmp_path: Path) -> None:
    save_program(_program(), tmp_path / "out")
    loaded = load_program(tmp_path / "out")
    assert _fields(loaded) == _fields(_program())
    assert loaded.classes[0].teardown_handlers == {5: 0}
    assert isinstance(loaded.routes[0].pop, PopMode)


def test_a_folder_without_a_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProgramFileError, match=r"program\.json is missing: compile"):
        load_program(tmp_path)


def _edit(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / "program.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    return damage


def _deep(content: dict[str, object]) -> dict[str, object]:
    program = content["program"]
    assert isinstance(program, dict)
    return program


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "program.npz").write_bytes(b"PK\3\4 no"), "damaged"),
        (lambda folder: (folder / "program.json").write_text("{"), "damaged"),
        (_edit(lambda c: c.update(version=99)), "version 99 of the format"),
        (_edit(lambda c: c.update(format="other")), "isn't a program"),
        (_edit(lambda c: c.update(program=None)), "Program: an object is needed"),
        (_edit(lambda c: _deep(c).pop("arch")), "arch"),
        (_edit(lambda c: _deep(c).update(arch=3)), "3 isn't str"),
        (_edit(lambda c: _deep(c).update(wings=3)), "Program has no wings"),
        (_edit(lambda c: _deep(c).update(width=3)), "another shape"),
        (_edit(lambda c: _deep(c).update(classes=[])), "a class that isn't there"),
        (_edit(lambda c: _deep(c).update(places=[])), "places of pe"),
        (_edit(lambda c: _deep(c).update(class_of={"array": "none"})), "none is missing"),
    ],
)
def test_damage_is_an_error_that_says_where(
    tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    save_program(_program(), tmp_path)
    damage(tmp_path)
    with pytest.raises(ProgramFileError, match=message):
        load_program(tmp_path)
