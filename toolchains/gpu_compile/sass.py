"""SASS, the machine code of a GPU, and what instructions a kernel is made of.

By NVIDIA's nvdisasm, where its wheel is installed; instructions are those of the tables in the CUDA
Binary Utilities manual.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernels.records import Metric
from simulators.simt.tool import RunTool, Tool

from .cuda_build import CudaModule
from .cuda_places import FOLDER
from .cuda_wheels import INSTALL, find_nvdisasm

_TIMEOUT_S = 20.0
_MOST = 16 << 20
"""Bytes of disassembly that are read."""
_TO_FILE = (
    "import os, sys; os.dup2(os.open('module.sass', os.O_WRONLY | os.O_CREAT, 0o600), 1); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""It only prints, and more than a runner keeps of what is printed."""
_SECTION = re.compile(r"^\s*\.section\s+\.text\.([\w$]+)")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P[0-9T]\s+)?([A-Z][A-Z0-9_.]*)")
_FILE = re.compile(
    rf'^(\s*//## File )"/(?:[^"]*/(?:{FOLDER}|include/cccl|include|nvrtc_include)/|[^"]*/)'
)
"""A file of the submission's, of CUDA's, or that a `#line` names, with the folders it lies in."""
_WIDTH = re.compile(r"\.(U8|S8|U16|S16|64|128|256)\b")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}

_MEMORY = {
    "LDG": "global load", "LD": "global load", "STG": "global store", "ST": "global store",
    "LDS": "shared load", "LDSM": "shared load", "STS": "shared store",
    "LDL": "local load", "STL": "local store",
}  # fmt: skip
_KINDS: tuple[tuple[str, str], ...] = (
    ("atomic", r"(ATOM|ATOMG|ATOMS|RED|REDG)$"),
    ("constant load", r"U?LDC(U)?$"),
    ("barrier", r"BAR$"),
    ("fence", r"(MEMBAR|(CGA)?ERRBAR|CCTL|FENCE)$"),
    ("shuffle", r"SHFL$"),
    ("vote", r"(U?VOTE|VOTEU|MATCH|REDUX|CREDUX)$"),
    ("fp64", r"(DADD|DMUL|DFMA|DSETP|DMNMX|DMMA)$"),
    ("tensor", r"(HMMA|IMMA|BMMA|QMMA|OMMA|HGMMA|UTC\w*MMA)$"),
    ("fp16", r"H(ADD2|MUL2|FMA2|SETP2|SET2|MNMX2)$"),
    ("special function", r"MUFU$"),
    ("fp32", r"U?(FADD|FMUL|FFMA|FSETP|FSEL|FMNMX|FCHK|FSWZADD|FSET|FMNMX3|FADD2|FMUL2|FFMA2)$"),
    ("conversion", r"(I2F|F2I|F2F|I2I|I2FP|F2FP|F2IP|FRND|I2IP)$"),
    ("integer", r"U?(IADD3?|IADD32I|IMAD|IMUL|ISETP|IMNMX|VIMNMX3?|VIADD|VIADDMNMX|IABS|LEA|ISCADD"
                r"|LOP3?|LOP32I|PLOP3|SHF|SHL|SHR|BREV|BMSK|FLO|POPC|PRMT|SGXT|SEL|IDP|ICMP)$"),
    ("control", r"(BRA|BRX|JMP|JMX|CALL|RET|EXIT|BSSY|BSYNC|BREAK|WARPSYNC\w*|YIELD|KILL|NANOSLEEP"
                r"|BMOV|RPCMOV|ELECT|DEPBAR)$"),
)  # fmt: skip
_MOVES = ("MOV", "UMOV", "MOV32I", "S2R", "S2UR", "CS2R", "R2UR", "R2P", "P2R", "R2B", "B2R")
_CONSTANT = re.compile(r"HFMA2\S* \w+, -RZ, RZ,")
"""A constant put into a register."""
_MATCHERS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)


@dataclass(frozen=True)
class InstructionMix:
    """Static counts of one kernel: how often an instruction stands in it, not how often it runs."""

    symbol: str
    counts: Mapping[str, int]
    """Kind → instructions; accesses have their width: `global load 16 B`."""

    @property
    def total(self) -> int:
        """Of all instructions but padding."""
        return sum(self.counts.values())

    def metrics(self, name: str) -> tuple[Metric, ...]:
        """As `sass.global load 16 B[NAME]`, the most frequent first. name: of the kernel."""
        ordered = sorted(self.counts.items(), key=lambda item: -item[1])
        return tuple(
            Metric(f"sass.{kind}[{name}]", float(count), "instructions", "derived")
            for kind, count in ordered
        )


@dataclass(frozen=True)
class Sass:
    """Of one architecture."""

    text: str = ""
    """With the lines of the source."""
    mixes: tuple[InstructionMix, ...] = ()
    reason: str = ""
    """Why there is none."""


def disassemble(module: CudaModule, run: RunTool) -> Sass:
    """Takes a quarter of a second; what came of a submission's code is untrusted, as it is."""
    program = find_nvdisasm()
    if program is None:
        return Sass(reason=f"the disassembler (nvidia-cuda-nvdisasm) is not installed: {INSTALL}")
    python = str(Path(sys.executable).resolve())
    done = run(
        Tool(
            argv=(python, "-I", "-S", "-c", _TO_FILE, str(program), "-c", "-g", "module.cubin"),
            files={"module.cubin": module.cubin},
            results=("module.sass",),
            shown=(program,),
            timeout_s=_TIMEOUT_S,
        )
    )
    printed = done.files.get("module.sass", b"")
    if done.code != 0 or not printed:
        last = done.err.strip().splitlines()[-1:]
        why = last[0][:300] if last else f"exit code {done.code}"
        return Sass(reason=f"nvdisasm failed: {'it took too long' if done.timed_out else why}")
    if len(printed) > _MOST:
        return Sass(reason=f"the disassembly is too long: {len(printed)} bytes")
    lines = printed.decode("utf-8", "replace").split("\n")
    text = "\n".join(_FILE.sub(r'\1"', line) for line in lines)
    return Sass(text, instruction_mixes(text))


def instruction_mixes(text: str) -> tuple[InstructionMix, ...]:
    """Of every kernel in a disassembly."""
    found: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for line in text.split("\n"):
        if section := _SECTION.match(line):
            counts = found.setdefault(section[1], Counter())
        elif (instruction := _INSTRUCTION.match(line)) and instruction[1] != "NOP":
            counts["move" if _CONSTANT.search(line) else _kind(instruction[1])] += 1
    return tuple(InstructionMix(symbol, dict(c)) for symbol, c in found.items())


def _kind(name: str) -> str:
    opcode = name.partition(".")[0]
    if opcode in _MEMORY:
        width = _WIDTH.search(name)
        return f"{_MEMORY[opcode]} {_BYTES[width[1]] if width else 4} B"
    if opcode == "IMAD" and ".MOV" in name:
        return "move"
    found = (kind for kind, matcher in _MATCHERS if matcher.match(opcode))
    return next(found, "move" if opcode in _MOVES else "other")
