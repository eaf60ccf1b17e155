"""Certificates: honest ones pass; what is altered, exchanged or held against other data is not verified unless true."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import treeform as tf
from treeform.certify.certificate import sign
from treeform.testing.attack import hands
from treeform.testing.attack.aims import Aim
from treeform.testing.attack.compare import of_model
from treeform.testing.attack.plain import Plain
from treeform.testing.attack.rules import Spec
from treeform.testing.attack.verbs import Asked, checked, solve
from treeform.testing.attack.world import World
from treeform.testing.differential.certificates import FORGERIES
from treeform.testing.mutate import mutations

Body = dict[str, Any]


def certificate(asked: Asked) -> None:
    """A certificate of the case's answer, and what its dealing does with it."""
    result = solve(asked)
    if asked.verdict.wrong:
        return
    body = json.loads(json.dumps(result.certificate()))
    verdict = _DEALINGS[asked.case.more["dealing"]](asked, body)
    asked.verdict.status = f"{asked.case.more['dealing']}: {verdict}"


def _honest(asked: Asked, body: Body) -> str:
    verdict, detail = checked(asked, body, limited=True)
    if verdict in ("false", "refused"):
        asked.say(f"an honest certificate does not pass: {detail}")
    return verdict


def _independent(asked: Asked, body: Body) -> str:
    verdict, detail = checked(asked, body, independent=True)
    if verdict in ("false", "refused"):
        asked.say(f"an honest certificate does not pass independently: {detail}")
    return verdict


def _forged(asked: Asked, body: Body) -> str:
    names = list(FORGERIES)
    asked.rng.shuffle(names)
    for name in names:
        forged = copy.deepcopy(body)
        if FORGERIES[name](forged):
            return _held_true(asked, sign(forged), f"forged ({name})")
    return "nothing to forge"


def _mutated(asked: Asked, body: Body) -> str:
    part = asked.rng.choice([key for key in body if key not in ("digest", "problem")])
    changed = list(islice(mutations({part: body[part]}), asked.rng.randrange(60) + 1))
    if not changed:
        return "nothing to mutate"
    last = changed[-1]
    kept = {k: v for k, v in {**body, **last.certificate}.items() if part in last.certificate or k != part}
    return _held_true(asked, sign(kept), f"mutated ({last})")


def _held_true(asked: Asked, body: Body, what: str) -> str:
    """Verified only if what it says is true of the case's question."""
    verdict, detail = checked(asked, body)
    if verdict == "verified":
        for wrong in untrue(asked.world, asked.case.aim, asked.case.specs, body):
            asked.say(f"{what} and verified, though {wrong}; {detail[:200]}")
    return verdict


def untrue(world: World, aim: Aim, specs: Any, body: Body) -> list[str]:
    """What a certificate says falsely of a question."""
    answer, optimum = body["answer"], world.optimum(aim, specs)
    objective = None if answer["objective"] is None else Fraction(answer["objective"])
    wrong = []
    if answer["status"] == "optimal" and objective != optimum:
        wrong.append(f"the optimum is {optimum} and not {objective}")
    if answer["status"] == "infeasible" and optimum is not None:
        wrong.append(f"{optimum} is possible")
    if answer.get("bound") is not None and optimum is not None and Fraction(answer["bound"]) > optimum:
        wrong.append(f"the optimum {optimum} is below the bound {answer['bound']}")
    if body["model"] is not None:
        graph = tf.DecisionGraph.from_json(body["model"], validate="structure")
        wrong += of_model(world, aim, specs, graph, objective)[0]
    return wrong


def _exchanged(asked: Asked, body: Body) -> str:
    """The answer, the model and the claims of another question over the same data."""
    world = asked.world
    other_aim = asked.rng.choice(world.aims)
    other: tuple[Spec, ...] = tuple(
        asked.rng.sample(world.pool, min(len(world.pool), asked.rng.randint(0, 2)))
    )
    problem = asked.problem(other, other_aim)
    theirs = json.loads(json.dumps(problem.solve().certificate()))
    mixed = {**theirs, "problem": body["problem"], "data": body["data"]}
    if asked.rng.random() < 0.3:
        mixed = {**body, "claims": theirs["claims"]}
    return _held_true(asked, sign(mixed), "exchanged")


def _other_data(asked: Asked, body: Body) -> str:
    """Held against other weights, labels or cells, or fewer rows: never verified."""
    world, rng = asked.world, asked.rng
    plain, what = _changed(world.plain, rng)
    if plain is None:
        return "nothing to change"
    handed = hands.hand_over(plain, "lists", world.of_values, rng)
    verdict, detail = checked(asked, body, handed)
    if verdict == "verified" and plain != world.plain:
        asked.say(f"verified for other data ({what}): {detail[:200]}")
    return verdict


