"""Device code is told the files and lines that it is from."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import toolchains.child.shims.cupy as cp  # noqa: F401
from toolchains.child.shims.cupy._engine import Source

DEVICE = """\
extern "C" __global__ void first(int *x)
{
    x[0] = 1;
}
"""


def declared(folder: Path, program: str) -> Source:
    """The only module of a program in a folder."""
    (folder / "kernel.py").write_text(program)
    found = runpy.run_path(str(folder / "kernel.py"))["kernel"]
    source: Source = found._source
    return source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "device.cu").write_text(DEVICE)
    (tmp_path / "shared.cuh").write_text("typedef int Word;\n// Words of the stream.\n")
    return tmp_path


IMPORTS = """\
from pathlib import Path
import toolchains.child.shims.cupy as cp
HERE = Path(__file__)
"""


def test_a_whole_file_is_that_file(folder: Path) -> None:
    source = declared(
        folder,
        IMPORTS + 'kernel = cp.RawKernel(HERE.with_name("device.cu").read_text(), "first")\n',
    )
    assert (source.code, source.file) == (DEVICE, "device.cu")


def test_files_after_each_other_keep_their_lines(folder: Path) -> None:
    program = (
        IMPORTS
        + "code = '#define N 4\\n' + HERE.with_name('shared.cuh').read_text()"
        + " + HERE.with_name('device.cu').read_text()\n"
        + 'kernel = cp.RawKernel(code, "first")\n'
    )
    lines = declared(folder, program).code.split("\n")
    assert lines[lines.index("typedef int Word;") - 1] == '#line 1 "shared.cuh"'
    assert lines[lines.index('extern "C" __global__ void first(int *x)') - 1] == (
        '#line 1 "device.cu"'
    )


def test_a_string_of_the_program_keeps_its_lines(folder: Path) -> None:
    program = (
        IMPORTS + "kernel = cp.RawKernel(r'''\n__global__ void second() {\n}\n''', 'second')\n"
    )
    source = declared(folder, program)
    assert source.file == "kernel.py"
    assert source.code.startswith('#line 4 "kernel.py"\n\n__global__ void second() {\n')


def test_a_formatted_string_keeps_the_lines_around_what_was_put_in(folder: Path) -> None:
    program = (
        (
            IMPORTS
            + "N = 8\nkernel = cp.RawKernel(f'''\n__global__ void third(int *x) {{{{\n"
            + "    x[{N}] = 0;\n    x[1] = third_line;\n}}}}\n''', 'third')\n"
        )
        .replace("{{{{", "{{")
        .replace("}}}}", "}}")
    )
    source = declared(folder, program)
    numbered = source.code.split("\n")
    assert numbered[0] == '#line 5 "kernel.py"'
    assert "    x[8] = 0;" in numbered
    assert sum(line.startswith("#line") for line in numbered) == 1


def test_macros_of_several_lines_are_not_cut(folder: Path) -> None:
    (folder / "macro.cuh").write_text("#define A \\\n    one_of_two \\\n    two_of_two\n")
    program = (
        IMPORTS
        + "code = '#define A \\\\\\n    inserted \\\\\\n    two_of_two\\n__global__ void f() {}'\n"
        + "kernel = cp.RawKernel(code, 'f')\n"
    )
    lines = declared(folder, program).code.split("\n")
    start = lines.index("#define A \\")
    assert lines[start : start + 3] == ["#define A \\", "    inserted \\", "    two_of_two"]


def test_headers_beside_the_program_and_in_named_folders_are_found(folder: Path) -> None:
    other = folder / "include"
    other.mkdir()
    (other / "more.h").write_text('#include "shared.cuh"\n#define MORE 1\n')
    program = (
        IMPORTS
        + "code = '#include <more.h>\\n# include <cupy/complex.cuh>\\n#include <cub/cub.cuh>\\n'\n"
        + "options = ('-DX', '-I', str(HERE.parent / 'include'), '-I/nowhere')\n"
        + "kernel = cp.RawKernel(code, 'f', options)\n"
    )
    source = declared(folder, program)
    assert set(source.headers) == {"more.h", "shared.cuh", "cupy/complex.cuh"}
    assert source.options == ("-DX", "--std=c++17")


def test_code_from_nowhere_is_named_by_the_line_that_uses_it(folder: Path) -> None:
    program = IMPORTS + "kernel = cp.RawKernel(bytes([118, 111, 105, 100, 59]).decode(), 'f')\n"
    source = declared(folder, program)
    assert (source.code, source.file) == ("void;", "kernel.py:4")
