"""What the README shows is what treeform does: its drawing, its figures and its example."""

from __future__ import annotations

import re
import sys
import tomllib

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
    assert f"makes {result.errors} errors on 1000 applicants" in text
    assert f"Without the two rules the best tree makes {plain.errors} errors" in text
    gaps = {}
    for groups in ("sex", "age_group"):
        rule = tf.StatisticalParity(groups=groups, difference=0, positive="yes")
        gaps[groups] = [rule.violation(one.graph, one.question.data) for one in (result, plain)]
        assert gaps[groups][0] < 0.02
    assert round(100 * gaps["age_group"][1]) == 10


def test_the_first_command_states_the_problem_that_is_shown() -> None:
    assert re.search(r"treeform fit --spec examples/credit\.toml ", README)
    shown = re.search(r"```toml\n(.*?)```", README, re.S)
    assert shown is not None
    assert tomllib.loads(shown[1]) == tomllib.loads(readme.SPEC.read_text(encoding="utf-8"))


def test_the_table_shows_the_figures_of_the_docs() -> None:
    assert readme.with_table(README) == README, "run python -m benchmarks project readme"


def test_the_example_prints_what_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    found = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", README, re.S)
    assert found is not None
    exec(compile(found[1], "README.md", "exec"), {})
    assert capsys.readouterr().out == found[2]


def test_the_description_of_a_release_is_the_readme_without_links_to_files() -> None:
    shown = (ROOT / "DESCRIPTION.md").read_text(encoding="utf-8")
    assert shown == readme.description(README), "run python -m benchmarks project readme"
    assert not re.findall(r"\]\((?!https?://)[^)]*\)|<img", shown)
    assert "pip install treeform" in shown and "git clone" not in shown and "-e ." not in shown
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["readme"] == "DESCRIPTION.md"
