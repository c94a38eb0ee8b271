"""Time of ``check`` by step for 10, 1,000 and 100,000 claims, beside bare primitives over the same bytes.

The floor is what no verifier can do without: SHA-256 of the bundle and of the sources, an Ed25519 verification for each
signature, one parse of the bundle with the standard library's json; all in the same process, in the same run.
"""

from __future__ import annotations

import gc
import hashlib
import json
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from benchmarks.bundles import NOW, Material, make
from kansho_verify import Expectations, verify
from kansho_verify.checklist import Checklist, Step

SIZES = (10, 1_000, 100_000)
SIGNATURES = 5
LINEAR = 3.0


def timed(function: Callable[[], Any]) -> float:
    """Seconds."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


@contextmanager
def step_times() -> Iterator[dict[str, float]]:
    """Collects the seconds of each step of the checklist (a step inside another counts in both)."""
    times: dict[str, float] = defaultdict(float)
    original = Checklist.step

    @contextmanager
    def measured(self: Checklist, step: Step) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with original(self, step):
                yield
        finally:
            times[step.name.lower()] += time.perf_counter() - started

    Checklist.step = measured  # type: ignore[method-assign]  # a benchmark's probe
    try:
        yield times
    finally:
        Checklist.step = original  # type: ignore[method-assign]  # as above


def floor(material: Material) -> dict[str, float]:
    """Seconds for the bare primitives."""
    key = Ed25519PrivateKey.generate()
    public, signature = key.public_key(), key.sign(bytes(80))
    blobs = [material.bundle, *material.sources.values()]
    return {
        "sha256": timed(lambda: [hashlib.sha256(blob).digest() for blob in blobs]),
        "ed25519": timed(lambda: [public.verify(signature, bytes(80)) for _ in range(SIGNATURES)]),
        "json": timed(lambda: json.loads(material.bundle)),
    }


def check(material: Material) -> None:
    """One check in the default profile; anything but acceptance is an error."""
    verdict = verify(
        material.bundle,
        trust_root=material.trust_root,
        expected=Expectations(question=""),
        now=NOW + 1,
        generation=material.generation,
        live=material.live,
        sources=material.sources,
    )
    if verdict.exit_code != 0:
        raise RuntimeError(f"the benchmark's bundle is refused: {verdict}")


def measure(claims: int) -> dict[str, Any]:
    """Medians for one size, and the memory that checking adds."""
    material = make(claims)
    runs = 1 if claims >= SIZES[-1] else 5
    check(make(1))
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    totals, stages, floors = [], [], []
    for _ in range(runs):
        floors.append(floor(material))
        with step_times() as times:
            totals.append(timed(lambda: check(material)))
        stages.append(dict(times))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def median(rows: list[dict[str, float]]) -> dict[str, float]:
        return {name: statistics.median(row.get(name, 0.0) for row in rows) for name in rows[0]}

    return {
        "claims": claims,
        "bytes": len(material.bundle),
        "total": statistics.median(totals),
        "stages": median(stages),
        "floor": median(floors),
        "memory": (after - before) * 1024,
    }


def _row(name: str, values: list[float], ratios: list[float]) -> str:
    cells = "".join(f"{1e3 * value:12.2f} ms {ratio:7.1f}x" for value, ratio in zip(values, ratios, strict=True))
    return f"{name:<12}{cells}"


def report(results: list[dict[str, Any]]) -> bool:
    """Prints the table; false when a stage grew worse than linearly between the two largest sizes."""
    floors = [sum(result["floor"].values()) for result in results]
    print("claims      " + "".join(f"{result['claims']:>24,}" for result in results))
    print("bundle      " + "".join(f"{result['bytes'] / 1e6:>21.2f} MB" for result in results))
    print("\nfloor: bare primitives over the same bytes (x: share of the floor)")
    for name in results[0]["floor"]:
        values = [result["floor"][name] for result in results]
        print(_row(name, values, [value / all_ for value, all_ in zip(values, floors, strict=True)]))
    print("\nsteps of check (x: multiple of the whole floor)")
    for name in results[-1]["stages"]:
        values = [result["stages"].get(name, 0.0) for result in results]
        print(_row(name, values, [value / all_ for value, all_ in zip(values, floors, strict=True)]))
    totals = [result["total"] for result in results]
    print(_row("check", totals, [value / all_ for value, all_ in zip(totals, floors, strict=True)]))
    memory = "".join(f"{result['memory'] / result['bytes']:>23.1f}x" for result in results)
    print(f"memory      {memory}  (added peak, as a multiple of the bundle)")
    return _linear(results)


def _linear(results: list[dict[str, Any]]) -> bool:
    small, large = results[-2], results[-1]
    factor = large["claims"] / small["claims"]
    worse = {
        name: seconds / (factor * small["stages"][name])
        for name, seconds in large["stages"].items()
        if small["stages"].get(name, 0.0) > 1e-3 and seconds > LINEAR * factor * small["stages"][name]
    }
    for name, ratio in worse.items():
        print(f"worse than linear: {name}, {ratio:.1f} times what {factor:,.0f} times the claims allow")
    if not worse:
        print(f"no step grew more than {LINEAR} times linearly from {small['claims']:,} to {large['claims']:,} claims")
    return not worse


def main() -> int:
    """Each size in a process of its own, so that memory is its own."""
    results = []
    for claims in SIZES:
        command = [sys.executable, "-m", "benchmarks.check_stages", str(claims)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this module
        results.append(json.loads(done.stdout))
    return 0 if report(results) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
    else:
        sys.exit(main())
