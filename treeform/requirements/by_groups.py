"""Requirements on groups of samples: which groups they are, and how these stand in files and texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from treeform.data.encode import spelled_alike
from treeform.language.requirement import Requirement
from treeform.requirements.groups import Groups, groups_from_json, groups_text, resolved
from treeform.utils.text import Caution

if TYPE_CHECKING:
    from treeform.data import Dataset

G = TypeVar("G", bound="ByGroups")


class ByGroups(Requirement):
    """A requirement with the parameter ``groups``; without it the problem names the sensitive attribute."""

    groups: Any
    example: ClassVar[str] = "..."
    """Its other parameters, in the advice of errors."""

    def _resolved_groups(self, data: Dataset, context: Mapping[str, Any]) -> tuple[Any, Groups]:
        """See `resolved`."""
        groups = context.get("sensitive_features") if self.groups is None else self.groups
        written = f"{type(self).__name__}(groups='sex', {self.example})"
        return resolved(groups, data, str(self), "requirement", written)

    def remark(self, data: Dataset) -> str | None:
        groups = Groups.of(self.groups, data)
        alike = spelled_alike(groups.labels)
        if not alike:
            return super().remark(data)
        of = f" of {groups.name}" if groups.name else ""
        return Caution(f"groups{of} differ in case or spaces only: {alike}; they are compared as different groups")

    def on_positions(self, positions: np.ndarray, data: Dataset) -> Requirement:
        return self._copy(groups=Groups.of(self.groups, data).taken(positions))

    def _groups_part(self) -> list[str]:
        """The groups as a part of the requirement's text; nothing where the problem names them."""
        return [] if self.groups is None else [f"groups={groups_text(self.groups)}"]

    @classmethod
    def from_parameters(cls: type[G], parameters: Mapping[str, Any]) -> G:
        settings = dict(parameters)
        if "groups" in settings:
            settings["groups"] = groups_from_json(settings["groups"])
        return cls(**settings)
