"""Certificates that somebody changed and signed again."""

from __future__ import annotations

import copy
from typing import Any

from treeform.certify.certificate import sign


def edit(certificate: Any, path: Any, value: Any) -> Any:
    """The certificate with another value at a path of keys."""
    edited = copy.deepcopy(certificate)
    at = edited
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return sign(edited)
