"""Groups given as arrays: they are no part of the table, so a certificate names them, and a check takes them again.

A certificate holds their labels and a digest, never the group of each sample: such columns are often personal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treeform.certify.schema import GroupsPart, RequirementPart
from treeform.data import Dataset
from treeform.errors import CertificateError, SpecError
from treeform.language.objective import Objective
from treeform.requirements.groups import Groups

ARRAY = "array"
_KEYS = {"codes", "labels", "name"}


@dataclass
class ArrayTable:
    """The arrays of groups that requirements rest on, each once."""

    groups: dict[str, Groups] = field(default_factory=dict)
    """By the name under which requirements refer to them."""

    def taken_out(self, value: Any) -> Any:
        """``value`` (plain JSON values) with ``{"array": name}`` in the place of every array of groups."""
        if isinstance(value, dict) and set(value) == _KEYS:
            return {ARRAY: self.name_of(Groups.from_json(value))}
        if isinstance(value, dict):
            return {key: self.taken_out(inner) for key, inner in value.items()}
        return [self.taken_out(inner) for inner in value] if isinstance(value, list) else value

    def in_text(self, objective: Objective) -> str:
        """The objective's text, in which ``@name`` stands for each array of groups."""
        terms = []
        for weight, term in objective.terms:
            groups = getattr(term, "groups", None)
            text = term.called(self.name_of(groups)) if isinstance(groups, Groups) else str(term)
            terms.append(text if weight == 1 else f"{weight}*{text}")
        return " + ".join(terms)

    def name_of(self, groups: Groups) -> str:
        """The name under which the certificate has these groups; entered if they are new."""
        for name, known in self.groups.items():
            if known == groups:
                return name
        plain, number = groups.name or "groups", 1
        name = plain
        while name in self.groups:
            number += 1
            name = f"{plain} #{number}"
        self.groups[name] = groups
        return name

    def to_json(self) -> list[dict[str, Any]]:
        """The entry of a certificate."""
        return [
            {"name": name, "labels": list(groups.labels), "digest": digest(groups), "called": groups.name}
            for name, groups in self.groups.items()
        ]


def digest(groups: Groups) -> str:
    """SHA-256 over labels and codes."""
    hashed = hashlib.sha256(json.dumps(list(groups.labels), ensure_ascii=True).encode())
    hashed.update(groups.codes.astype("<i8").tobytes())
    return hashed.hexdigest()


def digest_with(data: Dataset, groups: Mapping[str, Groups]) -> str:
    """The digest of a data set and of the groups that go with it."""
    if not groups:
        return data.digest
    parts = [[name, digest(one)] for name, one in groups.items()]
    return hashlib.sha256(json.dumps([data.digest, parts], ensure_ascii=True).encode()).hexdigest()


def given_again(parts: Sequence[GroupsPart], values: Any, data: Dataset) -> dict[str, Groups]:
    """The arrays that a certificate rests on (``parts``), from what the caller passed as ``sensitive_features``.

    Raises CertificateError if they are needed and not given; SpecError if they are given and not needed, or other ones
    than those needed; DataError if they are no groups of these data.
    """
    names = [part.name for part in parts]
    listed = ", ".join(map(repr, names))
    if values is None and names:
        raise CertificateError(
            f"the certificate rests on groups that were given as an array: {listed}",
            cause="they are no column of the table, and the certificate holds only their digest",
            fix="give them again: sensitive_features=..., on the command line --groups COLUMN or FILE",
        )
    if values is None:
        return {}
    if not names:
        raise SpecError(
            "the certificate rests on no groups given as an array",
            cause="its requirements name columns of the table, or have no groups",
            fix="leave out sensitive_features (--groups)",
        )
    if not isinstance(values, Mapping):
        if len(names) > 1:
            raise SpecError(
                f"the certificate rests on {len(names)} arrays of groups",
                cause=f"they are {listed}",
                fix="give each by its name: sensitive_features={name: array, ...} (--groups NAME=COLUMN)",
            )
        values = {names[0]: values}
    if set(values) != set(names):
        raise SpecError(
            f"the groups given are {', '.join(map(repr, values)) or 'none'}",
            cause=f"the certificate rests on {listed}",
            fix="give these, by these names",
        )
    return {part.name: _called(Groups.of(values[part.name], data), part) for part in parts}


def _called(groups: Groups, part: GroupsPart) -> Groups:
    """Groups under the name that they had; an array without a name takes it over."""
    called = part.called
    if None not in (groups.name, called) and groups.name != called:
        raise CertificateError(
            f"the groups given are called {groups.name!r}",
            cause=f"in the certificate they are called {called!r}",
            fix="give the groups that the problem was stated with",
        )
    return Groups(groups.codes, groups.labels, called)


def other_labels(parts: Sequence[GroupsPart], groups_by_name: Mapping[str, Groups]) -> list[str]:
    """Where the labels of groups are others than in the certificate, which the digest of rows does not show."""
    return [
        f"the groups {part.name!r} have the labels {list(groups_by_name[part.name].labels)}, not {part.labels}"
        for part in parts
        if list(groups_by_name[part.name].labels) != part.labels
    ]


def differences(parts: Sequence[GroupsPart], groups_by_name: Mapping[str, Groups]) -> list[str]:
    """What differs from the certificate, rows in the order of training."""
    return other_labels(parts, groups_by_name) or [
        f"the groups {part.name!r} are other groups of the samples"
        for part in parts
        if digest(groups_by_name[part.name]) != part.digest
    ]


def parameters_of(part: RequirementPart, groups_by_name: Mapping[str, Groups]) -> dict[str, Any]:
    """The parameters of a requirement with the arrays in their places.

    Raises CertificateError if it refers to an array that the certificate does not have.
    """

    def filled(value: Any) -> Any:
        if isinstance(value, dict) and set(value) == {ARRAY}:
            if value[ARRAY] not in groups_by_name:
                raise CertificateError(
                    f"{part.label} refers to groups that the certificate does not name",
                    cause=f"{value[ARRAY]!r} is none of {', '.join(map(repr, groups_by_name)) or 'no groups'}",
                )
            return groups_by_name[value[ARRAY]].to_json()
        if isinstance(value, dict):
            return {key: filled(inner) for key, inner in value.items()}
        return [filled(inner) for inner in value] if isinstance(value, list) else value

    filled_in: dict[str, Any] = filled(part.parameters)
    return filled_in


def other_arrays(parameters: Any, lengths: set[int]) -> bool:
    """Whether there is a list with one entry for each sample: data that the digest does not cover."""
    if isinstance(parameters, dict):
        return any(other_arrays(inner, lengths) for inner in parameters.values())
    if isinstance(parameters, list):
        return len(parameters) in lengths or any(other_arrays(inner, lengths) for inner in parameters)
    return False
