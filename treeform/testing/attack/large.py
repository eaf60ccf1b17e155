"""Every verb on tables that take seconds, under real limits: what is kept when the time ends, or Ctrl-C is pressed.

The truth is not known here. What is: no error, a model recounted from its arrays, bounds that no model of the same
answer is below, and that an answer that blames the time has used it.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from fractions import Fraction
from typing import Any

import numpy as np

import treeform as tf
from treeform.testing.attack.verbs import Verdict

SIZES = ((300, 5), (2000, 6), (10_000, 10), (1000, 300))
VERBS = ("solve", "size_table", "pareto", "frontier", "conflict", "prices", "near_optimal", "check")
AIMS = ("error", "f1_loss", "matthews_loss", "squared_error")
RULES = ("none", "min_support", "max_nodes", "parity", "per_path", "precision", "cost_of_path")
USED = 0.4
"""The share of the limit that has to be used where the time is blamed."""
LATE = 20.0
"""Seconds of processor time beyond the limit that are a fault whatever else the machine does."""


def draw(rng: random.Random) -> dict[str, Any]:
    """A question, and its limit."""
    verb = rng.choice(VERBS)
    aims = ("error", "error", "squared_error") if verb in ("size_table", "pareto", "near_optimal") else AIMS
    return {
        "seed": rng.randrange(10**6), "size": rng.choice(SIZES), "verb": verb, "rule": rng.choice(RULES),
        "depth": rng.choice((2, 3, 3, 4)), "aim": rng.choice(aims),
        "limit": rng.choice((0.002, 0.02, 0.1, 0.3, 1.0)), "press": rng.random() < 0.25, "whole": rng.random() < 0.4,
    }  # fmt: skip


def attack(q: dict[str, Any]) -> Verdict:
    """Ask within the limit, and look at what is said."""
    verdict = Verdict(by=q["aim"])
    problem, X, y = _problem(q)
    began, cpu = time.monotonic(), time.process_time()
    limit = 30.0 if q["press"] else q["limit"]
    timer = threading.Timer(q["limit"], lambda: os.kill(os.getpid(), signal.SIGINT))
    if q["press"]:
        timer.start()
    try:
        answer = _asked(q, problem, X, y, limit)
    finally:
        pressed = not timer.is_alive() if q["press"] else False
        timer.cancel()
    seconds, used = time.monotonic() - began, time.process_time() - cpu
    verdict.phase = "ctrl-c" if pressed else "limit"
    verdict.status = _status(answer)
    if used > q["limit"] + LATE:
        verdict.wrong.append(f"{used:.1f} s of processor time for a limit of {q['limit']} s")
    if str(getattr(answer, "limit", None)) == "time" and not q["press"] and seconds < USED * limit:
        verdict.wrong.append(f"the time is blamed after {seconds:.3f} of {limit} s")
    verdict.wrong += _faults(q, answer, X, y)
    return verdict


def _problem(q: dict[str, Any]) -> tuple[tf.Problem, Any, Any]:
    rng = np.random.default_rng(q["seed"])
    n, wide = q["size"]
    X = rng.integers(0, 9, (n, wide)).astype(float) if q["whole"] else rng.normal(size=(n, wide))
    score = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n)
    y = score.round(1) if q["aim"] == "squared_error" else (score > np.median(score)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(q["depth"]), sensitive_features=rng.choice(["p", "q"], n))
    problem.minimize({"squared_error": tf.SquaredError(), "f1_loss": tf.F1Loss(1), "error": tf.Error()}.get(
        q["aim"], tf.MatthewsLoss(1)))  # fmt: skip
    names = [str(c.source) for c in problem.data.columns]
    of_values = q["aim"] == "squared_error"
    rules = {
        "none": [], "min_support": [tf.MinSupport(0.05)], "max_nodes": [tf.MaxNodes(4)],
        "parity": [
            tf.MeanParity(difference="0.1") if of_values else tf.StatisticalParity(difference=0.02, positive=1)
        ],
        "per_path": [] if of_values else [tf.MaxTestsPerPath(names[:2], 1)],
        "precision": [] if of_values else [tf.MinPrecision("0.8", 1)],
        "cost_of_path": [] if of_values else [tf.FeatureCost(dict.fromkeys(names, 1), at_most=2, per_path=True)],
    }  # fmt: skip
    problem += rules[q["rule"]]
    if q["verb"] == "conflict" and not of_values:
        problem += [tf.MaxErrors(1 + n // 50), tf.MinRecall("0.9", 1)]
    return problem, X, y


def _asked(q: dict[str, Any], problem: tf.Problem, X: Any, y: Any, limit: float) -> Any:
    if q["verb"] == "frontier":
        return problem.frontier(over=tf.MinSupport(5), time_limit=limit)
    second = q["limit"] if q["press"] else limit  # Ctrl-C ended the first one
    if q["verb"] == "prices":
        return problem.solve(time_limit=limit).prices(time_limit=second)
    if q["verb"] == "check":
        result = problem.solve(time_limit=limit)
        return tf.check(result.certificate(), X, y, time_limit=second, **_groups(problem))
    return getattr(problem, q["verb"])(time_limit=limit)


def _groups(problem: tf.Problem) -> dict[str, Any]:
    named = any(getattr(r, "groups", None) is not None for r in problem.requirements)
    return {"sensitive_features": problem._sensitive} if named else {}


def _status(answer: Any) -> str:
    for name in ("status", "verdict"):
        if hasattr(answer, name):
            return str(getattr(answer, name))
    return "none" if answer is None else "proved" if getattr(answer, "proved", False) else "open"


def _faults(q: dict[str, Any], answer: Any, X: Any, y: Any) -> list[str]:
    wrong = []
    if q["verb"] == "check" and str(answer.verdict) == "false":
        wrong.append(f"an honest certificate is false: {str(answer)[:300]}")
    rows = [(r.lower, r.upper, r.graph) for r in getattr(answer, "rows", ()) if hasattr(r, "upper")]
    rows += [(p.lower, p.objective, p.graph) for p in getattr(answer, "points", ()) if hasattr(p, "lower")]
    if q["verb"] == "solve":
        rows.append((answer.bound, answer.objective, answer.graph))
        if str(answer.status) in ("feasible", "unknown") and answer.limit is None:
            wrong.append(f"{answer.status} without a reason")
    for lower, upper, graph in rows:
        if lower is not None and upper is not None and lower > upper:
            wrong.append(f"the bound {lower} is above {upper}, which a model has")
        if graph is not None and q["aim"] in ("error", "squared_error") and upper is not None:
            worth = _worth(graph, X, y, q["aim"])
            if worth != Fraction(upper):
                wrong.append(f"a model worth {worth}, and {upper} is stated")
    return wrong


def _worth(graph: Any, X: Any, y: Any, aim: str) -> Fraction:
    """Errors, or the sum of squares in fractions, by a walk through the arrays."""
    at = np.zeros(len(X), dtype=int)
    feature, cut = np.asarray(graph.feature), np.asarray(graph.threshold)
    while (feature[at] >= 0).any():
        inner = feature[at] >= 0
        low = X[np.arange(len(X)), np.maximum(feature[at], 0)] <= cut[at]
        at = np.where(inner, np.where(low, np.asarray(graph.left)[at], np.asarray(graph.right)[at]), at)
    if aim == "error":
        return Fraction(int((np.asarray(graph.classes)[np.asarray(graph.label)[at]] != y).sum()))
    total = Fraction(0)
    for leaf in set(at.tolist()):
        value = Fraction(graph.values[int(graph.label[leaf])])
        targets, count = np.unique(y[at == leaf], return_counts=True)
        for target, many in zip(targets.tolist(), count.tolist(), strict=True):
            total += many * (Fraction(str(target)) - value) ** 2
    return total
