#!/usr/bin/python3
"""Writes pandas.parquet and views.parquet: features in lists, as pandas 3 with pyarrow writes them. Run in this folder."""
import numpy as np
import pandas as pd

n = np.arange(6, dtype=np.float32)
pd.DataFrame({
    "id": [f"photo/{i}.jpg" if i % 2 == 0 else f"Zeichnung/ö{i}.png" for i in range(6)],
    "domain": pd.Categorical(["photo", "sketch"] * 3),
    "label": ["cat", "dog", "cat", None, "dog", "cat"],
    "labels": [0, 1, 0, -1, 1, 0],
    "features": list(np.stack([n, n / 3, -n], 1)),          # list<float>
    "double": [[float(i), 0.1] for i in range(6)],          # list<double>
    "half": list(np.stack([n, n / 3], 1).astype(np.float16)),  # list<halffloat>
    "ragged": [[1.0], [1.0, 2.0]] + [[1.0]] * 4,
    "holes": [[1.0], None] + [[1.0]] * 4,
    "when": pd.date_range("2026-01-01", periods=6),
}).to_parquet("pandas.parquet", row_group_size=4)
pd.DataFrame({
    "features": [[[float(i), 1.0, 2.0], [float(i), -1.0, 0.5]] for i in range(5)],
    "labels": [0, 1, 2, 1, 0],
    "domains": ["a", "a", "b", "b", "b"],
}).to_parquet("views.parquet")
