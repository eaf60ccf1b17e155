"""Many problems at once: a grid of settings over folds, with results as one table."""

from treeform.study.study import Study, StudyProgress
from treeform.study.sweep import sweep

__all__ = ["Study", "StudyProgress", "sweep"]
