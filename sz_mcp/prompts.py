"""Ready-made requests: port, optimise, diagnose, each for three kinds of reader.

The tier says how much the request itself explains; it is also what an experiment varies.
"""

from __future__ import annotations

from typing import Any, Literal

from mcp.server import MCPServer

Tier = Literal["user", "knowledgeable", "expert"]

_LOOP = (
    "Use the sz-mcp tools: describe_arch first, then compile_kernel, verify_bounds (the suite), "
    "run_compress and profile; improve the kernel and repeat, with parent=<its kernel_id>."
)
_TIERS: dict[Tier, str] = {
    "user": "",
    "knowledgeable": (
        " An error-bounded compressor predicts each value, quantises the residual with steps of "
        "twice the bound, and encodes the integers in few bits; |x − x'| ≤ bound must hold for "
        "every element, NaN and infinities included. Read the resource sz-mcp://tasks/<task> for "
        "the exact format before writing."
    ),
    "expert": (
        " Predict from quantised integers (no error feedback), so that both directions "
        "vectorise; find block sizes first, then scan, then pack, so that blocks are independent. "
        "Accept a quantised value only if its reconstruction, computed as the decoder will, is "
        "within the largest float T for which rounding cannot hide a violation; store the rest "
        "raw. Compare GB/s with the copy peak that describe_arch reports."
    ),
}


def add_prompts(server: MCPServer[dict[str, Any]]) -> None:
    """Register the prompts on `server`."""

    @server.prompt(title="Port a compressor to a target")
    def port(task: str = "szp", target: str = "numba", tier: Tier = "user") -> str:
        """Write a first kernel for a task on a target, and make it keep its bound."""
        return (
            f"Write a {task} kernel for {target} that keeps its error bound. {_LOOP}{_TIERS[tier]}"
        )

    @server.prompt(title="Make a kernel faster or smaller")
    def optimise(kernel_id: str, field: str, tier: Tier = "user") -> str:
        """Improve a kernel that already works, on one field."""
        return (
            f"Kernel {kernel_id} works (its source: sz-mcp://kernels/{kernel_id}). Make it faster "
            f"in both directions on the field {field} without losing ratio. {_LOOP}{_TIERS[tier]}"
        )

    @server.prompt(title="Find out why a kernel fails")
    def diagnose(kernel_id: str, tier: Tier = "user") -> str:
        """Explain a failure from the ledger and the source, then mend it."""
        return (
            f"Kernel {kernel_id} fails (its source: sz-mcp://kernels/{kernel_id}). Look at its "
            "attempts with query_results (SELECT * FROM runs WHERE kernel_id = …, then diagnostics "
            f"and violations), say what is wrong and mend it. {_LOOP}{_TIERS[tier]}"
        )
