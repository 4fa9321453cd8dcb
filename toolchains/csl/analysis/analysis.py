"""What a compilation asks of the analysis: tile programs, layouts, and a look at unreached code."""

from __future__ import annotations

from dataclasses import replace

from toolchains.csl import nodes
from toolchains.csl.builtins.finishing import finish
from toolchains.csl.evaluation import Context
from toolchains.csl.source import CslError, Reports, Severity, Span, error
from toolchains.csl.tile import Tile
from toolchains.csl.values import FunctionValue, Known

from .engine import Evaluation, deep_recursion
from .names import ANYTYPE, Instance


class Analysis(Evaluation):
    """A compilation. Files are parsed once, tile programs are analysed one after the other."""

    def compile_tile(
        self, file: str, params: Known | None = None, span: Span | None = None
    ) -> tuple[Tile, Instance | None]:
        """The tile program of a file for values of its parameters. Errors go to `reports`."""
        self.start(file)
        root = None
        with deep_recursion():
            try:
                root = self.instance(file, params, "", span)
                self.drain()
                finish(self)
            except CslError as problem:
                self.reports.add(problem.diagnostic)
            except RecursionError:
                self.reports.add(error(span, "too-deep", "this nests too deeply").diagnostic)
        return self.tile, root

    def layout_instance(self, file: str, params: Known | None = None) -> Instance | None:
        """The instance of the file with the layout block; None if it can't be read."""
        self.start(file)
        with deep_recursion():
            try:
                return self.instance(file, params)
            except CslError as problem:
                self.reports.add(problem.diagnostic)
                return None

    def run_layout(self, instance: Instance) -> bool:
        """Run the layout block; False if there is none."""
        blocks = [one for one in instance.module.items if isinstance(one, nodes.LayoutBlock)]
        with deep_recursion():
            for one in blocks:
                self.run_block(instance, one.body, Context.LAYOUT)
        return bool(blocks)

    def check_unreached(self) -> None:
        """Look at functions of the last tile program that nothing has reached so far, once each."""
        reports, reached = self.reports, set(self.reached)
        tile, self._tile = self._tile, Tile(self._tile.file, self._tile.arch)
        with deep_recursion():
            for instance in list(self.instances):
                self._check_instance(instance)
        self.reports, self._tile, self.reached = reports, tile, reached

    def report_unreached(self) -> None:
        """What `check_unreached` found in functions that nothing has reached by now, as notes.

        Published programs have such mistakes, and work: the language looks at what is reached.
        """
        self.keep_reached()
        for node, found in self.unreached.items():
            for one in found if id(node) not in self.ever_reached else ():
                if one.code not in _OF_CONTEXT and one.severity is not Severity.NOTE:
                    message = f"in `{node.name}`, which nothing calls: {one.message}"
                    self.reports.add(replace(one, severity=Severity.NOTE, message=message))

    def _check_instance(self, instance: Instance) -> None:
        for name, slot in instance.slots.items():
            node = slot.node
            if not isinstance(node, nodes.FunctionDecl) or node.body is None or node.inline:
                continue
            if node.name_span.source.library:
                continue
            if id(node) in self.ever_reached or node in self.unreached:
                continue
            self.reports = Reports()
            try:
                value = self.slot(instance, name, slot.span).value
                if value is not None and isinstance(value.data, FunctionValue):
                    if value.data in self.reached:
                        continue
                    self._check_function(value.data)
            except CslError as problem:
                self.reports.add(problem.diagnostic)
            self.unreached[node] = tuple(self.reports.found)

    def _check_function(self, value: FunctionValue) -> None:
        kind = self.function_type(value)
        if ANYTYPE in kind.parameters or any(one.comptime for one in value.node.formals):
            return
        self.specialise(value, value.node.name_span)
        self.drain()


_OF_CONTEXT = frozenset({"comptime-only", "builtin-context", "assertion"})
"""What is wrong with code only because it was looked at as code that runs on a PE."""
