"""The one evaluation pipeline: build → verify → run → profile, for every target and every caller.

Submission in, records out; the tools, the command line and scripted agents all call this. Methods
block and are thread-safe; kernels' failures come back as data.
"""

from .evaluate import Pipeline, UnknownTargetError
from .requests import SUITE, Request, Watch

__all__ = ["SUITE", "Pipeline", "Request", "UnknownTargetError", "Watch"]
