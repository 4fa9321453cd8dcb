"""The machine as a process of its own: answers one host over a stream socket, and ends with it.

`python -m simulators.wafer.serving FD`, where FD is the inherited end of a socket pair.
"""

from __future__ import annotations

import ctypes
import signal
import socket
import sys
from functools import partial
from typing import cast

from .host import Host
from .program import Program
from .protocol import receive, send

_PR_SET_PDEATHSIG = 1


def serve(connection: socket.socket, host: Host) -> None:
    """Answer requests until the other end closes. Raises ProtocolError."""
    while (message := receive(connection)) is not None:
        send(connection, *host.answer(*message))


def _end_with_parent() -> None:
    """Be killed when the host's process ends, in the middle of a run too (Linux)."""
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _main(arguments: list[str]) -> int:
    from .machine import Machine  # noqa: PLC0415 - its compiled code loads when it is needed
    from .profiles import make_profile  # noqa: PLC0415
    from .profiling import as_json, profile_of  # noqa: PLC0415

    _end_with_parent()
    with socket.socket(fileno=int(arguments[0])) as connection:

        def make(program: Program, *, profiled: bool = False) -> Machine:
            machine = Machine(program, make_profile(program.arch), profiled=profiled)
            # Compiles what is not in the cache yet: that is not the first launch's time.
            machine.run_quiet(limit=0)
            return machine

        host = Host(
            make,
            make_profiled=partial(make, profiled=True),
            profile=lambda device: as_json(profile_of(cast("Machine", device))),
        )
        serve(connection, host)
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
