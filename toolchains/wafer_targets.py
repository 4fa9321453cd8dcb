"""What an agent is told of the wafer targets."""

from __future__ import annotations

from collections.abc import Mapping

from kernels.records import Metric

CONTRACT = " ".join(
    (
        "kernel.py is imported in a fresh child with numpy, the standard library, `cerebras.sdk`",
        "(SdkCompiler, SdkRuntime, memcpy) and `szstream`; layout.csl and *.csl lie beside it and",
        "are compiled when SdkCompiler.compile(folder, 'layout.csl', options) asks (--arch is the",
        "target's if it is not given). Codecs define compress(data, abs_bound) -> 1-D uint8 array",
        "and decompress(stream, shape, dtype) -> array, in two processes; stages run(*inputs).",
        "float32 only: a PE has no float64. The host part may reshape, pad with zeros and permute;",
        "the device computes: words copied to it are the field's, words returned came back from",
        "it, both in an order that the shape gives, but for a header of 72 bytes and 64 bytes per",
        "row of PEs. Load and run an SdkRuntime in every call. No speed but cycles.",
    )
)
ADVICE = (
    "sz-mcp://tasks and the worked submission show a whole program: layout.csl, a PE's code, "
    "kernel.py.",
    "Every exported function must reach unblock_cmd_stream() on every PE, or the next copy waits.",
    "Keep the bound with float32 alone: contract §5, by a rounded comparison with T.",
    "48 KB per PE hold code, data and 4 KB of runtime: one chunk of 4096 values fits.",
    "DSD operations on whole blocks (@fmuls, @fsubs, @fadds) run at 1 to 4 elements a cycle; a "
    "scalar loop takes some 20 cycles an element.",
    "Bits: 16-bit operations transpose 16 x 16 bits of all blocks at once (slr16, xor16, and16); "
    "@set_dsd_base_addr with a @ptrcast pointer lays a 16-bit DSD over 32-bit values.",
    "On wse3 every queue needs @initialize_queue, and input queues name data tasks.",
)
HARDWARE: Mapping[str, tuple[Metric, ...]] = {
    "wse2": (
        Metric("pes", 850_000, "", "documented"),
        Metric("memory_per_pe", 49_152, "bytes", "documented"),
        Metric("clock", 850e6, "Hz", "documented"),
        Metric("colors", 24, "", "documented"),
        Metric("hop", 1, "cycles", "documented"),
        Metric("host_link", 150, "GB/s", "documented"),
    ),
    "wse3": (
        Metric("pes", 900_000, "", "documented"),
        Metric("memory_per_pe", 49_152, "bytes", "documented"),
        Metric("clock", 875e6, "Hz", "documented"),
        Metric("colors", 24, "", "documented"),
        Metric("hop", 2, "cycles", "documented"),
        Metric("host_link", 150, "GB/s", "documented"),
    ),
}
