"""Ready-made requests: port, optimise, diagnose, each for three kinds of reader.

The tier says how much the request itself explains; it is also what an experiment varies. What is
said depends on the task: a codec keeps a bound and trades size for speed, a stage must equal its
golden answer and has only speed.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.prompts.base import Message, PromptArgument, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, InputRequiredResult
from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from sz_mcp.app import App
from sz_mcp.calls import current_call

if TYPE_CHECKING:
    from kernels.records import Kernel
    from kernels.tasks import Task

Tier = Annotated[
    Literal["user", "knowledgeable", "expert"], Field(description="user, knowledgeable or expert")
]
TaskName = Annotated[str, Field(description="a task, for example szp or lorenzo-2d")]
TargetName = Annotated[str, Field(description="a target, for example numba")]
FieldName = Annotated[str, Field(description="a field, for example na_temperature")]
KernelId = Annotated[str, Field(description="as compile_kernel returned it")]

_LOOP = (
    "Use the sz-mcp tools: describe_arch first, then compile_kernel, verify_bounds (without a "
    "field it runs the suite of hard cases), run_compress and profile; improve the kernel and "
    "repeat, with parent=<its kernel_id>."
)
_CODEC: dict[Tier, str] = {
    "user": "",
    "knowledgeable": (
        "An error-bounded compressor predicts each value, quantises the residual with steps of "
        "twice the bound, and encodes the integers in few bits; |x − x'| ≤ bound must hold for "
        "every element, NaN and infinities included."
    ),
    "expert": (
        "Quantise first and predict from the quantised integers (no error feedback), so that both "
        "directions vectorise; find block sizes first, then scan, then pack, so that blocks are "
        "independent. Accept a quantised value only if its reconstruction, computed as the decoder "
        "will, is within the largest float T for which rounding cannot hide a violation; store the "
        "rest raw. Compare GB/s with the copy peak that describe_arch reports."
    ),
}
_STAGE: dict[Tier, str] = {
    "user": "",
    "knowledgeable": (
        "A stage is one step of a compressor, taken alone: run(*inputs) gets arrays as the task's "
        "page says and must return exactly the arrays (number, dtype, shape, values) that the page "
        "defines. Integers wrap modulo 2^32; empty inputs and odd sizes are part of the suite."
    ),
    "expert": (
        "Stages are bound by memory: read every input once, write every output once, keep what is "
        "carried along in registers, and give inner loops a fixed trip count without branches, so "
        "that they vectorise. Where sizes depend on the data, make three passes: sizes per block, "
        "an exclusive scan, then blocks that no longer depend on each other. Compare GB/s with the "
        "copy peak at the same size."
    ),
}


class Prompts:
    """The prompts of one server; their docstrings are what clients show."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def port(
        self, task: TaskName = "szp", target: TargetName = "numba", tier: Tier = "user"
    ) -> str:
        """Write a first kernel for a task on a target, and make it right."""
        engine = await self._app.ready()
        _one_of("task", task, list(engine.tasks))
        _one_of("target", target, list(engine.targets))
        chosen = engine.tasks[task]
        wanted = "equals its golden answer" if _is_stage(chosen) else "keeps its error bound"
        first = f"Write a {task} kernel for {target} that {wanted}: {chosen.summary}"
        return _text(first, chosen, tier)

    async def optimise(self, kernel_id: KernelId, field: FieldName, tier: Tier = "user") -> str:
        """Improve a kernel that already works, on one field."""
        kernel, task = await self._kernel(kernel_id)
        problem = (await self._app.ready()).catalogue.problem(field)
        if problem is not None:
            raise MCPError(code=INVALID_PARAMS, message=problem)
        first = (
            f"Kernel {kernel_id} ({task.name} on {kernel.submission.target}) works; its source is "
            f"the resource sz-mcp://kernels/{kernel_id}. {_goal(task)}, measured on the field "
            f"{field}; profile says where its time goes."
        )
        return _text(first, task, tier)

    async def diagnose(self, kernel_id: KernelId, tier: Tier = "user") -> str:
        """Explain a failure from the ledger and the source, then mend it."""
        kernel, task = await self._kernel(kernel_id)
        first = (
            f"Kernel {kernel_id} ({task.name} on {kernel.submission.target}) fails; its source is "
            f"the resource sz-mcp://kernels/{kernel_id}. Look at what became of it with "
            "query_results: SELECT tool, field, status, stage, failure_kind, failure_message FROM "
            f"runs WHERE kernel_id = '{kernel_id}' ORDER BY started_at; its builds and diagnostics "
            "are in the tables of those names. Or repeat the call that failed. Say what is wrong, "
            "then mend it."
        )
        return _text(first, task, tier)

    async def _kernel(self, kernel_id: str) -> tuple[Kernel, Task]:
        engine = await self._app.ready()
        kernel = self._app.seen_kernel(kernel_id, current_call().caller)
        if kernel is None:
            message = f"no kernel {kernel_id!r} here: compile_kernel returns kernel ids"
            raise MCPError(code=INVALID_PARAMS, message=message)
        return kernel, engine.tasks[kernel.submission.task]


def add_prompts(server: MCPServer[dict[str, Any]], app: App) -> None:
    """Register the prompts on `server`."""
    prompts = Prompts(app)
    for title, body in (
        ("Port a task to a target", prompts.port),
        ("Make a kernel faster or smaller", prompts.optimise),
        ("Find out why a kernel fails", prompts.diagnose),
    ):
        server.add_prompt(_Checked.from_function(body, title=title))


def _is_stage(task: Task) -> bool:
    return task.functions == ("run",)


def _goal(task: Task) -> str:
    if _is_stage(task):
        return "Make it faster and keep it exact"
    if getattr(task, "stream_format", None) is not None:
        return "Make it faster in both directions; its streams may not outgrow the size rule"
    return "Make it faster in both directions and its streams smaller"


def _text(first: str, task: Task, tier: Tier) -> str:
    explained = (_STAGE if _is_stage(task) else _CODEC)[tier]
    page = f'Before writing, read describe_arch(task="{task.name}"): it says exactly what goes in'
    parts = [f"{first.rstrip('.')}.", _LOOP]
    if tier != "user":
        example = f"The resource sz-mcp://tasks/{task.name} has a complete example too."
        parts += [f"{page} and what comes out. {example}", explained]
    return " ".join(parts)


def _one_of(what: str, name: str, choices: list[str]) -> None:
    if name not in choices:
        message = f"{what}: no {name!r}; choose one of {', '.join(choices)}"
        raise MCPError(code=INVALID_PARAMS, message=message)


class _Checked(Prompt):
    """A prompt that says what is wrong with its arguments; the SDK calls that an internal error."""

    async def render(
        self, arguments: dict[str, Any] | None, context: Context[Any, Any]
    ) -> list[Message] | InputRequiredResult:
        """One message of the user. Raises MCPError if the arguments are wrong."""
        del context  # Nothing of the call is needed to word it.
        try:
            said = self.fn(**(arguments or {}))
            text = await said if inspect.isawaitable(said) else said
        except ValidationError as error:
            raise MCPError(code=INVALID_PARAMS, message=self._told(error)) from error
        return [UserMessage(str(text))]

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
