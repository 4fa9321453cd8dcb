"""One evaluation, recorded: what the tools and `sz-mcp eval` share.

A kernel and what is asked of it flow in; the pipeline evaluates, the ledger records, and the result
flows out with its guidance. Methods block; they run in worker threads.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kernels.bounds import BoundError
from kernels.fields import Catalogue, FieldDataError, UnknownFieldError
from kernels.records import Build, Failure, Guidance, Kernel, Profile, RunResult, Verdict
from kernels.tasks import TASKS, Task
from results_db.ledger import Ledger
from results_db.statistics import Compared
from sz_mcp.answers import View, compile_reply, profile_reply, run_reply, verify_reply
from sz_mcp.artifacts import Artifacts
from sz_mcp.asked import Asked
from sz_mcp.errors import ArgumentProblems
from sz_mcp.host import host_row
from sz_mcp.jobs import Job
from sz_mcp.parents import Parents
from sz_mcp.pipeline import Pipeline, Request, Watch
from sz_mcp.replies import KernelReply
from sz_mcp.twins import Twins
from sz_mcp.veil import veiled, veiled_guidance
from toolchains.base import TargetInfo
from toolchains.children.isolation import Layer
from toolchains.feedback import guidance_for

_LOG = logging.getLogger(__name__)
Guide = Callable[[Failure | None, str], tuple[Guidance, ...]]
"""What a failure on a target means and what to do about it."""
Draw = Callable[[Profile], bytes]
"""A profile as a PNG."""


class Evaluations(Protocol):
    """The evaluation pipeline, as far as the server's edge uses it."""

    def targets(self) -> tuple[TargetInfo, ...]:
        """Every target, without peaks."""
        ...

    def describe(self, target: str) -> TargetInfo:
        """Everything about one target."""
        ...

    def layers(self) -> tuple[Layer, ...]:
        """What isolates a child on this machine."""
        ...

    def build(self, kernel: Kernel, watch: Watch) -> Build:
        """Compile."""
        ...

    def verify(self, kernel: Kernel, request: Request, watch: Watch) -> Verdict:
        """Check every element against the bound."""
        ...

    def run(self, kernel: Kernel, request: Request, watch: Watch) -> RunResult:
        """Size, error and speed."""
        ...

    def compare(self, kernel: Kernel, against: Kernel, request: Request, watch: Watch) -> Compared:
        """The same beside another kernel, with the ratio of their speeds."""
        ...

    def profile(self, kernel: Kernel, request: Request, watch: Watch) -> Profile:
        """Where the time goes."""
        ...

    def close(self) -> None:
        """Kill every child."""
        ...


@dataclass(frozen=True)
class Parts:
    """What an engine is made of; a test supplies its own."""

    pipeline: Evaluations
    catalogue: Catalogue
    guide: Guide
    draw: Draw


@dataclass(frozen=True)
class Outcome:
    """A finished evaluation: what it says depends on who reads it."""

    reply: Callable[[View], KernelReply]
    picture: bytes | None = None
    """PNG."""


