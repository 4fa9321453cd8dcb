"""LLVM for this processor: optimise a module, emit it as an object."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

import llvmlite.binding as llvm

_ENTRY = "simt_entry"


@cache
def target() -> llvm.TargetMachine:
    """Of the processor that this runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(),
        opt=3, reloc="pic", codemodel="small", jit=False,
    )  # fmt: skip


def builder(level: int) -> llvm.PassBuilder:
    """Of passes; level: 0 to 3."""
    options = llvm.create_pipeline_tuning_options(level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    options.loop_interleaving = options.loop_unrolling = level > 1
    return llvm.create_pass_builder(target(), options)


def optimised(text: str) -> llvm.ModuleRef:
    """A kernel's module, checked and optimised."""
    module = llvm.parse_assembly(text)
    module.verify()
    made = builder(3)
    made.getModulePassManager().run(module, made)
    return module


def emitted(module: llvm.ModuleRef) -> bytes:
    """With the part that does not depend on the kernel, as an object."""
    module.link_in(llvm.parse_assembly(runtime()))
    for function in module.functions:
        if not function.is_declaration and function.name != _ENTRY:
            function.linkage = "internal"
    # Of a kernel whose threads always agree, most of the runtime goes.
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder(0))
    code: bytes = target().emit_object(module)
    return code


@cache
def runtime() -> str:
    """IR of runtime.c, without what speaks of another processor."""
    text = files(__package__).joinpath("runtime.ll").read_text()
    return re.sub(r' "[^"]*"="[^"]*"', "", text)
