"""`cslc` and `cs-python`, run as a user runs them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from simulators.wafer.program_files import load_program
from toolchains.csl.command_line import OptionsError, parse
from toolchains.csl.types import BF16, CB16, F16

ROOT = Path(__file__).parents[2]
WAIT_S = 280

LAYOUT = """
param width: u16;
param count: i16 = 4;
const memcpy = @import_module("<memcpy/get_params>", .{ .width = width, .height = 1 });
layout {
  @set_rectangle(width, 1);
  for (@range(u16, width)) |x| {
    @set_tile_code(x, 0, "pe.csl", .{ .memcpy_params = memcpy.get_params(x), .count = count });
  }
  @export_name("data", [*]f32, true);
  @export_name("scale", fn(f32)void);
  @export_name("check", fn(i16)void);
}
"""
PE = """
param memcpy_params;
param count: i16;
const sys_mod = @import_module("<memcpy/memcpy>", memcpy_params);
const place = @import_module("<layout>");
const print = @import_module("<simprint>");
const trace = @import_module("<debug>", .{ .key = "log", .buffer_size = 10 });
var data = @zeros([count]f32);
var ptr: [*]f32 = &data;
fn scale(by: f32) void {
  for (@range(i16, count)) |i| {
    data[i] = data[i] * by;
  }
  print.print_string("PE ");
  print.print_u16_decimal(place.get_x_coord());
  print.print_string(" scaled by ");
  print.print_f32(by);
  print.print_string("\\n");
  trace.trace_string("scaled");
  trace.trace_i16(count);
  sys_mod.unblock_cmd_stream();
}
fn check(n: i16) void {
  @assert(n > 0);
  if (place.get_x_coord() > 0) {
    sys_mod.unblock_cmd_stream();
  }
}
comptime {
  @export_symbol(ptr, "data");
  @export_symbol(scale);
  @export_symbol(check);
}
"""
BEGIN = """
import sys
import numpy as np
from cerebras.sdk.runtime.sdkruntimepybind import SdkRuntime, MemcpyDataType, MemcpyOrder
from cerebras.sdk.debug.debug_util import debug_util
HOW = dict(streaming=False, data_type=MemcpyDataType.MEMCPY_32BIT, order=MemcpyOrder.ROW_MAJOR,
           nonblock=False)
runner = SdkRuntime(sys.argv[1])
runner.load()
runner.run()
given, got = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
"""


VENDORS = """--arch wse2 a.csl --params=a:1,b:0x10 --params=c:true --colors=x:3 -o out2
  --channels 2 --fp16-format=cbfloat --sdk-dialect 2.10 --max-inlined-iterations=9 --verbose"""


def sz_mcp(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sz_mcp", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        timeout=WAIT_S,
        check=False,
    )


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program, compiled."""
    folder = tmp_path_factory.mktemp("program")
    write(folder, {"layout.csl": LAYOUT, "pe.csl": PE})
    done = sz_mcp(
        "cslc", "./layout.csl", "--arch=wse3", "--fabric-dims", "9,3", "--fabric-offsets=4,1",
        "--params=width:2", "-o=out", "--memcpy", "--channels", "1", "--width-west-buf=0",
        folder=folder,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr.startswith(
        "pe.csl:25:7: warning: `check` can end without unblock_cmd_stream"
    )
    assert done.stderr.count("warning") == 1
    assert done.stdout.startswith("out: wse3, 2 x 1 PEs, 1 different; at most ")
    return folder


def run(built: Path, name: str, script: str, *before: str) -> subprocess.CompletedProcess[str]:
    write(built, {name: BEGIN + script})
    return sz_mcp("cs-python", *before, name, "out", folder=built)


# --- cslc ----------------------------------------------------------------------------------------


def test_the_folder_is_as_host_programs_expect_it(built: Path) -> None:
    about = json.loads((built / "out" / "out.json").read_text())
    assert about["params"] == {"width": "2"}
    assert (about["arch"], about["fabric_dims"], about["fabric_offsets"]) == (
        "wse3",
        [9, 3],
        [4, 1],
    )
    symbols = json.loads((built / "out" / "bin" / "out_rpc.json").read_text())["rpc_symbols"]
    assert [(one["id"], one["name"]) for one in symbols] == [
        (0, "data"),
        (1, "scale"),
        (2, "check"),
    ]
    assert load_program(built / "out" / "bin").width == 2


def test_mistakes_are_shown_with_carets_and_nothing_is_written(tmp_path: Path) -> None:
    wrong = PE.replace("data[i] * by", "data[i] * bye")
    write(tmp_path, {"layout.csl": LAYOUT, "pe.csl": wrong})
    done = sz_mcp("cslc", "layout.csl", "--params=width:2", "--memcpy", folder=tmp_path)
    assert done.returncode == 1
    assert "pe.csl:12:25: error: " in done.stderr
    assert "\n      data[i] = data[i] * bye;\n" in done.stderr
    assert "^^^" in done.stderr
    assert done.stderr.endswith("1 error; nothing was written\n")
    assert not (tmp_path / "out").exists()


def test_json_has_what_the_text_says(tmp_path: Path) -> None:
    write(tmp_path, {"layout.csl": LAYOUT, "pe.csl": PE.replace("data[i] * by", "data[i] * bye")})
    done = sz_mcp("cslc", "layout.csl", "--params=width:2", "--memcpy", "--json", folder=tmp_path)
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (1, False)
    (one,) = told["diagnostics"]
    assert (one["file"], one["line"], one["column"]) == ("pe.csl", 12, 25)
    assert (one["severity"], one["source"]) == ("error", "    data[i] = data[i] * bye;")


def test_json_of_a_program_says_how_large_it_is(built: Path) -> None:
    done = sz_mcp("cslc", "layout.csl", "--params=width:2", "-o", "two", "--json", folder=built)
    told = json.loads(done.stdout)
    assert (told["ok"], told["out"], told["program"]["width"]) == (True, "two", 2)
    assert told["program"]["classes"][0]["name"] == "pe.csl"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.csl"], "there is no file none.csl"),
        (["layout.csl", "--arch=wse1"], "invalid choice: 'wse1'"),
        (["layout.csl", "--params=width"], "NAME:VALUE is needed, not 'width'"),
        (["layout.csl", "--fabric-dims=9"], "two numbers with a comma between are needed, not 9"),
        (["layout.csl", "--archs=wse3"], "unrecognized arguments: --archs=wse3"),
        (["layout.csl", "--fp16-format=f8"], "f16, bf16 or cb16, not f8"),
    ],
)
def test_options_that_are_wrong_are_told(built: Path, arguments: list[str], told: str) -> None:
    done = sz_mcp("cslc", *arguments, folder=built)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_options_come_in_the_vendors_forms() -> None:
    wish = parse(shlex.split(VENDORS))
    assert (wish.main, wish.out, wish.verbose) == (Path("a.csl"), Path("out2"), True)
    options = wish.options
    assert options.params == (("a", "1"), ("b", "0x10"), ("c", "true"))
    assert options.colors == (("x", 3),)
    assert (options.arch, options.dialect, options.channels) == ("wse2", "2.10", 2)
    assert (options.fp16, options.max_inlined_iterations, options.memcpy) == (CB16, 9, False)
    assert parse(["a.csl", "-o=x"]).out == Path("x")
    assert parse(["a.csl"]).options.fp16 == F16
    assert parse(["a.csl", "--fp16-format=bfloat"]).options.fp16 == BF16
    with pytest.raises(OptionsError, match="a colour is a number, not red"):
        parse(["a.csl", "--colors=x:red"])