class Engine:
    """The pipeline with a ledger. Thread-safe."""

    def __init__(self, parts: Parts, ledger: Ledger, home: Path) -> None:
        self.pipeline = parts.pipeline
        self.targets = {info.target: info for info in parts.pipeline.targets()}
        self.tasks: Mapping[str, Task] = TASKS
        self.catalogue = parts.catalogue
        self._guide = parts.guide
        self._draw = parts.draw
        self._ledger = ledger
        self._pictures = home / "pictures"
        self._artifacts = Artifacts(home / "artifacts")
        self._twins = Twins()
        self._parents = Parents()

    def compile(
        self, kernel: Kernel, call_id: str, attempt: int | None, job: Job[Outcome]
    ) -> Outcome:
        """Build a received kernel."""
        build = self.pipeline.build(kernel, Watch(job.cancellation, job.advance))
        guided = self._guide(build.failure or build.first_call, kernel.submission.target)
        guidance = (*guided, *build.guidance, *self._twins.note(kernel))
        self._ledger.build(call_id, kernel.kernel_id, build, guidance)
        self._artifacts.keep(kernel.kernel_id, build.artifacts)
        return Outcome(lambda view: compile_reply(kernel, build, guidance, view, attempt))

    def measure(
        self, asked: Asked, kernel: Kernel, job: Job[Outcome], against: Kernel | None = None
    ) -> Outcome:
        """Verify, run, compare or profile, as asked; its start is already recorded.

        Raises:
            ArgumentProblems: no absolute bound follows from what was asked, or the field is gone.
        """
        try:
            return self._measure(asked, kernel, job, against)
        except BoundError as error:
            self._failed(asked, "argument", str(error))
            raise ArgumentProblems(f"bound: {error}") from error
        except (FieldDataError, UnknownFieldError) as error:
            self._failed(asked, "argument", str(error))
            raise ArgumentProblems(f"field: {error}") from error
        except Exception as error:
            # Agents read the ledger: what exactly went wrong is for the server's log.
            self._failed(asked, "internal", f"the server failed ({type(error).__name__})")
            raise

    def _failed(self, asked: Asked, kind: str, message: str) -> None:
        """Without an end the run would seem to go on for as long as the server does."""
        self._ledger.run_failed(asked.run_id, asked.kernel_id, asked.tool, kind, message)

    def _measure(
        self, asked: Asked, kernel: Kernel, job: Job[Outcome], against: Kernel | None
    ) -> Outcome:
        watch = Watch(job.cancellation, job.advance)
        request = Request(
            asked.field, asked.mode, asked.bound, asked.repeats, asked.threads, asked.metrics
        )
        match asked.tool:
            case "verify_bounds":
                verdict = self.pipeline.verify(kernel, request, watch)
                guidance = self._finish(asked, kernel, verdict)
                return Outcome(lambda view: verify_reply(asked, verdict, guidance, view))
            case "run_compress" if against is not None:
                compared = self.pipeline.compare(kernel, against, request, watch)
                guidance = self._finish(asked, kernel, compared)
                return Outcome(
                    lambda view: run_reply(
                        asked, compared.result, guidance, view, compared.contrasts
                    )
                )
            case "run_compress":
                run = self.pipeline.run(kernel, request, watch)
                beside = self._parents.note(kernel, asked, run)
                guidance = (*self._finish(asked, kernel, run), *beside)
                return Outcome(lambda view: run_reply(asked, run, guidance, view))
            case "profile":
                profile = self._pictured(self.pipeline.profile(kernel, request, watch))
                guidance = self._finish(asked, kernel, profile)
                self._keep(asked.run_id, profile.picture)
                return Outcome(
                    lambda view: profile_reply(asked, profile, guidance, view), profile.picture
                )
        raise ValueError(f"{asked.tool} measures nothing")

    def picture(self, run_id: str) -> bytes | None:
        """The picture of a profile made by any server of this home."""
        path = self._pictures / f"{run_id}.png"
        return path.read_bytes() if path.is_file() else None

    def artifact(self, kernel_id: str, name: str) -> str | None:
        """What a compiler wrote of a kernel; None if there is no such thing."""
        return self._artifacts.read(kernel_id, name)

    def close(self) -> None:
        """Kill every child."""
        self.pipeline.close()

    def _finish(
        self, asked: Asked, kernel: Kernel, result: Verdict | RunResult | Profile | Compared
    ) -> tuple[Guidance, ...]:
        guidance = self._guide(result.failure, kernel.submission.target)
        kept, told = result, guidance
        if any(asked.field == info.name for info in self.catalogue.hidden()):
            kept, told = veiled(result), veiled_guidance(guidance)
        self._ledger.run_finished(asked.run_id, asked.kernel_id, asked.tool, kept, told)
        return guidance

    def _pictured(self, profile: Profile) -> Profile:
        if profile.failure is not None or profile.picture is not None:
            return profile
        return replace(profile, picture=self._draw(profile))

    def _keep(self, run_id: str, picture: bytes | None) -> None:
        if picture is None:
            return
        try:
            self._pictures.mkdir(parents=True, exist_ok=True)
            (self._pictures / f"{run_id}.png").write_bytes(picture)
        except OSError as error:
            # The profile is in the ledger; whoever asked for it has the picture in the reply.
            _LOG.warning("the picture of %s can't be kept: %s", run_id, error)


def open_engine(ledger: Ledger, home: Path) -> Engine:
    """The real one: children on this machine, which the ledger records first."""
    catalogue = Catalogue(home)
    pipeline = Pipeline(catalogue, home=home)
    ledger.host(host_row(pipeline.layers()))
    return Engine(
        Parts(pipeline=pipeline, catalogue=catalogue, guide=guidance_for, draw=_draw), ledger, home
    )


def _draw(profile: Profile) -> bytes:
    """Matplotlib takes a second to import: not before something is drawn."""
    modelled = any(metric.provenance == "modelled" for metric in profile.metrics)
    name = "sz_mcp.gpu_pictures" if modelled else "sz_mcp.pictures"
    if profile.maps:
        name = "sz_mcp.wafer_pictures"
    drawn: bytes = importlib.import_module(name).draw_profile(profile)
    return drawn
