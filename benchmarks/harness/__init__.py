"""What all benchmarks share: files of figures, child processes with limits, clocks, data sets, tables for the docs."""

from benchmarks.harness.child import Ended, in_child
from benchmarks.harness.clock import cpu_seconds, repeated, user_seconds
from benchmarks.harness.cpu_clock import on_cpu_time
from benchmarks.harness.data import folder_of, named, read_set
from benchmarks.harness.figures import Figures
from benchmarks.harness.forked import in_fork
from benchmarks.harness.session import ROOT, SESSION, commit
from benchmarks.harness.tables import Frame, Rows, Shown, plain_table, table
from benchmarks.harness.threads import one_and_two

__all__ = [
    "ROOT",
    "SESSION",
    "Ended",
    "Figures",
    "Frame",
    "Rows",
    "Shown",
    "commit",
    "cpu_seconds",
    "folder_of",
    "in_child",
    "in_fork",
    "named",
    "on_cpu_time",
    "one_and_two",
    "plain_table",
    "read_set",
    "repeated",
    "table",
    "user_seconds",
]
