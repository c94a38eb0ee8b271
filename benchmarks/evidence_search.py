"""Time and memory of checking evidence: up to 1,000 sources of 100 kB and 10,000 excerpts.

The floor is what no checker can do without: SHA-256 of every text and every excerpt, and one pass over all texts for a
needle that is not there. Both are linear, so the ratio to the floor must not grow with size.
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import subprocess
import sys
import time
from typing import Any

from kansho_sign.evidence import Boundary, Evidence, Policy, Registry, Source, UntrustedAnswer, check, make_registry

SIZES = ((100, 1_000), (1_000, 10_000))
SOURCE_CODE_POINTS = 100_000
GREW = 3.0  # caches: the automaton of many excerpts no longer fits into them
POLICY = Policy(("document",), None, None, None, include_unverified_annotations=False, excerpt_boundary=Boundary.SAFE)


def texts(count: int, random_: random.Random) -> list[str]:
    """Prose of made-up words, different in each source."""
    letters = "etaoinshrdlcumwfgypbvk"
    words = ["".join(random_.choices(letters, k=random_.randint(2, 9))) for _ in range(20_000)]
    return [" ".join(random_.choices(words, k=SOURCE_CODE_POINTS // 6))[:SOURCE_CODE_POINTS] for _ in range(count)]


def excerpts(registry: Registry, count: int, random_: random.Random, kind: str) -> UntrustedAnswer:
    """Excerpts of 40 to 400 code points, that stand where they say, or in another source, or nowhere."""
    names, items = list(registry), []
    for _ in range(count):
        name = random_.choice(names)
        text = registry[name].text
        start = random_.randrange(len(text) - 400)
        excerpt = text[start : start + random_.randint(40, 400)]
        if kind == "elsewhere":
            name = random_.choice(names)
        elif kind == "nowhere":
            middle = len(excerpt) // 2
            excerpt = excerpt[:middle] + "Q" + excerpt[middle + 1 :]
        items.append(Evidence(name, excerpt))
    return UntrustedAnswer(tuple(items))


def measure(sources: int, count: int) -> dict[str, Any]:
    """Seconds of each kind and of the floor, and the added memory in bytes."""
    random_ = random.Random(1)
    registry = make_registry(Source(f"s{n}", "document", text) for n, text in enumerate(texts(sources, random_)))
    answers = {kind: excerpts(registry, count, random_, kind) for kind in ("stands", "elsewhere", "nowhere")}
    started = time.perf_counter()
    for text in [*(one.text for one in registry.values()), *(item.excerpt for item in answers["stands"].evidence)]:
        hashlib.sha256(text.encode()).digest()
    for source in registry.values():
        if "QQ none QQ" in source.text:
            raise RuntimeError("the needle stands there")
    floor = time.perf_counter() - started
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = {}
    for kind, answer in answers.items():
        started = time.perf_counter()
        result = check(answer, registry, POLICY, diagnose=False)
        seconds[kind] = time.perf_counter() - started
        if bool(result.findings) != (kind != "stands"):
            raise RuntimeError(f"{kind}: {len(result.findings)} findings")
    started = time.perf_counter()
    diagnosed = check(answers["nowhere"], registry, POLICY)
    seconds["nowhere, explained"] = time.perf_counter() - started
    if any(one.diagnosis is None for one in diagnosed.findings[: len(diagnosed.findings) - diagnosed.undiagnosed]):
        raise RuntimeError("a near miss without diagnosis")
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    text_bytes = sum(len(one.text) for one in registry.values())
    return {"sources": sources, "excerpts": count, "floor": floor, "seconds": seconds, "memory": memory / text_bytes}


def report(results: list[dict[str, Any]]) -> bool:
    """Prints the table; false when a ratio to the floor grew more than ``GREW`` times."""
    print("\nevidence: excerpts looked for in all sources (x: multiple of the floor, hashing and one search each)")
    heads = [f"{one['sources']:,} x 100 kB, {one['excerpts']:,}" for one in results]
    print(f"{'':<20}" + "".join(f"{head:>26}" for head in heads))
    floors = [one["floor"] for one in results]
    print(f"{'floor':<20}" + "".join(f"{1e3 * floor:>23.1f} ms" for floor in floors))
    good = True
    for kind in results[0]["seconds"]:
        ratios = [one["seconds"][kind] / one["floor"] for one in results]
        cells = (f"{one['seconds'][kind]:>15.2f} s {ratio:>7.1f}x" for one, ratio in zip(results, ratios, strict=True))
        print(f"{kind:<20}" + "".join(cells))
        if ratios[-1] > GREW * ratios[0]:
            print(f"worse than linear: {kind}")
            good = False
    print(f"{'memory':<20}" + "".join(f"{one['memory']:>25.2f}x" for one in results) + "  (added peak, of all texts)")
    return good


def main() -> int:
    """Each size in a process of its own."""
    results = []
    for size in SIZES:
        command = [sys.executable, "-m", "benchmarks.evidence_search", *map(str, size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this module
        results.append(json.loads(done.stdout))
    return 0 if report(results) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        sys.exit(main())
