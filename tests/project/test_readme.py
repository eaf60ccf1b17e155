"""What the README shows is what treeform does: its drawing, its figures and its example."""

from __future__ import annotations

import re
import sys

import pytest
from repository import ROOT

import treeform as tf

README = (ROOT / "README.md").read_text(encoding="utf-8")
sys.path.append(str(ROOT))

from benchmarks.project import readme  # noqa: E402


@pytest.fixture(scope="module")
def result() -> tf.Result:
    return readme.main_job()


def test_the_drawing_is_that_of_the_first_command(result: tf.Result) -> None:
    assert result.graph is not None
    drawn = (ROOT / "docs" / "readme_tree.svg").read_text(encoding="utf-8")
    assert drawn == result.graph.to_svg(), "run python -m benchmarks project readme"


def test_the_sentences_about_the_first_command_hold(result: tf.Result) -> None:
    assert result.status is tf.Status.OPTIMAL
    plain = readme.main_job(rules=False)
    text = " ".join(README.split())
    assert f"It makes {result.errors} errors on 1000 applicants" in text
    assert f"the best tree makes {plain.errors} errors" in text
    for groups in ("sex", "age_years"):
        rule = tf.StatisticalParity(groups=groups, difference=0, favourable="yes")
        gaps = [rule.violation(one.graph, one.question.data) for one in (result, plain)]
        assert gaps[0] < 0.02 and round(100 * gaps[1]) == 4


def test_the_first_command_states_the_same_problem(result: tf.Result) -> None:
    command = re.search(r"treeform fit examples/\S+ (.*)", README)
    assert command is not None
    assert re.findall(r"--require (\S+)", command[1]) == list(result.question.labels)
    assert re.findall(r"--exclude (\S+)", command[1]) == ["sex", "age_years"]


def test_the_table_shows_the_figures_of_the_docs() -> None:
    assert readme.with_table(README) == README, "run python -m benchmarks project readme"


def test_the_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code is not None
    exec(compile(code[1], "README.md", "exec"), {})
    assert "optimal" in capsys.readouterr().out.lower()
