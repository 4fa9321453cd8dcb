"""Ready-made requests: port, optimise, diagnose, each for three kinds of reader.

The tier says how much the request itself explains; it is also what an experiment varies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import Message, PromptArgument
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, InputRequiredResult
from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

Tier = Annotated[
    Literal["user", "knowledgeable", "expert"], Field(description="user, knowledgeable or expert")
]

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


def port(task: str = "szp", target: str = "numba", tier: Tier = "user") -> str:
    """Write a first kernel for a task on a target, and make it keep its bound."""
    return f"Write a {task} kernel for {target} that keeps its error bound. {_LOOP}{_TIERS[tier]}"


def optimise(kernel_id: str, field: str, tier: Tier = "user") -> str:
    """Improve a kernel that already works, on one field."""
    return (
        f"Kernel {kernel_id} works (its source: sz-mcp://kernels/{kernel_id}). Make it faster "
        f"in both directions on the field {field} without losing ratio. {_LOOP}{_TIERS[tier]}"
    )


def diagnose(kernel_id: str, tier: Tier = "user") -> str:
    """Explain a failure from the ledger and the source, then mend it."""
    return (
        f"Kernel {kernel_id} fails (its source: sz-mcp://kernels/{kernel_id}). Look at its "
        "attempts with query_results (SELECT * FROM runs WHERE kernel_id = …, then diagnostics "
        f"and violations), say what is wrong and mend it. {_LOOP}{_TIERS[tier]}"
    )


PROMPTS: dict[str, Callable[..., str]] = {
    "Port a compressor to a target": port,
    "Make a kernel faster or smaller": optimise,
    "Find out why a kernel fails": diagnose,
}
"""Title → prompt."""


def add_prompts(server: MCPServer[dict[str, Any]]) -> None:
    """Register the prompts on `server`."""
    for title, body in PROMPTS.items():
        server.add_prompt(_Checked.from_function(body, title=title))


class _Checked(Prompt):
    """A prompt that says what is wrong with its arguments; the SDK calls that an internal error."""

    async def render(
        self, arguments: dict[str, Any] | None, context: Context[Any, Any]
    ) -> list[Message] | InputRequiredResult:
        """As the SDK's. Raises MCPError if the arguments are wrong."""
        try:
            self.fn(**(arguments or {}))
        except ValidationError as error:
            raise MCPError(code=INVALID_PARAMS, message=self._told(error)) from error
        return await super().render(arguments, context)

    def _told(self, error: ValidationError) -> str:
        problems = "; ".join(_problem(one) for one in error.errors())
        listed = ", ".join(_described(one) for one in self.arguments or ())
        return f"prompt {self.name}: {problems}\nIts arguments are {listed}"


def _described(argument: PromptArgument) -> str:
    note = "required" if argument.required else argument.description
    return f"{argument.name} ({note})" if note else argument.name


def _problem(error: ErrorDetails) -> str:
    name = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "missing_argument":
            return f"{name}: required"
        case "unexpected_keyword_argument":
            return f"unknown argument {name!r}"
    wrong = error["msg"].replace("Input should be", "must be")
    return f"{name}: {wrong}, got {error['input']!r:.60}"
