"""Choose which images to label, train on them, and predict, from Python.

The work is done by the ledg binary that this package carries; arrays go to it and come back
in temporary .safetensors files. numpy is needed for the functions alone: ``pip install
'ledg[numpy]'``. The command itself is ``ledg``, or ``python -m ledg``.
"""

from __future__ import annotations

from ._binary import LedgError, find_binary
from ._pool import Probe, Scored, probe, query, query_scores
from ._run import Features, embed, predict, site, train

__all__ = ["Features", "LedgError", "Probe", "Scored", "embed", "find_binary", "predict", "probe", "query", "query_scores", "site", "train"]
