"""Exceptions of the server's edge, one class per cause that a caller treats differently.

Exception
├── ArgumentProblems      the call's arguments are wrong: told to the agent as a ToolError
├── LimitReached          an agent asks for more at once than it may; told to it as a ToolError
├── SettingsError         the command line asked for something the server refuses to do
└── StepFailed            a step of `sz-mcp demo` or `eval` did not succeed
"""

from __future__ import annotations


class ArgumentProblems(Exception):
    """Everything that is wrong with one call's arguments, one line each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class LimitReached(Exception):
    """More was asked at once than may be; the message says what, and when to call again."""


class SettingsError(Exception):
    """The server can't be started as asked; the message says what to ask instead."""


class StepFailed(Exception):
    """A step that a command depends on failed; the message is for its user."""
