"""What tripwires refuse, as data: modules, names and literals, by what they are about.

Left out on purpose, because honest kernels use them: threads, `exec` of generated text, addresses
of arrays, intrinsics, `ctypes` types, `gc.collect`, anonymous `mmap`, environment variables,
`numba.config`.
"""

from __future__ import annotations

from enum import StrEnum


class Topic(StrEnum):
    """What a kernel has no business with; messages end in it, and feedback rules look for it."""

    NETWORK = "the network"
    PROCESSES = "other processes"
    LOCKS = "file locks"
    SIGNALS = "signals"
    SCHEDULING = "cores and priorities"
    HARNESS = "the program that runs it"
    FRAMES = "frames and objects of other code"
    LIBRARIES = "the libraries of its process"
    PATCHING = "changing other modules"
    FILES = "files outside its folder"
    EMBEDDED = "data written into its source"
    DECODED = "code that is decoded while it runs"


MODULES: dict[str, Topic] = {
    **dict.fromkeys(
        ("socket", "socketserver", "ssl", "http", "urllib", "ftplib", "smtplib", "xmlrpc"),
        Topic.NETWORK,
    ),
    **dict.fromkeys(("subprocess", "multiprocessing", "pty"), Topic.PROCESSES),
    **dict.fromkeys(
        ("sz_mcp", "toolchains", "results_db", "simulators", "kernels", "child", "__main__"),
        Topic.HARNESS,
    ),
    "fcntl": Topic.LOCKS,
    "signal": Topic.SIGNALS,
}
"""First part of a module's name, unless a file of the submission has that name → topic."""

_CALLS: dict[Topic, str] = {
    Topic.PROCESSES: """
        os._exit os.abort os.fork os.forkpty os.kill os.killpg os.memfd_create os.pidfd_open
        os.popen os.posix_spawn os.posix_spawnp os.system concurrent.futures.ProcessPoolExecutor
        os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe
        os.spawnl os.spawnle os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe
    """,
    Topic.SCHEDULING: """
        os.nice os.setpriority os.sched_setaffinity os.sched_setscheduler os.sched_setparam
    """,
    Topic.FRAMES: """
        sys._getframe sys._current_frames sys.settrace sys.setprofile threading.settrace
        threading.setprofile inspect.currentframe inspect.stack inspect.getouterframes
        gc.get_objects gc.get_referrers gc.get_referents
    """,
    Topic.LIBRARIES: "ctypes.CDLL ctypes.PyDLL ctypes.cdll ctypes.pydll ctypes.pythonapi",
}
NAMES = {name: topic for topic, names in _CALLS.items() for name in names.split()}
"""Dotted name → topic."""

FRAME_ATTRIBUTES = frozenset({"f_back", "f_locals", "f_globals", "tb_frame"})

RELIED_ON = frozenset(
    {"builtins", "gc", "llvmlite", "math", "numba", "numpy", "os", "szstream", "threading", "time"}
)
"""Modules whose attributes others use too: a kernel's own files are its own to change."""
SETTABLE = ("numba.config.", "numba.core.config.")
"""Attributes that are meant to be set."""

IMPORTERS = frozenset({"__import__", "importlib.import_module"})
OPENERS = frozenset(
    {"open", "io.open", "os.open", "pathlib.Path"}
    | {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
)
HARMLESS_FILES = frozenset({"/dev/null"})
DECODERS = frozenset(
    {"base64.b64decode", "base64.b85decode", "base64.a85decode", "zlib.decompress"}
    | {"bz2.decompress", "lzma.decompress", "marshal.loads", "codecs.decode", "binascii.unhexlify"}
    | {".fromhex", "bytes.fromhex"}
)

LONGEST_LITERAL = 8192
"""Characters of a text or bytes."""
LONGEST_WORDS = 40
"""Characters between blanks, on average: more than prose or generated source has."""
MOST_ELEMENTS = 4096
"""Of a literal list; tables of that size are computed."""
