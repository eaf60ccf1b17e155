"""Every command that states a problem takes the same options and reads the same files."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from treeform.cli.app import app
from treeform.cli.spec import spec_keys
from treeform.cli.stating import shared_options

FORM = {"sep": ";", "decimal": ",", "encoding": "cp1252"}
STATING = ["fit", "explain", "size-table", "pareto", "frontier", "conflict", "near-optimal"]
WITHOUT = {"explain": {"time_limit"}, "conflict": {"warm_start"}, "near-optimal": {"warm_start"}}
OWN = {"frontier": ["--over", "max_nodes:1"], "conflict": ["--require", "max_errors:0"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "".join(f"{k},5;{'groß' if k % 3 else 'klein'};{int(k > 5)}\n" for k in range(12))
    (tmp_path / "t.csv").write_text("wert;maß;ziel\n" + rows, encoding="cp1252")
    keys = {"data": "t.csv", "target": "ziel", "shape": "tree:1", **FORM}
    (tmp_path / "p.toml").write_text("".join(f'{key} = "{value}"\n' for key, value in keys.items()))
    return tmp_path


@pytest.mark.parametrize("command", STATING)
def test_forms_of_csv_files_in_the_spec_and_as_options(folder: Path, command: str) -> None:
    more = OWN.get(command, [])
    by_spec = CliRunner().invoke(app, [command, "--spec", str(folder / "p.toml"), *more])
    words = [word for name, value in FORM.items() for word in (f"--{name}", value)]
    table = [str(folder / "t.csv"), "--target", "ziel", "--shape", "tree:1"]
    by_options = CliRunner().invoke(app, [command, *table, *words, *more])
    assert by_spec.exit_code == by_options.exit_code == 0, by_spec.output + by_options.output
    first = [line for line in by_spec.stdout.splitlines() if "time" not in line]
    assert first == [line for line in by_options.stdout.splitlines() if "time" not in line]


def test_options_win_over_the_spec_and_wrong_forms_are_refused(folder: Path) -> None:
    spec = ["--spec", str(folder / "p.toml")]
    for words, what in (
        (["--sep", ","], "needs another separator"),
        (["--encoding", "martian"], "'martian' is not known"),
        (["--decimal", "x"], "'x' is not known"),
    ):
        done = CliRunner().invoke(app, ["fit", *spec, *words])
        assert done.exit_code == 2 and what in " ".join(done.stderr.split()), done.output
    assert CliRunner().invoke(app, ["fit", *spec, "--encoding", "latin-1"]).exit_code == 0


@pytest.mark.parametrize("command", STATING)
def test_every_command_takes_what_states_a_problem(command: str) -> None:
    shown = {option for one in _command(command).params for option in one.opts}
    shared = {f"--{name.replace('_', '-')}" for name in (one.name for one in shared_options())} - {"--data"}
    without = {f"--{name.replace('_', '-')}" for name in WITHOUT.get(command, ())}
    assert shared - shown == without
    assert {"--import", "--debug"} <= shown
    assert command == "explain" or {"--quiet", "--verbose", "-q", "-v"} <= shown


@pytest.mark.parametrize("command", ["predict", "check", "report"])
def test_commands_that_read_a_table_take_its_form(command: str) -> None:
    shown = {option for one in _command(command).params for option in one.opts}
    assert {f"--{name}" for name in FORM} <= shown


def test_keys_of_the_spec_are_options() -> None:
    shown = {option for one in _command("fit").params for option in one.opts}
    other = {"data", "requirements"}
    assert {f"--{key.replace('_', '-')}" for key in spec_keys() if key not in other} <= shown


def _command(name: str):
    from typer.main import get_command

    return get_command(app).commands[name]  # type: ignore[attr-defined]


def test_every_key_of_the_spec_has_a_meaning() -> None:
    assert all(meaning for _, meaning in spec_keys().values())
