"""Names and the classes that they stand for: entry points of installed packages, treeform's table, and this process.

There are five groups: solvers, native engines, formulations, requirements and terms of objectives. A package adds to a
group with an entry point, ``my-solver = "my_package:MySolver"``; nothing of it is imported before the name is used. The
finders of `treeform.catalogue` give names their meaning.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeVar

from treeform.errors import SpecError, did_you_mean
from treeform.utils.arguments import current_names

T = TypeVar("T")
SOLVERS = "treeform.solvers"
ENGINES = "treeform.engines"
FORMULATIONS = "treeform.formulations"
REQUIREMENTS = "treeform.requirements"
OBJECTIVES = "treeform.objectives"

#: What comes with treeform. Written down here, and not as entry points, so that it is found in a checkout without
#: installed metadata too. treeform's formulations are entry points in pyproject.toml, like those of other packages.
BUILT_IN: Mapping[str, Mapping[str, str]] = {
    SOLVERS: {
        "highs": "treeform.backends.highs:HiGHS",
        "cp-sat": "treeform.backends.cpsat:CPSAT",
        "sat": "treeform.backends.sat:SAT",
        "rc2": "treeform.backends.maxsat:MaxSAT",
        "mathopt": "treeform.backends.mathopt:MathOpt",
        "pyomo": "treeform.backends.pyomo:Pyomo",
        "portfolio": "treeform.backends.portfolio:Portfolio",
        "isolated": "treeform.backends.isolated:Isolated",
    },
    ENGINES: {  # in the order of preference of engines that support a task equally well: the faster ones first
        "dl85": "treeform.engines.binary:DL85",
        "contree": "treeform.engines.contree:ConTree",
        "totals-search": "treeform.engines.totals:TotalsSearch",
        "continuous-totals": "treeform.engines.continuous_totals:ContinuousTotals",
        "path-search": "treeform.engines.paths:PathSearch",
        "diagram-search": "treeform.engines.diagram:DiagramSearch",
        "regression-search": "treeform.engines.regression:RegressionSearch",
        "deep-tree-search": "treeform.engines.deep_trees:DeepTreeSearch",
        "cadl85": "treeform.engines.binary:CADL85",
        "blossom": "treeform.engines.binary:Blossom",
    },
    FORMULATIONS: {},
    # Importing treeform.requirements enters the others.
    REQUIREMENTS: {"on_rows": "treeform.requirements.on_rows:OnRows"},
    OBJECTIVES: {
        "error": "treeform.language.objective:Error",
        "nodes": "treeform.language.size_terms:Nodes",
        "leaves": "treeform.language.size_terms:Leaves",
        "depth": "treeform.language.size_terms:Depth",
        "cost": "treeform.language.costs:Cost",
        "balanced_error": "treeform.objectives.balanced:BalancedError",
        "group_error": "treeform.objectives.group_error:GroupError",
        "max_group_error": "treeform.objectives.group_error:MaxGroupError",
        "f1_loss": "treeform.objectives.f1:F1Loss",
        "matthews_loss": "treeform.objectives.matthews:MatthewsLoss",
        "squared_error": "treeform.objectives.regression:SquaredError",
        "absolute_error": "treeform.objectives.regression:AbsoluteError",
        "abstain_cost": "treeform.objectives.abstain:AbstainCost",
        "soft": "treeform.objectives.soft:Soft",
    },
}


@dataclass(frozen=True)
class Extension:
    """A name in a group, and the object that it stands for."""

    group: str
    name: str
    target: str
    """``"module:Class"``."""
    package: str | None = None
    """The distribution that registers it; None for treeform's own."""
    version: str | None = None
    """Of that distribution."""
    taken_by: str | None = None
    """The package that has the name already; then `load` refuses."""

    def load(self) -> Any:
        """Import the object.

        Raises SpecError if the name is taken, or whatever goes wrong in the package: its errors are not ours.
        """
        if self.name in _REGISTERED[self.group]:
            return _REGISTERED[self.group][self.name]
        if self.taken_by is not None:
            raise self._broken(f"the name belongs to {self.taken_by}", "give the entry point another name")
        return self.guard(self._import)

    def load_class(self, base: type[T], cause: str, fix: str) -> type[T]:
        """Import the object, which has to be a class derived from ``base``.

        Raises SpecError if it cannot be loaded, or is none; with this cause and fix.
        """
        loaded = self.load()
        if isinstance(loaded, type) and issubclass(loaded, base):
            return loaded
        what = self.group.partition(".")[2].removesuffix("s")
        raise SpecError(
            f"{self.target}, registered as the {what} {self.name!r}, is no {what}", cause=cause, fix=fix
        )

    def guard(self, call: Callable[[], T]) -> T:
        """What ``call`` returns; what it raises is reported with the name of the package that is to blame.

        Raises SpecError.
        """
        try:
            return call()
        except SpecError:
            raise
        except Exception as error:
            if self.package is None:
                raise
            cause = f"{type(error).__name__}: {error}"
            raise self._broken(cause, f"repair, update or uninstall {self.package}") from error

    def _import(self) -> Any:
        module, _, path = self.target.partition(":")
        value: Any = import_module(module.strip())
        for attribute in filter(None, path.partition("[")[0].strip().split(".")):
            value = getattr(value, attribute)
        return value

    def _broken(self, cause: str, fix: str) -> SpecError:
        what = self.group.partition(".")[2].removesuffix("s")
        return SpecError(
            f"the {what} {self.name!r} of the package {self.package} cannot be loaded", cause=cause, fix=fix
        )


