"""Sources that try to read files, to never end or to break the compiler; and its deaths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kernels.records import Diagnostic
from simulators.simt.records import Source
from simulators.simt.tool import RunTool, Tool, ToolRun, plain_run
from tests.toolchains.gpu_compile.hip_sources import LORENZO, needs_compiler
from toolchains.base import Cancellation
from toolchains.children.isolation import choose
from toolchains.children.tools import Tools
from toolchains.gpu_compile.hip import compile_hip
from toolchains.gpu_compile.hip_build import HipBuild

pytestmark = needs_compiler


@pytest.fixture(scope="module", params=["plain", "confined"])
def run(request: pytest.FixtureRequest) -> RunTool:
    """How the compiler is run."""
    if request.param == "plain":
        return plain_run
    isolation = choose()
    return Tools(lambda: isolation).runner(Cancellation())


def compiled(code: str, run: RunTool, **headers: str) -> HipBuild:
    """For gfx942."""
    return compile_hip(Source(code, "kernel.hip", "hip", headers=headers), ("gfx942",), run)


def first_error(built: HipBuild) -> Diagnostic:
    """There has to be one."""
    return next(d for d in built.diagnostics if d.severity == "error")


def test_a_right_kernel_compiles_in_either_way(run: RunTool) -> None:
    built = compiled(LORENZO, run)

    assert built.compiled
    assert built.modules[0].kernels[0].name == "lorenzo"


def test_files_of_the_machine_are_not_shown(run: RunTool, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("swordfish is the password;\n")
    for code in (
        f'#include "{secret}"\n',
        f'#define WHERE "{secret}"\n#include WHERE\n',
        f'__device__ const char x[] = {{\n#embed "{secret}"\n}}; static_assert(x[0] == 0, "");\n',
    ):
        built = compiled(code, run)

        error = first_error(built)
        assert error.file in ("kernel.hip", None)
        told = "".join(f"{d.message}{d.source}" for d in built.diagnostics)
        assert "swordfish" not in told
        assert "password" not in told


def test_headers_with_odd_names_are_not_written(run: RunTool) -> None:
    names = {
        "../out.h": "",
        "/abs.h": "",
        ".hidden": "",
        "a/../b.h": "int good;",
        "ok/in.h": "int a;",
    }

    built = compile_hip(
        Source('#include "ok/in.h"\nextern "C" __global__ void k(int* p) { p[0] = 1; }\n',
               "k.hip", "hip", headers=names),
        ("gfx942",), run,
    )  # fmt: skip

    assert built.compiled


def test_templates_without_end_are_an_error(run: RunTool) -> None:
    code = (
        "template <int n> struct F { static const int v = F<n - 1>::v + F<n + 1>::v; };\n"
        "__device__ int x = F<9>::v;\n"
    )

    error = first_error(compiled(code, run))

    assert "recursive template instantiation exceeded" in error.message
    assert (error.file, error.line) == ("kernel.hip", 1)


def test_errors_without_number_are_cut(run: RunTool) -> None:
    built = compiled("".join(f"int a{n} = b{n};\n" for n in range(3000)), run)

    assert 10 <= len(built.diagnostics) <= 40


def test_text_that_is_no_source_is_an_error(run: RunTool) -> None:
    for code in ("\0\1\2", "\ud800", "é" * 1000, "#error stop", '#line 1 "/etc/passwd"\nint x = ;'):
        assert not compiled(code, run).compiled


def dies(code: int, err: str = "", *, timed_out: bool = False) -> Callable[[Tool], ToolRun]:
    """A compiler that ends so."""
    return lambda _: ToolRun(code, "", err, {}, 30.0, timed_out)


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (dies(-9, timed_out=True), "compiling took more than 30 s and was stopped"),
        (dies(-11, "PLEASE submit a bug report"), "the compiler was ended by SIGSEGV"),
        (dies(-6, "LLVM ERROR: out of memory\n"), "the compiler ran out of memory"),
        (dies(-99), "the compiler was ended by signal 99"),
        (
            dies(70, "\nLLVM ERROR: Cannot select: t8\n"),
            "ended with code 70: LLVM ERROR: Cannot se",
        ),
        (dies(1), "the compiler ended with code 1: without a word"),
    ],
)
def test_a_compiler_that_dies_is_a_diagnostic(end: RunTool, says: str) -> None:
    built = compiled(LORENZO, end)

    assert not built.compiled
    assert says in first_error(built).message
    assert built.failure is not None


def test_a_code_object_that_is_none_has_no_kernels() -> None:
    def half(tool: Tool) -> ToolRun:
        done = plain_run(tool)
        return ToolRun(done.code, done.out, done.err, dict.fromkeys(done.files, b"junk"), 0.0)

    built = compiled(LORENZO, lambda tool: plain_run(tool) if "-cc1" in tool.argv else half(tool))

    assert not any(module.kernels for module in built.modules)
