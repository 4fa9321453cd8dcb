"""Sources that would read what is not theirs, or never end: in boxes, and what is told of them."""

from __future__ import annotations

import secrets
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from simulators.simt.records import Source
from simulators.simt.tool import RunTool, Tool, ToolRun, plain_run
from tests.toolchains.gpu_compile.cuda_sources import KERNEL, MANY, compiled, first, needs_nvrtc
from toolchains.base import Cancellation
from toolchains.children.isolation import choose
from toolchains.children.tools import Tools
from toolchains.gpu_compile.nvrtc import compile_cuda
from toolchains.gpu_compile.sass import disassemble

pytestmark = needs_nvrtc

_BOXES = {"bubblewrap": frozenset[str](), "landlock": frozenset({"bubblewrap"})}
ENDLESS = "__device__ char table[1 << 28] = {1};\n"
"""Takes minutes: each byte is a node of its own."""
BOMB = "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\n"


@pytest.fixture(scope="module", params=_BOXES)
def confined(request: pytest.FixtureRequest) -> RunTool:
    isolation = choose(_BOXES[request.param])
    held = {layer.name for layer in isolation.layers() if layer.holds}
    if request.param not in held:
        pytest.skip(f"{request.param} does not hold on this machine")
    return Tools(lambda: isolation).runner(Cancellation())


def hurried(run: RunTool, seconds: float) -> RunTool:
    return lambda tool: run(replace(tool, timeout_s=seconds))


def test_a_confined_compiler_does_what_a_plain_one_does(confined: RunTool) -> None:
    code = f"#include <cuda_fp16.h>\n#include <cstdint>\n{MANY}"

    inside, outside = compiled(code, run=confined), compiled(code)

    assert inside.compiled
    assert inside.modules[0].ptx == outside.modules[0].ptx
    assert inside.modules[0].kernels == outside.modules[0].kernels
    assert inside.nvrtc == outside.nvrtc


def test_a_confined_disassembler_works(confined: RunTool) -> None:
    sass = disassemble(compiled(MANY).modules[0], confined)
    if "not installed" in sass.reason:
        pytest.skip(sass.reason)
    assert sass.reason == ""
    assert {mix.symbol for mix in sass.mixes} == {"shared", "local"}


@pytest.mark.parametrize("how", ['#include "{}"', "#include <{}>", '#include "s/../../../..{}"'])
def test_files_of_the_machine_are_not_told(confined: RunTool, tmp_path: Path, how: str) -> None:
    secret = secrets.token_hex(8)
    file = tmp_path / "file"
    file.write_text(f"{secret} {secret}\n")
    for path in (str(file), "/etc/passwd", "/proc/self/environ"):
        build = compiled(f"{how.format(path)}\n{KERNEL}}}", run=confined)
        told = f"{build.diagnostics} {build.log}"
        assert not build.compiled
        assert secret not in told
        assert "root:" not in told
        assert "cannot open source file" in told


def test_a_compiler_that_does_not_end_is_ended(confined: RunTool) -> None:
    build = compiled(f"{ENDLESS}{KERNEL}a[0] = table[n]; }}", run=hurried(confined, 1.0))
    assert [d.severity for d in build.diagnostics] == ["error"]
    assert "did not finish within" in first(build).message


def test_macros_that_grow_end_at_the_memory_limit(confined: RunTool) -> None:
    small: RunTool = lambda tool: confined(replace(tool, memory_bytes=600 << 20))  # noqa: E731
    build = compiled(f"{BOMB}{KERNEL}B(B(a[0] += 1;)) }}", run=small)
    assert not build.compiled
    assert "memory" in first(build).message


def test_a_deep_recursion_of_templates_is_an_error() -> None:
    code = (
        "template <int N, int M> struct F { static constexpr unsigned v = F<N - 1, M>::v + "
        "F<N - 1, M + 1>::v; };\ntemplate <int M> struct F<0, M> { static constexpr unsigned v = "
        f"1; }};\n{KERNEL}a[0] = F<400, 0>::v; }}"
    )
    assert not compiled(code).compiled


def test_a_long_computation_of_a_constant_is_refused() -> None:
    code = (
        "__device__ constexpr unsigned f(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; "
        f"i++) s += i * s + 1; return s; }}\n{KERNEL}constexpr unsigned q = f(4000000000u);\n"
        "a[0] = q; }"
    )
    assert first(compiled(code)).line == 3


def test_a_source_that_includes_itself_is_an_error() -> None:
    told = first(compiled(f'#include "kernel.cu"\n{KERNEL}}}'))
    assert told.severity == "error"


def test_many_messages_stay_few() -> None:
    unused = "\n".join(f"__device__ int f{i}() {{ int q{i}; return 0; }}" for i in range(3000))
    build = compiled(f"{unused}\n{KERNEL}a[0] = 1; }}")
    assert len(build.diagnostics) <= 60
    assert len(build.log) <= 20_000


@pytest.mark.parametrize("code", ["\0", "int \udcff;", "é = \ufffd;", "", "\r\n\r\n", '"""'])
def test_odd_characters_are_no_exception(code: str) -> None:
    build = compiled(f"{code}\n{KERNEL}}}")
    assert build.compiled or first(build).severity == "error"


def test_a_nul_is_told_at_its_line() -> None:
    told = first(compiled(f"\n{KERNEL}\0}}"))
    assert (told.line, told.message) == (3, "the source has a NUL character")


def test_code_that_is_too_large_is_not_taken() -> None:
    def cut(tool: Tool) -> ToolRun:
        done = plain_run(tool)
        return replace(done, files={n: f for n, f in done.files.items() if "cubin" not in n})

    build = compiled(f"{KERNEL}a[0] = 1; }}", run=cut)

    assert not build.modules
    assert "is too large" in first(build).message


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (ToolRun(-11, "", "", {}, 0.1), "ended by signal 11"),
        (ToolRun(1, "", "Traceback\nMemoryError\n", {}, 0.1), "ran out of memory"),
        (ToolRun(1, "", "Traceback\nOSError: no\n", {}, 0.1), "exit code 1: OSError: no"),
        (ToolRun(0, "", "", {}, 0.1), "exit code 0: no message"),
    ],
)
def test_a_compiler_that_dies_is_a_message(done: ToolRun, said: str) -> None:
    build = compiled(f"{KERNEL}}}", run=lambda _tool: done)
    assert [d.severity for d in build.diagnostics] == ["error"]
    assert said in first(build).message


def test_one_architecture_that_dies_does_not_take_the_others_along() -> None:
    def run(tool: Tool) -> ToolRun:
        done = plain_run(tool)
        return done if b'["sm_80"]' in tool.files["job.json"] else replace(done, code=-6, files={})

    from_two = compiled_for(["sm_80", "sm_90"], run)

    assert from_two == (["sm_80"], ["the compiler was ended by signal 6"])


def compiled_for(archs: list[str], run: RunTool) -> tuple[list[str], list[str]]:
    build = compile_cuda(Source(f"{KERNEL}a[0] = 1; }}", "kernel.cu"), archs, run)
    return [m.arch for m in build.modules], [d.message for d in build.diagnostics]


def test_a_broken_cubin_has_no_disassembly() -> None:
    module = compiled(f"{KERNEL}a[0] = 1; }}").modules[0]
    for cubin in (b"", b"\x7fELF", module.cubin[:200], struct.pack("<64Q", *range(64))):
        sass = disassemble(replace(module, cubin=cubin), plain_run)
        assert sass.reason
        assert sass.mixes == ()
