"""How long `nightschool --help` takes, beside a Python that does nothing; and the demo.

    python bench/bench_startup.py [RUNS]

To reach: under 150 ms, and the demo in a minute. The least of all runs is printed too: the rest of it is the
machine's other work.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

NIGHTSCHOOL = Path(sys.executable).with_name("nightschool")
TO_REACH = 0.150
DEMO = 60.0


def seconds(argv: list[str], runs: int) -> list[float]:
    subprocess.run(argv, check=True, capture_output=True)  # once without the clock: byte code, disk cache
    took = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(argv, check=True, capture_output=True)
        took.append(time.perf_counter() - began)
    return took


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    bare = statistics.median(seconds([sys.executable, "-c", ""], runs))
    print(f"python -c ''          median {1000 * bare:6.1f} ms")
    for arguments in (["--help"], ["version"]):
        took = seconds([str(NIGHTSCHOOL), *arguments], runs)
        median = statistics.median(took)
        print(
            f"nightschool {arguments[0]:<8}  median {1000 * median:6.1f} ms  least {1000 * min(took):6.1f} ms"
            f"  {median / bare:4.1f} x python  {median / TO_REACH:5.2f} of the time to reach"
        )
    began = time.perf_counter()
    subprocess.run([str(NIGHTSCHOOL), "demo"], check=True, capture_output=True)
    took_demo = time.perf_counter() - began
    print(f"nightschool demo      {took_demo:6.1f} s  {took_demo / DEMO:5.2f} of the time to reach")


if __name__ == "__main__":
    main()
