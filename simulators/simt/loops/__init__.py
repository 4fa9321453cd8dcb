"""The `loops` engine: LLVM IR of a kernel → an object for this processor.

The kernel is cut at its barriers and warp operations, and each piece looped over the threads of a
block. The engine does what it knows, and says of everything else why not: Unsupported.
"""

from __future__ import annotations

import base64
from dataclasses import asdict

from simulators.simt.records import Bundle, Front, KernelInfo, Unsupported, Variant

from .compiling import Compiled, compiled
from .reading import Refused


def compile_kernel(front: Front, variant: Variant) -> Bundle | Unsupported:
    """Compile one kernel for this processor."""
    infos = [one for one in front.info.kernels if one.symbol == variant.kernel]
    if not infos:
        return Unsupported(f"the module has no kernel {variant.kernel}")
    try:
        made = compiled(front, infos[0], variant)
    except Refused as refused:
        return Unsupported(refused.reason, refused.line)
    return Bundle(_meta(front, infos[0], variant, made), made.code)


def _meta(front: Front, info: KernelInfo, variant: Variant, made: Compiled) -> dict[str, object]:
    """As toolchains/child/shims/simt/abi.py documents it."""
    table = [asdict(one) for one in front.info.globals]
    for one in table:
        one["init"] = base64.b64encode(one["init"]).decode()
    return {
        "kernel": info.symbol,
        "engine": "loops",
        "reason": "",
        "params": [asdict(one) for one in info.params],
        "globals": table,
        "shared_bytes": made.shared_bytes,
        "spill_bytes": made.spill_bytes,
        "stack_bytes": 0,
        "block": list(variant.block),
        "descending": variant.descending,
        "hooks": variant.hooks,
        "warp": front.warp,
    }
