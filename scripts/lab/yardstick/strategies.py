"""Times a query strategy of scikit-activeml on a pool like that of BenchmarkScale: strategies.py STRATEGY.

Samples lie around 2,000 centres; 500 have a label. Probabilities are of a logistic regression, whose fit is not timed.
Prints one JSON object. Runs on one core where OPENBLAS_NUM_THREADS and OMP_NUM_THREADS are 1.
"""

import argparse
import json
import resource
import time

import numpy as np
import skactiveml
from skactiveml import pool
from skactiveml.classifier import SklearnClassifier
from skactiveml.utils import MISSING_LABEL
from sklearn.linear_model import LogisticRegression

STRATEGIES = {
    "badge": pool.Badge,
    "coreset": pool.CoreSet,
    "dropquery": pool.DropQuery,
    "maxherding": pool.MaxHerding,
    "probcover": pool.ProbCover,
    "typiclust": pool.TypiClust,
}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("strategy", choices=STRATEGIES)
    p.add_argument("--rows", type=int, default=100_000)
    p.add_argument("--cols", type=int, default=768)
    p.add_argument("--classes", type=int, default=20)
    p.add_argument("--picks", type=int, default=100)
    a = p.parse_args()
    r = np.random.default_rng(1)
    centres = r.standard_normal((2000, a.cols), dtype=np.float32)
    x = r.standard_normal((a.rows + 500, a.cols), dtype=np.float32)
    x += centres[r.integers(0, 2000, len(x))]
    y = np.full(len(x), MISSING_LABEL)
    y[a.rows :] = np.arange(500) % a.classes
    strategy = STRATEGIES[a.strategy](random_state=1)
    more = {}
    if a.strategy in ("badge", "dropquery"):
        classifier = SklearnClassifier(LogisticRegression(max_iter=20), classes=range(a.classes))
        more = {"clf": classifier.fit(x[a.rows :], y[a.rows :]), "fit_clf": False}
    wall, cpu = time.perf_counter(), time.process_time()
    strategy.query(x, y, batch_size=a.picks, **more)
    print(json.dumps({
        "strategy": a.strategy, "rows": a.rows, "cols": a.cols, "picks": a.picks, "version": "scikit-activeml " + skactiveml.__version__,
        "seconds": time.perf_counter() - wall, "processor_seconds": time.process_time() - cpu,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))


if __name__ == "__main__":
    main()