def _changed(plain: Plain, rng: Any) -> tuple[Plain | None, str]:
    row = rng.choice(plain.kept)
    what = rng.choice(("weight", "label", "cell", "fewer"))

    def put(values: Any, value: Any) -> Any:
        return (*values[:row], value, *values[row + 1 :])

    if what == "weight":
        weights = plain.weights or ("1",) * plain.n_rows
        return replace(
            plain, weights=put(weights, str(Fraction(weights[row]) * 3 / 2 + 1).split("/")[0])
        ), what
    if what == "label":
        other = [v for v in plain.target if v != plain.target[row]]
        return replace(plain, target=put(plain.target, rng.choice(other))), what
    name = rng.choice(plain.tested)
    if what == "cell":
        other = [v for v in plain.columns[name] if v != plain.columns[name][row]]
        if not other:
            return None, what
        columns = {**plain.columns, name: put(plain.columns[name], rng.choice(other))}
        return replace(plain, columns=columns), what

    def cut(values: Any) -> Any:
        return (*values[:row], *values[row + 1 :]) if values else values

    columns = {n: cut(v) for n, v in plain.columns.items()}
    return replace(
        plain, columns=columns, target=cut(plain.target), weights=cut(plain.weights), groups=cut(plain.groups),
        mask=cut(plain.mask),
    ), what  # fmt: skip


def _other_order(asked: Asked, body: Body) -> str:
    """The same rows in another order: accepted or refused, and never called false."""
    world, rng = asked.world, asked.rng
    order = rng.sample(range(world.plain.n_rows), world.plain.n_rows)

    def moved(values: Any) -> Any:
        return tuple(values[i] for i in order) if values else values

    plain = Plain(
        {n: moved(v) for n, v in world.plain.columns.items()}, moved(world.plain.target),
        moved(world.plain.weights), moved(world.plain.groups), world.plain.excluded, moved(world.plain.mask),
    )  # fmt: skip
    handed = hands.hand_over(plain, "lists", world.of_values, rng)
    verdict, detail = checked(asked, body, handed)
    if verdict == "false":
        asked.say(f"false on the same rows in another order: {detail[:200]}")
    return verdict


_DEALINGS = {
    "honest": _honest, "independent": _independent, "forged": _forged, "mutated": _mutated, "exchanged": _exchanged,
    "other data": _other_data, "other order": _other_order,
}  # fmt: skip


def report(asked: Asked) -> None:
    """``treeform report`` of a certificate and the training rows in another order."""
    import contextlib
    import io
    import tempfile
    from pathlib import Path

    import pandas as pd

    from treeform.cli.app import app

    world, case = asked.world, asked.case
    if world.of_values or world.plain.weights is not None or any(
        s.get("groups") == "array" or s.get("hand") == "directly" or s.get("on") == "mask" for s in case.specs
    ) or any(t.get("groups") == "array" for t in case.aim.terms):  # fmt: skip
        asked.verdict.status = "not asked of this table"
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = pd.DataFrame({k: list(v) for k, v in world.plain.columns.items()})
        frame.assign(target=list(world.plain.target)).to_csv(folder / "rows.csv", index=False)
        table = pd.read_csv(folder / "rows.csv")
        asked.handed = hands.Handed(table, "target", None, list(world.plain.groups))
        result = asked.problem().solve()
        (folder / "certificate.json").write_text(json.dumps(result.certificate()))
        order = asked.rng.sample(range(len(table)), len(table))
        table.iloc[order].to_csv(folder / "again.csv", index=False)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            app(
                [
                    "report",
                    str(folder / "certificate.json"),
                    str(folder / "again.csv"),
                    "-o",
                    str(folder / "out.md"),
                ],
                standalone_mode=False,
            )
        text = said.getvalue()
        if not (folder / "out.md").exists():
            refused = text.startswith("error: ") and "broke down" not in text
            asked.verdict.status, asked.verdict.refusal = "refused", text.partition("\n")[0]
            if not refused:
                asked.say(f"no report: {text[:200]}")
            return
        text += (folder / "out.md").read_text()
    asked.verdict.status = "reported"
    told = [line for line in text.splitlines() if "held-out errors" in line or "held-out accuracy" in line]
    if told:
        asked.say(f"the training rows in another order are called held-out: {told[0].strip()[:120]}")
