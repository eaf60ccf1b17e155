"""The words of errors, case by case in ``tests/messages``: what is written, and what treeform says about it.

A file is a list of cases, separated by lines of ``=``: an expression, a line of ``-``, the message. ``table`` is a
small table, ``problem`` a problem on it. ``python tests/project/test_error_texts.py`` writes the messages anew, to be
read in the change's diff: each says what happened, why, and what to do.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import treeform as tf
from treeform.errors import TreeformError

FOLDER = Path(__file__).resolve().parents[1] / "messages"


def names() -> dict[str, Any]:
    """What the expressions may use."""
    table = pd.DataFrame(
        {
            "income": [1.0, 2.5, 3.0, 4.5, 5.0, 6.0],
            "sex": ["f", "m", "f", "m", "f", "m"],
            "town": ["A", "B", "C", "A", "B", "C"],
            "bought": ["no", "no", "yes", "yes", "yes", "no"],
        }
    )
    problem = tf.Problem(table, "bought", shape=tf.Tree(2), exclude=["sex"])
    return {"tf": tf, "pd": pd, "table": table, "problem": problem, "rows": table.drop(columns="bought")}


def cases(path: Path) -> list[tuple[str, str]]:
    """Expressions and messages of a file."""
    parts = re.split(r"^=+\n", path.read_text(encoding="utf-8"), flags=re.M)
    pairs = [re.split(r"^-+\n", part, maxsplit=1, flags=re.M) for part in parts if part.strip()]
    return [(code.strip(), "".join(message).strip()) for code, *message in pairs]


def message(code: str) -> str:
    """What treeform says about an expression that is wrong."""
    with pytest.raises(TreeformError) as raised:
        eval(code, names())
    return str(raised.value)


ALL = [(path.stem, code, text) for path in sorted(FOLDER.glob("*.txt")) for code, text in cases(path)]


@pytest.mark.parametrize(("code", "text"), [case[1:] for case in ALL], ids=[f"{n}: {c}"[:60] for n, c, _ in ALL])
def test_the_message_is_the_one_on_file(code: str, text: str) -> None:
    assert message(code) == text


def test_every_message_says_why_or_what_to_do() -> None:
    assert len(ALL) > 20
    for _, code, text in ALL:
        assert re.search(r"^  (Why|Fix): ", text, re.M), code
        assert "Traceback" not in text and not re.search(r"0x[0-9a-f]{6}", text)


if __name__ == "__main__":
    for file in FOLDER.glob("*.txt"):
        file.write_text(
            f"\n{'=' * 40}\n".join(f"{code}\n{'-' * 40}\n{message(code)}" for code, _ in cases(file)) + "\n",
            encoding="utf-8",
        )
