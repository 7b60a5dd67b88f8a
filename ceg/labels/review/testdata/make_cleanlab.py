"""Writes cleanlab.json: what cleanlab 2.9.0 says of labels of which some were changed.

    pip install cleanlab==2.9.0 && python make_cleanlab.py > cleanlab.json
"""
import json

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.metrics import average_precision_score

out = []
for seed in range(5):
    r = np.random.default_rng(seed)
    n, k = 80, 4
    true = r.integers(0, k, n)
    given = true.copy()
    flipped = r.random(n) < 0.1
    given[flipped] = (given[flipped] + r.integers(1, k, flipped.sum())) % k
    logits = r.normal(size=(n, k)) * 1.2
    logits[np.arange(n), true] += 2.2
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    p = np.round(p, 6)
    scores = {m: get_label_quality_scores(given, p, method=m) for m in ("self_confidence", "normalized_margin")}
    precision = {m: average_precision_score(flipped, -s) for m, s in scores.items()}
    for by in ("prune_by_noise_rate", "confident_learning"):
        order = find_label_issues(given, p, filter_by=by, return_indices_ranked_by="self_confidence", n_jobs=1)
        rank = np.zeros(n)
        rank[order] = np.arange(len(order), 0, -1)
        precision[by] = average_precision_score(flipped, rank)
    out.append({
        "classes": k, "probabilities": p.ravel().tolist(), "given": given.tolist(), "flipped": flipped.tolist(),
        "ranked": np.argsort(scores["self_confidence"], kind="stable").tolist(),
        "likely": find_label_issues(given, p, filter_by="low_self_confidence", return_indices_ranked_by="self_confidence", n_jobs=1).tolist(),
        "precision": precision,
    })
print(json.dumps(out, separators=(",", ":")))
