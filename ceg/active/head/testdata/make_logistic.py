# Writes logistic.json: scikit-learn's logistic regression on the first rows of
# lowbudget.npz, for features as they are, and its accuracy on each domain left out.
# Made with scikit-learn 1.9, Python 3.11:
#
#   python make_logistic.py ../../active/testdata/lowbudget.npz
import json
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

STRENGTHS = [1e-4, 1e-3, 1e-2, 1e-1, 1, 10]
f = np.load(sys.argv[1])
x, y, k = f["x"].astype(float), f["label"], f["domain"]


def fit(x, y, strength):
    return LogisticRegression(C=strength, tol=1e-10, max_iter=100000).fit(x, y)


cases = []
for rows in (14, 60, 300):  # fewer than the 16 features, more, all
    mean, scale = x[:rows].mean(0), x[:rows].std(0)
    z, c, d = (x[:rows] - mean) / scale, y[:rows], k[:rows]
    scores, losses = [], []
    for s in STRENGTHS:
        right, loss = [], []
        for out in np.unique(d):
            m = fit(z[d != out], c[d != out], s)
            right.append((m.predict(z[d == out]) == c[d == out]).mean())
            # The cross-entropy of those whose class the others have.
            known = (d == out) & np.isin(c, m.classes_)
            p = m.predict_log_proba(z[known])
            loss.append(-p[np.arange(known.sum()), np.searchsorted(m.classes_, c[known])].mean())
        scores.append(float(np.mean(right)))
        losses.append(float(np.mean(loss)))
    for strength in (0.1, 1.0):
        m = fit(z, c, strength)
        assert len(m.classes_) == 5
        w = m.coef_ / scale
        cases.append({"rows": rows, "strength": strength, "weight": w.ravel().tolist(),
                      "bias": (m.intercept_ - w @ mean).tolist(), "scores": scores, "losses": losses})
json.dump(cases, open("logistic.json", "w"))
