"""``make bench``: every benchmark, as ratios to a floor measured in the same run."""

import sys

from benchmarks import check_stages

if __name__ == "__main__":
    sys.exit(check_stages.main())
