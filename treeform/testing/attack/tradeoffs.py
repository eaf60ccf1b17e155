"""Size tables, Pareto curves, frontiers, conflicts, prices and near-optimal models, against the list of all models."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treeform.testing.attack import rules
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.compare import exact, least, of_model, of_result
from treeform.testing.attack.families import Truth, deal
from treeform.testing.attack.verbs import Asked

NOTHING = Aim(())
"""The objective of a question that only asks for a model."""
BOUNDED = (
    *(k for k in rules.PARITIES), "min_support", "stability", "max_errors", "group_error_at_most", "min_precision",
    "min_recall", "min_specificity", "max_false_positive_rate", "max_nodes", "feature_budget", "feature_cost",
    "max_cost", "stay_close_to", "max_depth", "max_leaves", "max_tests_per_path", "max_thresholds", "min_coverage",
)  # fmt: skip


def size_table(asked: Asked) -> None:
    """`Problem.size_table`."""
    case, world = asked.case, asked.world
    options = asked.options
    if case.more["prices"]:
        options["prices"] = [Fraction(p) for p in case.more["prices"]]
    problem = asked.problem()
    table = asked.run(lambda: problem.size_table(case.solver, **options))
    aim = case.aim.without("nodes", "leaves")
    ranked = world.ranked(aim, case.specs)
    done = all(row.lower is None or row.lower == row.upper for row in table.rows)
    asked.verdict.status = "proved" if done else "open"
    for row in table.rows:
        best = least(ranked, row.tests)
        lower, upper = exact(row.lower), exact(row.upper)
        if row.lower is None and best is not None:
            asked.say(f"no model of {row.tests} tests, and {best} is possible")
        if lower is not None and best is not None and lower > best:
            asked.say(f"{row.tests} tests: the bound {lower} by {row.by}, and {best} is possible")
        if row.graph is not None:
            wrong, m = of_model(world, aim, case.specs, row.graph, upper)
            asked.say(*wrong)
            if m.tests > row.tests or best is None or (upper is not None and upper < best):
                asked.say(f"{m.tests} tests worth {upper} in the row of {row.tests}, whose best is {best}")
    whole = asked.complete and case.solver is None and not case.more["prices"]
    if whole and not done and table.limit is None and not table.notes:
        asked.say("rows stay open without a reason")
    again = lambda body: problem.size_table(case.solver, **_brief(options), start=body)  # noqa: E731
    deal(asked, table, Truth(asked, aim, case.specs, ranked), again)
    for text in case.more["prices"] or ("1/3",):
        at, best = table.at(Fraction(text)), None
        best = min((v + Fraction(text) * m.tests for v, m in ranked), default=None)
        objective, bound = exact(at.objective), exact(at.bound)
        if at.proved and objective != best:
            asked.say(f"price {text}: proved {objective}, and {best} is the least")
        if bound is not None and best is not None and bound > best:
            asked.say(f"price {text}: the bound {bound} is above {best}")


def _brief(options: dict[str, Any]) -> dict[str, Any]:
    """The same, and no time for anything but what a start has."""
    return {**options, "time_limit": 1e-6}


def pareto(asked: Asked) -> None:
    """`Problem.pareto`."""
    case, world = asked.case, asked.world
    problem = asked.problem()
    curve = asked.run(lambda: problem.pareto(case.solver, **asked.options))
    aim = case.aim.without("nodes", "leaves")
    ranked = world.ranked(aim, case.specs)
    asked.verdict.status = "proved" if curve.proved else "open"
    points = {(p.depth, p.tests, Fraction(p.value)) for p in curve.points}
    for p in curve.points:
        asked.say(*of_model(world, aim, case.specs, p.graph, p.value)[0])
        best = least(ranked, p.tests, p.depth)
        if best is None or Fraction(p.value) < best or (p.proved and Fraction(p.value) != best):
            asked.say(f"point {p.depth, p.tests, str(p.value)}, proved {p.proved}, and {best} is the least")
    found = {(m.depth, m.tests, v) for v, m in ranked}
    front = {
        k for k in found if not any(o != k and o[0] <= k[0] and o[1] <= k[1] and o[2] <= k[2] for o in found)
    }
    if curve.proved and points != front:
        asked.say(f"the curve {sorted(points)} is called proved, and it is {sorted(front)}")
    if asked.complete and case.solver is None and not curve.proved and curve.limit is None:
        asked.say("the curve stays open without a limit")
    again = lambda body: problem.pareto(case.solver, **_brief(asked.options), start=body)  # noqa: E731
    deal(asked, curve, Truth(asked, aim, case.specs, ranked), again)


def frontier(asked: Asked) -> None:
    """`Problem.frontier` over the last requirement that has a bound."""
    case, world, plain = asked.case, asked.world, asked.world.plain
    moved = next((s for s in reversed(case.specs) if s["kind"] in BOUNDED), None)
    if moved is None or world.of_values:
        asked.verdict.status = "nothing to move"
        return
    others = [s for s in case.specs if s is not moved]
    problem = asked.problem(others)
    over = asked.made(moved, problem)
    curve = asked.run(lambda: problem.frontier(case.solver, over=over, **asked.options))
    asked.verdict.status = "proved" if curve.proved else "open"
    ranked = world.ranked(case.aim, others)
    lower = rules.is_lower(moved)
    worst = Fraction(1) if lower else Fraction(0)  # of a model without such a number

    def measure(m: Any) -> Fraction:
        value = rules.measured(moved, m, plain)
        return worst if value is None else value

    known = [(v, measure(m)) for v, m in ranked]
    for p in curve.points:
        asked.say(*of_model(world, case.aim, others, p.graph, p.objective)[0])
        bound = Fraction(p.value)
        held = [v for v, x in known if (x >= bound if lower else x <= bound)]
        if not held or Fraction(p.objective) < min(held):
            asked.say(f"at {bound}: a model worth {p.objective}, and {min(held, default=None)} is the least")
        elif p.proved and Fraction(p.objective) != min(held):
            asked.say(f"at {bound}: proved {p.objective}, and {min(held)} is the least")
    if curve.proved and known:
        tightest = max(x for _, x in known) if lower else min(x for _, x in known)
        last = curve.points[-1].value if curve.points else None
        if last is None or Fraction(last) != tightest:
            asked.say(f"proved down to {last}, and {tightest} is possible")
    if curve.points and not known:
        asked.say("a frontier where no model satisfies the others")
    if asked.complete and case.solver is None and not curve.proved and curve.limit is None:
        asked.say("the frontier stays open without a limit")
    again = lambda body: problem.frontier(case.solver, over=over, **_brief(asked.options), start=body)  # noqa: E731
    deal(asked, curve, Truth(asked, case.aim, others, ranked, measure, lower), again)


def conflict(asked: Asked) -> None:
    """`Problem.conflict`."""
    case, world = asked.case, asked.world
    problem = asked.problem()
    labels = [str(r) for r in problem.requirements]
    found = asked.run(lambda: problem.conflict(case.solver, **asked.options))
    ranked = world.ranked(case.aim, case.specs)
    asked.verdict.status = "none" if found is None else "proved" if found.proved else "open"
    if found is None:
        if not ranked and not asked.struck:
            asked.say("no conflict is seen, and no model satisfies all")
        return
    if ranked and found.proved:
        asked.say(f"a conflict is proved, and {ranked[0][0]} is possible")
    by_label: dict[str, list[Any]] = {}
    for label, spec in zip(labels, case.specs, strict=False):
        by_label.setdefault(label, []).append(spec)
    if any(len(some) > 1 for some in by_label.values()) or set(found.requirements) - set(by_label):
        return
    core = [by_label[label][0] for label in found.requirements]
    if found.proved and world.ranked(case.aim, core):
        asked.say(f"{found.requirements} conflict by proof, and a model satisfies them")
    for label, result in found.witnesses.items():
        rest = [by_label[x][0] for x in found.requirements if x != label]
        aim = case.aim if str(result.question.objective) == str(problem.objective) else NOTHING
        asked.say(*of_result(world, aim, rest, result, world.ranked(aim, rest), False))
        if result.graph is not None and found.minimal and not world.ranked(case.aim, rest):
            asked.say(f"minimal, and without {label} there is no model")
    for one in found.relaxations if not world.of_values else ():
        _relaxed(asked, one, by_label[one.requirement][0], list(case.specs))


def _relaxed(asked: Asked, one: Any, spec: Any, specs: list[Any]) -> None:
    """How far one bound has to move, when all other requirements stay."""
    if spec["kind"] not in BOUNDED:
        return
    world = asked.world
    rest = [s for s in specs if s is not spec]
    lower = rules.is_lower(spec)
    measures = [
        x for _, m in world.ranked(asked.case.aim, rest)
        if (x := rules.measured(spec, m, world.plain)) is not None
    ]  # fmt: skip
    best = (max(measures) if lower else min(measures)) if measures else None
    if one.bound is not None and (best is None or (one.bound > best if lower else one.bound < best)):
        asked.say(f"{one.requirement}: {one.bound} would do, and {best} is the tightest")
    if one.proved and exact(one.bound) != best:
        asked.say(f"{one.requirement}: {one.bound} is proved the best, and it is {best}")


def prices(asked: Asked) -> None:
    """`Result.prices`."""
    case, world = asked.case, asked.world
    problem = asked.problem()
    result = problem.solve(case.solver, formulation=case.formulation)
    priced = asked.run(lambda: result.prices(case.solver, **asked.options))
    asked.verdict.status = "proved" if all(row.proved for row in priced.rows) else "open"
    if len(priced.rows) != (len(case.specs) + 1 if case.specs else 0):
        return
    for number, row in enumerate(priced.rows):
        rest = [] if number == len(case.specs) else [s for s in case.specs if s is not case.specs[number]]
        ranked = world.ranked(case.aim, rest)
        asked.say(*of_result(world, case.aim, rest, row.without, ranked, False))
        within = world.optimum(case.aim, case.specs)
        if within is None or not ranked:
            continue
        price = within - ranked[0][0]
        if (row.least is not None and row.least > price) or (row.most is not None and row.most < price):
            asked.say(f"{row.requirement} costs {row.least} to {row.most}, and it is {price}")


def near_optimal(asked: Asked) -> None:
    """`Problem.near_optimal`."""
    case, world = asked.case, asked.world
    problem = asked.problem()
    within = Fraction(case.more["within"])
    found = asked.run(lambda: problem.near_optimal(case.solver, within=within, **asked.options))
    ranked = world.ranked(case.aim, case.specs)
    asked.verdict.status = "complete" if found.complete else "open"
    asked.say(*of_result(world, case.aim, case.specs, found.best, ranked, False))
    listed = []
    for near in found.models:
        wrong, m = of_model(world, case.aim, case.specs, near.graph, near.objective)
        asked.say(*wrong)
        listed.append(m)
        if near.objective > found.threshold:
            asked.say(f"a model worth {near.objective} beyond {found.threshold}")
    if found.complete and ranked:
        top = ranked[0][0] * (1 + within)
        if found.threshold != top:
            asked.say(f"near is up to {found.threshold}, and it is {top}")
        missing = {_parts(m) for v, m in ranked if v <= top and _decides(m)} - {_parts(m) for m in listed}
        if missing:
            asked.say(
                f"{len(listed)} models are called all, and {len(missing)} others part the rows otherwise"
            )
    for one in found.indispensable:
        without = [m for v, m in ranked if v <= found.threshold and one.column not in m.columns(world.plain)]
        if one.proved is not None and one.proved == bool(without):
            asked.say(f"{one.column} indispensable: {one.proved}, and {len(without)} models do without")


def _parts(m: Any) -> Any:
    """How a model parts the rows, whatever columns its tests read and whichever way they are turned."""
    nodes = frozenset((n.layer, n.reached, frozenset((n.right, n.reached & ~n.right))) for n in m.nodes)
    return nodes, m.predicted


def _decides(m: Any) -> bool:
    """Whether every test parts points that are predicted differently: others are left out of a list."""
    return all(
        len({code for p, code in enumerate(m.predicted) if node.reached >> p & 1}) > 1 for node in m.nodes
    )


TRADEOFFS = {
    "size_table": size_table, "pareto": pareto, "frontier": frontier, "conflict": conflict, "prices": prices,
    "near_optimal": near_optimal,
}  # fmt: skip
