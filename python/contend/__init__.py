"""Contend from Python: run scenarios, sweep, tune and compare them, with policies as Python classes.

    import contend

    runs = contend.run("scenarios/ada-srsf/base.yaml", set={"policies.placement.kappa": 2}, repeat=3)
    runs.summary["avg_jct_s"], runs[0].jobs["jct_s"]

Runs happen in this process, by the code of the program, so results are those of the program, byte for byte. Columns are
NumPy arrays if NumPy is installed; `frame()` makes a pandas.DataFrame.
"""

from ._errors import Complaint, ContendError, InputError, PolicyError, UsageError
from ._folders import import_trace, load
from ._policies import CommunicationPolicy, PlacementPolicy, SchedulingPolicy
from ._program import compare, evaluate, load_plugin, policies, run, show, study, sweep, tune, version
from ._results import Comparison, Evaluation, JobList, Run, Runs, Study, Sweep, Table, Tuning

__all__ = [
    "CommunicationPolicy", "Comparison", "Complaint", "ContendError", "Evaluation", "InputError", "JobList",
    "PlacementPolicy", "PolicyError", "Run", "Runs", "SchedulingPolicy", "Study", "Sweep", "Table", "Tuning",
    "UsageError", "compare", "evaluate", "import_trace", "load", "load_plugin", "policies", "run", "show", "study",
    "sweep", "tune", "version",
]
