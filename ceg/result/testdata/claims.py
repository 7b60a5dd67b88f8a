import json

import numpy as np
from scipy.stats import permutation_test, ttest_1samp
from statsmodels.stats.multitest import multipletests

differences = [
    [0.1, 0.2],
    [0.2, 0.1, 0.3],
    [-0.05, 0.02, 0.01],
    [0.25, 0.25, -0.25, 0.5],
    [0.031, 0.024, 0.039, 0.027, 0.034],
    [0.12, -0.03, 0.08, 0.02, 0.11, 0.07],
    [1, -1, 1, -1, 2, -2, 0, 0],
    [0.5, 0.1, 0.2, 0.4, 0.3, 0.6, -0.1, 0.2, 0.7],
    [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8],
]
families = [
    [0.01, 0.04, 0.03, 0.005],
    [0.5],
    [0.2, 0.2, 0.01, 0.9],
    [0.001, 0.011, 0.02, 0.03, 0.04, 0.05, 0.2, 0.004, 0.004, 0.8],
]


def pairs(d):
    exact = permutation_test((np.array(d),), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided")
    return {"differences": d, "t": ttest_1samp(d, 0).pvalue, "flips": exact.pvalue}


def holm(p):
    return {"p": p, "holm": list(multipletests(p, method="holm")[1])}


print(json.dumps({"pairs": [pairs(d) for d in differences], "families": [holm(p) for p in families]}, indent=1))
