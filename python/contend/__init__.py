"""Contend from Python: run scenarios, compare and sweep them, with policies as Python classes.

    import contend

    runs = contend.run("scenarios/ada-srsf/base.yaml", set={"policies.placement.kappa": 2}, repeat=3)
    runs.summary["avg_jct_s"], runs[0].jobs["jct_s"]

The package starts the program `contend` (found on PATH, or named by CONTEND_PROGRAM) and reads what it writes, so
results are those of the program, byte for byte. Columns are NumPy arrays if NumPy is installed, else lists; `frame()`
makes a pandas.DataFrame.
"""

from ._errors import Complaint, ContendError, InputError, PolicyError, UsageError
from ._policies import CommunicationPolicy, PlacementPolicy, SchedulingPolicy
from ._program import compare, policies, program, run, show, sweep, version
from ._results import Comparison, Run, Runs, Sweep, Table

__all__ = [
    "CommunicationPolicy", "Comparison", "Complaint", "ContendError", "InputError", "PlacementPolicy", "PolicyError",
    "Run", "Runs", "SchedulingPolicy", "Sweep", "Table", "UsageError", "compare", "policies", "program", "run", "show",
    "sweep", "version",
]
