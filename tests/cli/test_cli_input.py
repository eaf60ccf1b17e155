"""Tables, spec files and output files of the command line: what is read, and what is refused and how."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from treeform.cli.app import app
from treeform.cli.files import check_writable
from treeform.cli.spec import Settings, merge, read_spec
from treeform.cli.table import split
from treeform.data.table_files import CsvForm, csv_form, read_table, write_table
from treeform.errors import DataError, SpecError
from treeform.utils.files import write_text


def write(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# -- tables ----------------------------------------------------------------------------------------


def test_csv_gz_and_parquet_give_the_same_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, 2.25], "job": ["x", "y"], "own": [True, False]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        pd.testing.assert_frame_equal(read_table(tmp_path / name), frame)


def test_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert list(read_table(write(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n")).columns) == ["a", "b"]


def test_quoted_commas_and_unicode(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, 'name,"x, y"\n"Ærø, DK",1\n中文,2\n'))
    assert list(table.columns) == ["name", "x, y"]
    assert list(table["name"]) == ["Ærø, DK", "中文"]


def test_floats_are_read_exactly(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1e-300, 123456789.123456789, 2.5e17 + 32]
    path = write(tmp_path, "a\n" + "\n".join(map(repr, values)))
    assert list(read_table(path)["a"]) == values


@pytest.mark.parametrize("word", ["NA", "?", "", "nan", "null"])
def test_gaps_in_numbers_are_missing_values(tmp_path: Path, word: str) -> None:
    table = read_table(write(tmp_path, f"a,b\n1,x\n{word},y\n3,z\n"))
    assert table["a"].dtype == float
    assert list(table["a"].isna()) == [False, True, False]


def test_words_for_nothing_are_levels_among_text(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "a,b\n1,None\n2,car\n3,NA\n"))
    assert list(table["b"]) == ["None", "car", "NA"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b,a\n1,2,3\n", "2 columns named 'a'"),
        (b",a\n0,1\n", "column 1 of"),
        (b"a;b\n1;2\n", "separated by ';'"),
        (b"a,b\n1,2,3\n", "not a regular table"),
        (b"a,b\n1,2\n1,2,3\n", "not a regular table"),
        (b'a,b\n1,"2\n', "not a regular table"),
        (b"a,b\nx\xff,2\n", "is not UTF-8"),
    ],
)
def test_unusable_csv_is_named(tmp_path: Path, text: bytes, what: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path, text))
    assert what in caught.value.what


def test_wrong_byte_is_located(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path, b"a,b\nok,1\nMalm\xf6,2\n"))
    assert "line 3, byte 5 (0xf6)" in str(caught.value.cause)
    assert "--encoding cp1252" in str(caught.value.fix)


def test_truncated_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 5000)
    for raw in (whole[:-12], b"a,b\n1,2\n"):
        with pytest.raises(DataError, match="gzip"):
            read_table(write(tmp_path, raw, "t.csv.gz"))


def test_paths_that_are_no_tables(tmp_path: Path) -> None:
    write(tmp_path, "a\n1\n", "german.csv")
    with pytest.raises(DataError, match=r"did you mean .*german\.csv"):
        read_table(tmp_path / "germn.csv")
    with pytest.raises(DataError, match="no folder"):
        read_table(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(DataError, match="not a kind of table"):
        read_table(write(tmp_path, "a\n1\n", "t.xlsx"))
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path / "d.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_table(write(tmp_path, "no parquet", "t.parquet"))


def test_parquet_with_repeated_names_after_conversion(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.zeros((2, 2)), columns=["1", "x"])
    frame.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").columns) == ["1", "x"]


# -- roles of columns ------------------------------------------------------------------------------


FRAME = pd.DataFrame({"age": [1, 2], "sex": ["f", "m"], "w": [1.0, 2.0], "y": ["a", "b"]})


def roles(**changes: object) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    given = {"target": "y", "weight": None, "exclude": [], "source": Path("t.csv"), **changes}
    return split(FRAME, **given)  # type: ignore[arg-type]


def test_split_takes_target_and_weight_out_but_keeps_excluded_columns() -> None:
    X, y, w = roles(weight="w", exclude=["sex"])
    assert list(X.columns) == ["age", "sex"]
    assert y.name == "y"
    assert w is not None
    assert list(w) == [1.0, 2.0]


def test_missing_target_lists_close_matches() -> None:
    with pytest.raises(DataError, match="did you mean 'age'"):
        roles(target="Agee")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"weight": "y"}, "named twice"),
        ({"exclude": ["y"]}, "named twice"),
        ({"weight": "sex"}, "not numeric"),
        ({"weight": "nope"}, "no column 'nope'"),
        ({"exclude": ["age", "sex", "w"]}, "no feature columns"),
    ],
)
def test_roles_that_do_not_fit(changes: dict[str, object], what: str) -> None:
    with pytest.raises((DataError, SpecError), match=what):
        roles(**changes)


def test_a_measurement_is_no_target() -> None:
    frame = pd.DataFrame({"a": range(50), "y": np.linspace(0, 1, 50)})
    with pytest.raises(DataError, match="a measurement, not a class"):
        split(frame, target="y", weight=None, exclude=[], source=Path("t.csv"))


# -- spec files ------------------------------------------------------------------------------------

SPEC = """
data = "credit.csv"
target = "creditworthy"
shape = "tree:2"
minimize = "error + 2*nodes"
solver = "highs"
time_limit = 30
exclude = ["sex"]
model = "out/model.json"
requirements = ["max_nodes:3"]
"""

TABLES = """
target = "y"
[[requirements]]
name = "max_nodes"
at_most = 7
[[requirements]]
name = "statistical_parity"
groups = "sex"
ratio = 0.8
"""


def test_spec_is_read_and_paths_are_relative_to_it(tmp_path: Path) -> None:
    settings = read_spec(write(tmp_path, SPEC, "p.toml"))
    assert settings.data == tmp_path / "credit.csv"
    assert settings.model == tmp_path / "out/model.json"
    assert (settings.target, settings.shape, settings.time_limit) == ("creditworthy", "tree:2", 30)
    assert settings.exclude == ["sex"]
    assert [str(r) for _, r in settings.requirements] == ["max_nodes:3"]


def test_requirements_as_tables(tmp_path: Path) -> None:
    settings = read_spec(write(tmp_path, TABLES, "p.toml"))
    assert [str(r) for _, r in settings.requirements] == [
        "max_nodes:7",
        "statistical_parity:groups=sex,ratio=0.8",
    ]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("target = 3", "p.toml: target: input should be a valid string"),
        ("data = 5", "p.toml: data: it has to be the path of a file, as text"),
        ("targt = 'y'", "p.toml: targt: there is no such key"),
        ("shape = 'tree:0'", "p.toml: shape: a tree of depth 0"),
        ("minimize = 'eror'", "p.toml: minimize: 'eror'"),
        ("time_limit = -1", "p.toml: time_limit: input should be greater than 0"),
        ("threads = 0", "p.toml: threads: input should be greater than or equal to 1"),
        ("target = ", "p.toml: this is not TOML"),
        ("requirements = ['nope:3']", "p.toml: requirements[0]: there is no requirement"),
        ("[[requirements]]\nk = 3", "p.toml: requirements[0]"),
        (TABLES.replace("0.8", "1.5"), "p.toml: requirements[1].ratio: "),
        (TABLES.replace("0.8", "'x'"), "p.toml: requirements[1].ratio: "),
        (TABLES.replace("ratio", "ration"), "p.toml: requirements[1].ration: "),
        (
            TABLES.replace("at_most = 7", ""),
            "p.toml: requirements[0]: max_nodes lacks its parameter 'at_most'",
        ),
    ],
)
def test_spec_errors_point_at_the_key(
    tmp_path: Path, text: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, text, "p.toml")
    with pytest.raises(SpecError) as caught:
        read_spec(Path("p.toml"))
    assert caught.value.what.startswith(start)


def test_spec_that_is_missing_or_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="there is no file"):
        read_spec(tmp_path / "p.toml")
    with pytest.raises(SpecError, match="not UTF-8"):
        read_spec(write(tmp_path, b"target = '\xff'", "p.toml"))


def test_command_line_overrides_the_spec(tmp_path: Path) -> None:
    from treeform.language.requirement_text import parse

    spec = read_spec(write(tmp_path, SPEC, "p.toml"))
    given = Settings(
        solver="cpsat", requirements=(("here", parse("max_nodes:5")), ("here", parse("min_support:2")))
    )
    merged = merge(spec, given)
    assert (merged.solver, merged.target) == ("cpsat", "creditworthy")
    assert [str(r) for _, r in merged.requirements] == ["max_nodes:5", "min_support:2"]


# -- output files ----------------------------------------------------------------------------------


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "old", "m.json")
    path.chmod(0o640)
    write_text(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_a_file_that_may_not_be_read_or_a_folder_that_may_not_be_entered_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The errors of the operating system are simulated, since a privileged user may read everything."""
    data = write(tmp_path, "a,y\n1,no\n2,yes\n")

    def refused(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as change:
        change.setattr(Path, "is_dir", refused)
        change.setattr(Path, "exists", refused)
        with pytest.raises(DataError, match="cannot be read") as error:
            read_table(data)
        assert error.value.cause == "Permission denied"
        with pytest.raises(SpecError, match="cannot be written"):
            check_writable([tmp_path / "m.json"])
    monkeypatch.setattr(os, "access", lambda *given, **options: False)
    shown = CliRunner().invoke(app, ["fit", str(data), "--target", "y"])
    assert shown.exit_code == 2
    assert "cannot be read" in shown.output and "fix: name a file that may be read" in shown.output, shown.output


@pytest.mark.parametrize(
    ("cell", "runs"),
    [("=1+1", True), ("-a", True), ("-1.5", False), ("-1,5", False), ("--", False), ("+", False), ("a=1", False)],
)
def test_text_that_spreadsheets_run_is_named_and_written_as_it_is(tmp_path: Path, cell: str, runs: bool) -> None:
    """The file can be read again, so that nothing is put before it."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        write_table(tmp_path / "x.csv", pd.DataFrame({"a": [1, 2], "label": [cell, "b"]}))
    assert ["in label" in str(one.message) for one in shown] == [True] * runs
    assert read_table(tmp_path / "x.csv")["label"].tolist() == [cell, "b"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = write(tmp_path, "old", "real.json")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "old", "m.json")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SpecError, match="No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_writability_is_checked(tmp_path: Path) -> None:
    data = write(tmp_path, "a\n1\n")
    check_writable([tmp_path / "a.json", tmp_path / "b.json", Path(os.devnull)], inputs=[data])
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    for outputs, what in [
        ([data], "replace the input"),
        ([tmp_path / "a", tmp_path / "a"], "two outputs"),
        ([tmp_path / "no" / "a"], "no folder"),
        ([tmp_path], "is a folder"),
    ]:
        with pytest.raises(SpecError, match=what):
            check_writable(outputs, inputs=[data])


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("t.csv", b"a;b\n1,5;x\n2,5;y\n", CsvForm.of(";", ",", None)),
        ("t.tsv", b"a\tb\n1.5\tx\n2.5\ty\n", CsvForm()),
        ("t.csv", "a,b\n1.5,x\n2.5,y\n".encode("utf-16"), CsvForm()),
        ("t.csv", "a,b\n1.5,x\n2.5,y\n".encode("utf-16-le"), CsvForm.of(None, None, "utf-16-le")),
        ("t.csv", b"a|b\n1.5|x\n2.5|y\n", CsvForm.of("|", None, "latin-1")),
    ],
)
def test_csv_in_the_users_form(tmp_path: Path, name: str, content: bytes, form: CsvForm) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with csv_form(form):
        table = read_table(path)
    assert table.to_dict("list") == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_latin_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\nMalm\u00f6,1\n".encode("latin-1"))
    with csv_form(CsvForm.of(None, None, "latin-1")):
        assert read_table(path)["a"].tolist() == ["Malm\u00f6"]
    with csv_form(CsvForm.of(None, None, "ascii")), pytest.raises(DataError, match="is not ascii"):
        read_table(path)


@pytest.mark.parametrize(
    ("given", "what"),
    [((";;", None, None), "one character"), ((None, "'", None), "--decimal"), ((None, ",", None), "separator"),
     ((None, None, "utf-9"), "not known")],
)  # fmt: skip
def test_forms_that_are_not_possible(given: tuple, what: str) -> None:
    with pytest.raises(SpecError, match=what):
        CsvForm.of(*given)


def test_a_whole_run_from_stdin_in_another_form(tmp_path: Path) -> None:
    rows = "".join(f"{i},5;{'ja' if i > 7 else 'nein'};{i}\n" for i in range(16))
    (tmp_path / "in.csv").write_text("wert;ziel;nr\n" + rows, encoding="utf-16")
    fit = [
        sys.executable,
        "-m",
        "treeform",
        "fit",
        "-",
        "--target",
        "ziel",
        "--exclude",
        "nr",
        "--sep",
        ";",
        "--decimal",
        ",",
    ]
    with (tmp_path / "in.csv").open("rb") as stream:
        done = subprocess.run(
            [*fit, "--model", str(tmp_path / "m.json")], stdin=stream, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stderr
    assert "wert <= 8" in done.stdout
    run = [
        "predict",
        str(tmp_path / "m.json"),
        str(tmp_path / "in.csv"),
        "--sep",
        ";",
        "--decimal",
        ",",
        "--id",
        "nr",
    ]
    shown = CliRunner().invoke(app, [*run, "--rule", "--proba", "-o", str(tmp_path / "out.feather")])
    assert shown.exit_code == 0, shown.output
    out = pd.read_feather(tmp_path / "out.feather")
    assert list(out.columns) == ["nr", "prediction", "rule", "share ja", "share nein"]
    assert out["prediction"].tolist() == ["nein"] * 8 + ["ja"] * 8
    assert out["rule"].tolist() == [1] * 8 + [2] * 8
    wrong = CliRunner().invoke(app, [*run, "--id", "name"])
    assert wrong.exit_code == 2


def test_unseen_levels_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("job,y\n" + "cook,0\nclerk,1\n" * 5)
    (tmp_path / "new.csv").write_text("job\nCOOK\nclerk\n")
    fit = CliRunner().invoke(
        app, ["fit", str(tmp_path / "t.csv"), "--target", "y", "--model", str(tmp_path / "m.json")]
    )
    assert fit.exit_code == 0
    predict = ["predict", str(tmp_path / "m.json"), str(tmp_path / "new.csv")]
    warned = CliRunner().invoke(app, predict)
    assert "column 'job' in 1 of 2 rows: 'COOK' (1)" in " ".join(warned.stderr.split())
    assert CliRunner().invoke(app, [*predict, "--unseen", "error"]).exit_code == 2
    assert "COOK" not in CliRunner().invoke(app, [*predict, "--unseen", "other"]).stderr
