"""Rules about the wafer, set off by what the real compiler and the check of words say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernels.records import Failure, FailureKind, Status
from simulators.wafer.halts import TEXTS, HaltKind
from toolchains import csl
from toolchains.csl.building import _answer
from toolchains.feedback import guidance_for
from toolchains.feedback.wafer_rules import RULES
from toolchains.wafer import WaferToolchain, _diagnostic, _rejected
from toolchains.wafer_flow import Traffic, misuse

from .submissions import edited, loaded, lorenzo

LONGEST = 420
"""Characters of an explanation and a suggestion together."""
OPTIONS = [
    "--arch=wse3", "--fabric-dims=9,3", "--fabric-offsets=4,1", "--memcpy", "--channels=1",
    "--params=width:2,height:1,piece:16",
]  # fmt: skip
LOOP = "    differences[i] = values[i + 1] - values[i];\n"
DSD = "@get_dsd(mem1d_dsd, .{ .tensor_access = |i|"
SIZE = "  @set_rectangle(width, height);\n"
RUN = "fn run() void {\n"
BAD = '    @fadds(d, d, "x");\n'
EXPORT = "@export_symbol(run);"
ID = "@get_local_task_id(28)"
TASK = "task t() void {}\n"
OUT = (
    "const out = @get_dsd(fabout_dsd, .{ .extent = 8, .fabric_color = @get_color(4),"
    " .output_queue = @get_output_queue(3) });\n"
    "comptime { @initialize_queue(@get_output_queue(3), .{ .color = @get_color(4) }); }\n"
)
OTHER = OUT.splitlines()[0].replace("out ", "other ").replace("color(4)", "color(5)") + "\n"
SEND = (
    f"    const from = {DSD}{{8}} -> values[i] }});\n    @mov32(out, from, .{{ .async = true }});\n"
)
DONE = SEND.replace(".async = true", ".async = true, .activate = t")


def route(color: int, rx: str, tx: str) -> str:
    """Of the first PE."""
    return (
        f"  @set_color_config(0, 0, @get_color({color}),"
        f" .{{ .routes = .{{ .rx = .{{ {rx} }}, .tx = .{{ {tx} }} }} }});\n"
    )


EDITS: dict[str, tuple[str, str, str]] = {
    "csl-out-of-memory": ("pe.csl", "@zeros([piece]i32)", "@zeros([20000]i32)"),
    "csl-unknown-builtin": ("pe.csl", "@export_symbol(run)", "@export_function(run)"),
    "csl-mixed-types": ("pe.csl", LOOP, "    differences[i] = values[i] + i;\n"),
    "csl-undefined-name": ("pe.csl", LOOP, "    differences[i] = vals[i];\n"),
    "csl-assign-const": ("pe.csl", LOOP, "    piece = 3;\n"),
    "csl-missing-semicolon": ("pe.csl", LOOP, "    differences[i] = values[i]\n"),
    "csl-unknown-library": ("pe.csl", "<memcpy/memcpy>", "<memcpy/memcopy>"),
    "csl-missing-param": ("layout.csl", ", .piece = piece,", ","),
    "csl-type-mismatch": ("layout.csl", '"values", [*]i32', '"values", [*]f32'),
    "csl-not-exported": ("pe.csl", "  @export_symbol(run);\n", ""),
    "csl-out-of-bounds": ("pe.csl", LOOP, f"    const d = {DSD}{{20}} -> values[i] }});\n"),
    "csl-async-operands": (
        "pe.csl",
        LOOP,
        f"    const d = {DSD}{{8}} -> values[i] }});\n    @mov32(d, d, .{{ .async = true }});\n",
    ),
    "csl-not-comptime": ("pe.csl", LOOP, "    var a = @zeros([i]i32);\n"),
    "csl-shift-amount": ("pe.csl", LOOP, "    differences[i] = values[i] << 40;\n"),
    "csl-comptime-only": ("pe.csl", LOOP, "    var x = 5;\n"),
    "csl-foreign-syntax": ("pe.csl", LOOP, "    differences[i] = i > 3 ? 1 : 2;\n"),
    "csl-builtin-context": ("pe.csl", LOOP, "    @set_rectangle(1, 1);\n"),
    "csl-bad-export": ("pe.csl", EXPORT, f"{EXPORT} @export_symbol(sys);"),
    "csl-reserved-color": ("layout.csl", SIZE, SIZE + route(22, "RAMP", "EAST")),
    "csl-several-rx": ("layout.csl", SIZE, SIZE + route(3, "WEST, EAST", "RAMP")),
    "csl-reserved-id": ("pe.csl", RUN, f"{TASK}comptime {{ @bind_local_task(t, {ID}); }}\n{RUN}"),
    "csl-unbound-task": ("pe.csl", RUN, TASK + OUT + RUN + DONE),
    "csl-bad-completion": (
        "pe.csl",
        RUN,
        TASK + OUT + RUN + DONE.replace(".activate", ".unblock = t, .activate"),
    ),
    "csl-queue-clash": (
        "pe.csl",
        RUN,
        OUT + OTHER + RUN + SEND + SEND.replace("(out", "(other").replace("from", "from2"),
    ),
    "csl-tensor-access": (
        "pe.csl",
        LOOP,
        f"    const d = {DSD.replace('|i|', '|i, j|')}{{8}} -> values[i] }});\n",
    ),
    "csl-operand": ("pe.csl", LOOP, f"    const d = {DSD}{{8}} -> values[i] }});\n{BAD}"),
}


def said(name: str, old: str, new: str) -> Failure:
    """What the server says of the worked program with an edit."""
    files = dict(lorenzo().files)
    assert old in files[name]
    files[name] = files[name].replace(old, new)
    answer = _answer({"files": files, "main": "layout.csl", "options": OPTIONS})
    return _rejected(tuple(map(_diagnostic, answer["diagnostics"])), answer["stopped"])


@pytest.mark.parametrize("rule", EDITS)
def test_a_rule_is_set_off_by_what_the_compiler_says(
    rule: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))

    failure = said(*EDITS[rule])

    assert [one.rule for one in guidance_for(failure, "wafer:wse3")] == [rule], failure


def test_what_the_check_of_words_says_has_rules() -> None:
    field = np.arange(1, 4001, dtype=np.float32)
    stream = (np.arange(2000, dtype=np.uint32) * 2654435761).astype(np.uint32)
    mixed = field[np.random.default_rng(1).permutation(field.size)]
    told = {
        "wafer-host-sends": misuse(Traffic([(field * 3.5).tobytes()], [], 0), [field], []),
        "wafer-host-returns": misuse(Traffic([], [field.tobytes()], 0), [field], [stream]),
        "wafer-order": misuse(Traffic([mixed.tobytes()], [], 0), [field], []),
        "wafer-arguments": misuse(Traffic([], [], 5000), [field], []),
    }

    for rule, text in told.items():
        failure = Failure(Status.REJECTED, Status.TERMINATES, FailureKind.INTEGRITY, text)
        assert [one.rule for one in guidance_for(failure, "wafer:wse2")] == [rule], text


HALTS = {
    HaltKind.INDEX: "wafer-index",
    HaltKind.DSD_RANGE: "wafer-dsd-range",
    HaltKind.RUNAWAY: "wafer-runaway",
    HaltKind.CYCLE_LIMIT: "wafer-runaway",
    HaltKind.DIVIDE: "wafer-divide",
    HaltKind.MICROTHREAD_BUSY: "wafer-busy",
    HaltKind.QUEUE_BUSY: "wafer-busy",
}


@pytest.mark.parametrize("kind", HALTS)
def test_what_the_machine_says_has_rules(kind: HaltKind) -> None:
    text = f"SdkRuntimeError: pe.csl:3:1: {TEXTS[kind].format(a=5, b=4)}"
    failure = Failure(Status.ERROR, Status.TERMINATES, FailureKind.EXCEPTION, text)

    assert [one.rule for one in guidance_for(failure, "wafer:wse2")] == [HALTS[kind]]


def test_every_code_that_has_a_rule_is_one_of_the_compilers() -> None:
    folder = Path(str(csl.__file__)).parent
    sources = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    codes = [rule.name.removeprefix("csl-") for rule in RULES if rule.name.startswith("csl-")]

    assert [code for code in codes if f'"{code}"' not in sources] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_short(rule: object) -> None:
    assert len(rule.explanation) + len(rule.suggestion) <= LONGEST  # type: ignore[attr-defined]


def test_names_of_rules_are_their_own() -> None:
    names = [rule.name for rule in RULES]

    assert len(names) == len(set(names))


LAUNCH = 'runner.launch("run", nonblock=False)'
GROWS = (
    f"    var d = {DSD}{{{{8}}}} -> values[i] }});\n"
    "    for (@range(u16, 300)) |_| { @mov32(d, d); d = @increment_dsd_offset(d, 8, i32); }\n"
).replace("{{8}}", "{8}")
# What the machine and the SDK say to a program that really runs.
RUNNING: dict[str, tuple[str, str, str]] = {
    "wafer-never-unblocked": ("pe.csl", "  sys.unblock_cmd_stream();\n", ""),
    "wafer-index": ("pe.csl", "values[i + 1]", "values[i + 2]"),
    "wafer-dsd-range": ("pe.csl", RUN, RUN + GROWS),
    "wafer-divide": ("pe.csl", "- values[i];", "/ (values[i] - values[i]);"),
    "wafer-no-symbol": ("kernel.py", 'get_id("values")', 'get_id("valuez")'),
    "wafer-elements": ("kernel.py", "sent.reshape(-1)", "sent.reshape(-1)[1:]"),
    "wafer-element-type": ("kernel.py", "sent.reshape(-1)", "sent.reshape(-1).astype(np.uint64)"),
    "wafer-order-of-calls": ("kernel.py", "    runner.load()\n", ""),
    "wafer-launch-argument": ("kernel.py", LAUNCH, LAUNCH.replace('"run",', '"run", 3.5,')),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", RUNNING)
def test_a_rule_is_set_off_by_what_a_running_program_says(wafer: WaferToolchain, rule: str) -> None:
    failure = ran(wafer, *RUNNING[rule])

    assert [one.rule for one in guidance_for(failure, "wafer:wse3")] == [rule], failure


def test_a_program_that_halts_is_told_what_the_compiler_had_warned_of(
    wafer: WaferToolchain,
) -> None:
    sends = OUT + RUN + SEND.replace(".{ .async = true }", ".{}").replace("{8}", "{12}")
    failure = ran(wafer, "pe.csl", RUN, sends.replace(".extent = 8", ".extent = 12"))

    assert any("[never-read]" in one.message for one in failure.diagnostics), failure


def ran(wafer: WaferToolchain, name: str, old: str, new: str) -> Failure:
    """How a call of the worked program with an edit fails."""
    with loaded(wafer, edited(name, old, new)) as session:
        reply = session.call(
            "run", [(np.arange(3000, dtype=np.int32),)], capacity=[1 << 16], deadline_s=20.0
        )
    assert isinstance(reply, Failure)
    return reply
