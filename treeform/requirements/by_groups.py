"""Requirements on groups of samples: which groups they are, and how these stand in files and texts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.data.encode import spelled_alike
from treeform.errors import SpecError
from treeform.language.classes import plain_label
from treeform.language.component import parameters_of
from treeform.language.objective_text import stated
from treeform.language.requirement import Requirement
from treeform.requirements.groups import Groups, groups_from_json, groups_text, groups_to_json, resolved
from treeform.utils.rows import worded
from treeform.utils.text import Caution, decimal_or_plain

G = TypeVar("G", bound="ByGroups")


class ByGroups(Requirement):
    """A requirement with the parameter ``groups``; without it the problem names the sensitive attribute."""

    groups: Any
    example: ClassVar[str] = "..."
    """Its other parameters, in the advice of errors."""
    told: ClassVar[tuple[str, ...]] = ()
    """Those that stand in its text."""

    def _resolved_groups(self, data: Dataset, context: Mapping[str, Any]) -> tuple[Any, Groups]:
        """See `resolved`."""
        groups = context.get("sensitive_features") if self.groups is None else self.groups
        written = f"{type(self).__name__}(groups='sex', {self.example})"
        return resolved(groups, data, str(self), "requirement", written)

    def _without_bound(self, cause: str) -> SpecError:
        """The error where the bound is not given."""
        written = f"{type(self).__name__}(groups='sex', {self.example})"
        fix = f"write for example {worded(written, f'{self.name}:groups=sex,{self.example}')}"
        return SpecError(f"{self.name} has no bound", cause=cause, fix=fix)

    def remark(self, data: Dataset) -> str | None:
        groups = Groups.of(self.groups, data)
        alike = spelled_alike(groups.labels)
        if not alike:
            return super().remark(data)
        of = f" of {groups.name}" if groups.name else ""
        return Caution(f"groups{of} differ in case or spaces only: {alike}; they are compared as different groups")

    def on_positions(self, positions: np.ndarray, data: Dataset) -> Requirement:
        return self._copy(groups=Groups.of(self.groups, data).taken(positions))

    def to_json(self) -> dict[str, Any]:
        given = {key: value for key, value in parameters_of(self).items() if key == "groups" or value is not None}
        return {"name": self.name, "parameters": {key: _in_file(key, value) for key, value in given.items()}}

    @classmethod
    def from_parameters(cls: type[G], parameters: Mapping[str, Any]) -> G:
        return cls(**{key: groups_from_json(value) for key, value in parameters.items()})

    def __str__(self) -> str:
        told = {key: getattr(self, key) for key in self.told}
        return stated(self.name, groups=None if self.groups is None else groups_text(self.groups), **told)


def _in_file(key: str, value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, Fraction):
        return decimal_or_plain(value)
    return plain_label(value) if key == "positive" else groups_to_json(value)
