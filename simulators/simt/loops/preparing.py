"""clang's IR of a module → one kernel with everything inlined, all of whose values have names.

LLVM itself does the inlining and the naming, and tells the types. What is left may call the
primitives, intrinsics and functions of the mathematical library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import llvmlite.binding as llvm

from .machine import builder
from .reading import Function, Refused, read_function
from .symbols import Symbols, placed

_STRINGS = re.compile(r' "[^"]*"(="[^"]*")?')
_COMDAT = re.compile(r", comdat(\(\$[^)]*\))?| comdat(\(\$(\"[^\"]*\"|[^)]*)\))?(?= |$)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)", re.MULTILINE)
_VARIABLE = re.compile(r'^@("[^"]*"|[-\w.$]+) = (.*)$', re.MULTILINE)
_TYPE = re.compile(r'^(%("[^"]*"|[-\w.$]+)) = type .*$', re.MULTILINE)
_DECLARE = re.compile(r'^declare .*?@("[^"]*"|[-\w.$]+)\(.*$', re.MULTILINE)
_ATTRIBUTES = re.compile(r"^attributes #\d+ = .*$", re.MULTILINE)
_HEADER = re.compile(r"^target (?:datalayout|triple) = .*$", re.MULTILINE)


@dataclass(frozen=True)
class Prepared:
    """A kernel and what its module has beside it."""

    function: Function
    variables: Mapping[str, str]
    """Name → what comes after `@name = `."""
    types: tuple[str, ...]
    """Lines that define named types."""
    declarations: Mapping[str, str]
    """Function without a body → its line."""
    attributes: tuple[str, ...]
    header: tuple[str, ...]
    symbols: Symbols


def prepare(ir: str, kernel: str, table: tuple[str, ...]) -> Prepared:
    """kernel: its symbol; table: symbols of the launch's table of globals. Raises Refused."""
    module = llvm.parse_assembly(_plain(ir))
    _keep_only(module, kernel)
    _inline(module)
    function = module.get_function(kernel)
    text = str(module)
    lines = {int(n): int(line) for n, line in _LOCATION.findall(text)}
    types = _types(function)
    named = _TYPE.finditer(text)
    type_lines = []
    for found in named:
        if found[2] in types:
            raise Refused(f"a value with the name of a type, {found[1]}")
        types[found[1]] = ""
        type_lines.append(found[0])
    arguments = tuple(_quoted(argument.name) for argument in function.arguments)
    variables = {found[1]: found[2] for found in _VARIABLE.finditer(text)}
    named_types = dict(line.split(" = type ", 1) for line in type_lines)
    body, symbols = placed(str(function), variables, table, named_types)
    return Prepared(
        read_function(body, arguments, types | symbols.types, lines),
        variables,
        tuple(type_lines),
        {found[1]: found[0] for found in _DECLARE.finditer(text)},
        tuple(_ATTRIBUTES.findall(text)),
        tuple(_HEADER.findall(text)),
        symbols,
    )


def _plain(ir: str) -> str:
    """Without what speaks of another processor, forbids inlining or groups sections."""
    lines = []
    # clang's -fno-unroll-loops marks every loop.
    allowed = ir.replace('!{!"llvm.loop.unroll.disable"}', '!{!"llvm.loop.mustprogress"}')
    for line in allowed.split("\n"):
        if line.startswith("attributes #"):
            words = _STRINGS.sub("", line).split()
            line = " ".join(w for w in words if w not in ("noinline", "optnone", "optsize"))
        elif line.startswith("$"):
            continue
        elif line.startswith(("@", "define ")) and "comdat" in line:
            line = _COMDAT.sub("", line)
        lines.append(line)
    return "\n".join(lines)


def _keep_only(module: llvm.ModuleRef, kernel: str) -> None:
    """Everything but the kernel becomes internal, and is inlined where it is called."""
    known = False
    for function in module.functions:
        if function.is_declaration:
            continue
        if function.name == kernel:
            known = True
            function.linkage = "external"
        else:
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")
    if not known:
        raise Refused(f"the module has no kernel {kernel}")


def _inline(module: llvm.ModuleRef) -> None:
    passes = llvm.create_new_module_pass_manager()
    # Other kernels first, so that nothing is done for them.
    passes.add_global_dead_code_eliminate_pass()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    # Loops of a constant number of turns, as GPU compilers do: distances of shuffles get constant.
    passes.add_loop_unroll_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_aggressive_dce_pass()
    passes.add_instruction_namer_pass()
    passes.run(module, builder(1))


def _types(function: llvm.ValueRef) -> dict[str, str]:
    types = {_quoted(a.name): str(a.type) for a in function.arguments}
    for block in function.blocks:
        for instruction in block.instructions:
            if name := instruction.name:
                types[_quoted(name)] = str(instruction.type)
    return types


def _quoted(name: str) -> str:
    """As LLVM prints it."""
    return name if re.fullmatch(r"[-\w.$]+", name) else f'"{name}"'
