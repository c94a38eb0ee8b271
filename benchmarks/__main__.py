"""``make bench``: every benchmark, as ratios to a floor measured in the same run."""

import sys

from benchmarks import check_stages, diagnosis, evidence_search

if __name__ == "__main__":
    diagnosis.main()
    sys.exit(max(evidence_search.main(), check_stages.main()))