_REGISTERED: dict[str, dict[str, Any]] = {group: {} for group in BUILT_IN}


def register(group: str, name: str, value: Any) -> None:
    """Give ``value`` a name in this process, as an entry point does for good; SpecError if it is one of treeform's
    own.
    """
    if name in BUILT_IN[group]:
        raise SpecError(
            f"there is a {group.partition('.')[2].removesuffix('s')} named {name!r} already",
            cause="it comes with treeform",
            fix=f"set another `name` in {getattr(value, '__name__', value)}",
        )
    _REGISTERED[group][name] = value


def extensions(group: str) -> Iterator[Extension]:
    """All names of a group: treeform's own, those registered in this process, and those of other packages.

    Packages are searched only when the iteration reaches them.
    """
    for name, target in BUILT_IN[group].items():
        yield Extension(group, name, target)
    here = dict(_REGISTERED[group])
    for name, value in here.items():
        yield Extension(group, name, f"{value.__module__}:{value.__qualname__}")
    for one in _installed(group, tuple(sys.path)):
        if one.name not in here:
            yield one


def find(group: str, name: str) -> Extension | None:
    """The entry of that name, or None."""
    return next((one for one in extensions(group) if one.name == name), None)


@lru_cache(maxsize=16)
def _installed(group: str, path: tuple[str, ...]) -> tuple[Extension, ...]:
    """The entry points on a search path; reading the metadata of all packages takes a while."""
    holders = dict.fromkeys(BUILT_IN[group], "treeform")
    installed = []
    for point in entry_points(group=group):
        package = point.dist.name if point.dist is not None else "an unknown package"
        version = point.dist.version if point.dist is not None else None
        owner = None if package == "treeform" else package
        installed.append(Extension(group, point.name, point.value, owner, version, holders.get(point.name)))
        holders.setdefault(point.name, package)
    return tuple(installed)


def parse_name(text: str) -> tuple[str, str]:
    """The name and the settings: ``"pyomo:cbc"`` has none, ``"dl85:threads=2"`` has ``"threads=2"``."""
    before, equals, _ = text.partition("=")
    if not equals:
        return text.strip(), ""
    name, colon, _ = before.rpartition(":")
    if not colon:
        raise SpecError(
            f"{text!r} cannot be read",
            cause="settings follow the name after a colon",
            fix="write for example cp-sat:threads=2",
        )
    return name.strip(), text[len(name) + 1 :]


def construct(
    make: Callable[..., T], name: str, settings: str, *, among: Callable[..., Any] | None = None
) -> T:
    """Call ``make`` with settings written as text, as `parse_name` gives them.

    They are parameters of ``among``, by default those of ``make``; messages call it ``name``. Raises SpecError if there
    is no such setting, or a value is not possible.
    """
    if not settings:
        return make()
    owner = among or make
    known = parameters(owner)
    arguments: dict[str, Any] = {}
    for part in filter(None, settings.split(",")):
        key, equals, value = (side.strip() for side in part.partition("="))
        key = next(iter(current_names(getattr(owner, "__init__", owner), {key: None}, name)))
        if key not in known or not equals or key in arguments:
            raise _misread(name, part, key, known, twice=key in arguments)
        arguments[key] = _value(value, listed=isinstance(known[key].default, tuple))
    try:
        return make(**arguments)
    except SpecError:
        raise
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"{name}:{settings} is not possible", cause=str(error), fix=_example(name, known)
        ) from error


def parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a class or function that have names, in order."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {k: p for k, p in inspect.signature(make).parameters.items() if p.kind in kinds}


def _misread(
    name: str, part: str, key: str, known: dict[str, inspect.Parameter], *, twice: bool
) -> SpecError:
    what = f"{name} has no setting {key!r}" if key not in known else f"{part!r} gives {key} no value"
    return SpecError(
        f"{name} is given {key} twice" if twice else what,
        cause=f"its settings are {', '.join(known)}, each written setting=value" if known else "it has none",
        fix=(did_you_mean(key, known) if key not in known else None) or _example(name, known),
    )


def _example(name: str, known: dict[str, inspect.Parameter]) -> str:
    plain = [p for p in known.values() if isinstance(p.default, int | float | str)]
    return f"write for example {name}:{plain[0].name}={plain[0].default}" if plain else f"write {name} alone"


def _value(text: str, listed: bool) -> Any:
    """An int, a float, a truth value, None or the text itself; of a list, a tuple of them."""
    if listed:
        return tuple(_value(one, False) for one in text.split("+") if one.lower() not in ("", "none"))
    words: dict[str, Any] = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _value(text, True) if "+" in text else text