def test_help_names_the_options(tmp_path: Path) -> None:
    done = sz_mcp("cslc", "--help", folder=tmp_path)
    assert done.returncode == 0
    assert "--fabric-offsets X,Y" in done.stdout


# --- cs-python -----------------------------------------------------------------------------------


def test_a_host_program_copies_launches_prints_and_traces(built: Path) -> None:
    script = """
runner.memcpy_h2d(runner.get_id("data"), given, 0, 0, 2, 1, 4, **HOW)
runner.launch("scale", np.float32(1.5), nonblock=False)
runner.memcpy_d2h(got, runner.get_id("data"), 0, 0, 2, 1, 4, **HOW)
runner.stop()
print(got.tolist())
print(debug_util(sys.argv[1]).read_trace(5, 1, "log"), __name__, sys.argv)
"""
    done = run(built, "run.py", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "PE 0 scaled by 1.5\nPE 1 scaled by 1.5\n"
        f"{[1.5 * n for n in range(8)]}\n"
        "['scaled', 4] __main__ ['run.py', 'out']\n"
    )


def test_a_program_that_never_lets_the_host_go_on_is_told_with_its_place(built: Path) -> None:
    script = """
runner.launch("check", np.int16(1), nonblock=False)
runner.memcpy_d2h(got, runner.get_id("data"), 0, 0, 2, 1, 4, **HOW)
"""
    done = run(built, "hang.py", script)
    assert done.returncode == 1
    assert 'File "hang.py", line 14, in <module>' in done.stderr
    assert "1 PE did not call unblock_cmd_stream(): (0,0)" in done.stderr
    assert "_runtime.py" not in done.stderr


def test_a_failed_assertion_is_told_as_json(built: Path) -> None:
    script = 'runner.launch("check", np.int16(-1), nonblock=False)\nrunner.stop()\n'
    done = run(built, "fail.py", script, "--json")
    told = json.loads(done.stderr)
    assert done.returncode == 1
    assert (told["type"], told["file"], told["line"]) == ("ProgramHalted", "fail.py", 13)
    assert told["halt"]["kind"] == "assert"
    assert "pe.csl:24:3: @assert failed" in told["error"]


def test_exit_codes_and_ends_of_scripts_are_passed_on(built: Path) -> None:
    assert run(built, "exit.py", "sys.exit(7)").returncode == 7
    done = run(built, "say.py", 'sys.exit("enough")')
    assert (done.returncode, done.stderr) == (1, "enough\n")
    assert run(built, "quit.py", "sys.exit()").returncode == 0


def test_the_appliances_compiler_takes_the_options_of_cslc(built: Path) -> None:
    script = """
from cerebras.sdk.client import SdkCompiler
with SdkCompiler() as compiler:
    options = "--arch wse2 --params=width:3 -o latest --memcpy"
    name = compiler.compile(".", "layout.csl", options)
    print(name)
    with SdkRuntime(name) as runner:
        print(runner.get_id("scale"))
    compiler.compile(".", "layout.csl", "--params=width:0")
"""
    done = run(built, "compile.py", script)
    assert done.returncode == 1
    assert done.stdout == "latest\n1\n"
    assert 'File "compile.py", line 20' in done.stderr
    assert "layout.csl has errors:\n" in done.stderr


def test_a_script_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = sz_mcp("cs-python", "none.py", folder=tmp_path)
    assert (done.returncode, "there is no file none.py" in done.stderr) == (2, True)
    assert "usage: sz-mcp cs-python" in sz_mcp("cs-python", folder=tmp_path).stdout
