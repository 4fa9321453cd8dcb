"""What the text of a detailed reply says beyond that of a concise one."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping

from sz_mcp.replies import CaseReply, MetricReply, Reply, RunReply, SampleReply, VerifyReply


def details(reply: Reply) -> str:
    """Every case of a verdict, every speed of a run; empty for other replies."""
    match reply:
        case VerifyReply():
            return "\n".join((*map(_case, reply.cases), *map(_metric, reply.metrics)))
        case RunReply():
            return "\n".join((*_speeds(reply.samples), *_run(reply)))
    return ""


def _case(case: CaseReply) -> str:
    core = "" if case.core else ", not core"
    form = f"{case.dtype}{case.shape}"
    error = "" if case.max_abs_error is None else f", largest error {case.max_abs_error!r}"
    ratio = "" if case.ratio is None else f", ratio {case.ratio:.4g}"
    return (
        f"case {case.case} ({form}{core}): {case.status}, {case.checked} values, "
        f"{case.violations} violations{error} against {case.abs_bound!r}{ratio}"
    )


def _speeds(samples: Iterable[SampleReply]) -> Iterator[str]:
    """Per direction the speeds in the order they were measured; `*`: disturbed by other work."""
    by_direction: dict[str, list[SampleReply]] = {}
    for sample in samples:
        by_direction.setdefault(sample.direction, []).append(sample)
    for direction, those in by_direction.items():
        calm = [one.gbps for one in those if not one.disturbed and one.gbps is not None]
        spread = f", undisturbed from {min(calm):.4g} to {max(calm):.4g}" if calm else ""
        middle = f", median {statistics.median(calm):.4g}" if calm else ""
        listed = " ".join(f"{one.gbps:.4g}{'*' if one.disturbed else ''}" for one in those)
        yield f"{direction}, GB/s{middle}{spread} (* disturbed): {listed}"


def _run(reply: RunReply) -> Iterator[str]:
    yield f"{reply.raw_bytes} bytes, threads {reply.threads}"
    if reply.stream_bytes:
        golden = f", golden {reply.golden_bytes}" if reply.golden_bytes else ""
        ruled = "" if reply.within_size_rule is None else f"; may rank: {reply.within_size_rule}"
        yield f"stream {reply.stream_bytes} bytes{golden}{ruled}"
    if reply.cache_state:
        yield f"caches: {reply.cache_state}"
    if reply.null_round_trip_s is not None:
        yield f"an empty request takes {reply.null_round_trip_s * 1e6:.0f} µs"
    yield from _noise({metric.name: metric.value for metric in reply.metrics})
    yield from map(_metric, reply.metrics)


def _noise(values: Mapping[str, float | None]) -> Iterator[str]:
    """Per direction what this run can tell apart, and how it compares with a copy in it."""
    for direction in ("compress", "decompress", "run"):
        own, over = values.get(f"{direction}_noise"), values.get(f"{direction}_over_copy")
        noise = values.get(f"{direction}_over_copy_noise")
        if own is None or over is None or noise is None:
            continue
        verdict = "faster" if over > 1 + noise else "slower" if over * (1 + noise) < 1 else ""
        yield (
            f"{direction}: speeds of this run that differ by less than {own:.1%} are the same. It "
            f"has {over:.3g} times (within {noise:.1%}) the speed of a copy in the same run: "
            f"{verdict or 'inconclusive, the difference is within the noise'}"
        )


def _metric(metric: MetricReply) -> str:
    return f"{metric.name}: {metric.value} {metric.unit}".rstrip()
