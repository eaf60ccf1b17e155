"""Files: what cannot be written leaves the old one, what was cut or made by somebody else is an error of ours."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import treeform as tf
from treeform.certify.proofs import Proofs
from treeform.cli.app import app
from treeform.cli.spec import read_spec
from treeform.cli.stored import load_model, read_certificate
from treeform.data import table_files
from treeform.data.table_files import read_table
from treeform.distribute.journal import Parts, kept
from treeform.errors import CertificateError, DataError, SpecError, TreeformError
from treeform.study.sweep import Journal
from treeform.utils.files import parse_json, read_text, write_text

SPEC = 'data = "t.csv"\ntarget = "y"\nshape = "tree:2"\n[[requirements]]\nname = "min_support"\namount = 1\n'
AMOUNT = int(os.environ.get("TREEFORM_FUZZ_EXAMPLES", "12"))
"""Examples of each fuzz test; 200000 take an hour or so."""
FUZZ = settings(max_examples=AMOUNT, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, a model, its certificate and a specification."""
    folder = tmp_path_factory.mktemp("solved")
    X = pd.DataFrame({"a": [0.5, 1, 2, 3, 4, 5], "b": ["x", "y", "x", "y", "x", "x"]})
    y = ["n", "n", "p", "p", "n", "p"]
    X.assign(y=y).to_csv(folder / "t.csv", index=False)
    result = tf.Problem(X, y, shape="tree:2").solve()
    assert result.graph is not None
    write_text(folder / "model.json", json.dumps(result.graph.to_json()))
    write_text(folder / "certificate.json", json.dumps(result.certificate()))
    write_text(folder / "spec.toml", SPEC)
    return folder


READERS: dict[str, Callable[[Path], object]] = {
    "model.json": load_model,
    "certificate.json": read_certificate,
    "spec.toml": read_spec,
    "t.csv": read_table,
}


# -- writing ----------------------------------------------------------------------------------------------


def failing(call: str, number: int) -> Callable[..., object]:
    def fail(*args: object, **kwargs: object) -> object:
        raise OSError(number, os.strerror(number), call)

    return fail


@pytest.mark.parametrize("call", ["os.open", "os.fsync", "os.replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_what_cannot_be_written_leaves_the_old_file(
    call: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    write_text(path, "old")
    monkeypatch.setattr(call, failing(call, number))
    with pytest.raises(SpecError) as told:
        write_text(path, "new")
    monkeypatch.undo()
    assert str(path) in told.value.what and told.value.cause == os.strerror(number)
    assert ("make room" in str(told.value.fix)) == (number == errno.ENOSPC)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_file_in_the_place_of_a_folder_is_named_as_the_reason(tmp_path: Path) -> None:
    write_text(tmp_path / "taken", "")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        for refused in (Proofs, Journal, lambda folder: kept(folder / "digest", print, Parts())):
            with pytest.raises(SpecError, match="a part of this path is a file, not a folder"):
                refused(folder)


def test_a_disk_that_fills_up_while_a_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    write_text(path, "old")
    code = (
        "import resource, signal, sys\n"
        "from treeform.errors import SpecError\nfrom treeform.utils.files import write_text\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write_text(sys.argv[1], 'x' * 5000)\n"
        "except SpecError as error:\n    print(error)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run([sys.executable, "-c", code, str(path)], env=env, capture_output=True, text=True)
    assert str(path) in ended.stdout and "File too large" in ended.stdout, ended
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model.json"]


def test_ctrl_c_at_any_step_leaves_no_temporary_file(tmp_path: Path) -> None:
    """A signal's handler may raise between any two lines: at each line of what is written, once.

    In a thread of its own, since an exception raised by a trace function within a handler may leave the one that was
    handled behind as the context of later ones.
    """
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(interrupted_at_each_line, tmp_path).result() > 20


def interrupted_at_each_line(folder: Path) -> int:
    """How many lines were interrupted before one run came to its end."""
    path, count = folder / "model.json", 0
    while True:
        left = [count]

        def interrupt(frame: object, event: str, argument: object, left: list[int] = left) -> object:
            if event == "line":
                left[0] -= 1
                if left[0] < 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)  # type: ignore[arg-type]
        try:
            write_text(path, "new")
        except KeyboardInterrupt:
            assert set(os.listdir(folder)) <= {"model.json"}, count
            assert not path.exists() or path.read_text() == "new"
            count += 1
            continue
        finally:
            sys.settrace(None)
        return count


def test_a_folder_that_vanished_or_is_read_only(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="gone"):
        write_text(tmp_path / "gone" / "model.json", "new")
    if os.getuid() != 0:
        tmp_path.chmod(0o500)
        with pytest.raises(SpecError, match="Permission"):
            write_text(tmp_path / "model.json", "new")
        tmp_path.chmod(0o700)


def test_the_answer_is_shown_when_a_file_cannot_be_written(
    solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text(tmp_path / "model.json", "old")
    words = ["fit", str(solved / "t.csv"), "--target", "y", "--shape", "tree:1"]
    words += ["--model", str(tmp_path / "model.json"), "--certificate", str(tmp_path / "certificate.json")]
    monkeypatch.setattr("os.fsync", failing("os.fsync", errno.ENOSPC))
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "optimal" in done.output
    assert done.output.count(os.strerror(errno.ENOSPC)) == 2
    assert os.listdir(tmp_path) == ["model.json"] and (tmp_path / "model.json").read_text() == "old"


# -- reading ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.json", "certificate.json", "spec.toml"])
def test_files_cut_anywhere(name: str, solved: Path, tmp_path: Path, nightly: bool) -> None:
    whole = (solved / name).read_bytes()
    path = tmp_path / name
    for place in np.linspace(0, len(whole) - 2, 50 if nightly else 8).astype(int):
        path.write_bytes(whole[:place])
        if name == "spec.toml":  # whole lines are a specification, too
            with suppress(SpecError):
                READERS[name](path)
        else:
            with pytest.raises(CertificateError, match=name):
                READERS[name](path)
    READERS[name](solved / name)


def test_a_run_that_was_cut_is_solved_again(tmp_path: Path, nightly: bool) -> None:
    journal = Journal(tmp_path)
    journal.write("run", {"status": "optimal", "objective": 3}, None)
    whole = (tmp_path / "runs" / "run.json").read_bytes()
    assert journal.read("run") is not None
    for place in range(0, len(whole), 1 if nightly else 9):
        (tmp_path / "runs" / "run.json").write_bytes(whole[:place])
        assert journal.read("run") is None


def hostile() -> Iterator[tuple[str, str]]:
    yield "nested deep", "[" * 10**5 + "]" * 10**5
    yield "objects nested deep", '{"a":' * 10**5 + "1" + "}" * 10**5
    yield "nested", "[" * 500 + "]" * 500
    yield "a huge integer", '{"format": ' + "9" * 10**6 + "}"
    yield "NaN", '{"format": NaN}'
    yield "no object", "3"
    yield "a key twice", '{"format": "treeform.graph", "format": 1}'
    yield "bytes", "\x00\x01"


@pytest.mark.parametrize(("what", "text"), list(hostile()))
@pytest.mark.parametrize("name", ["model.json", "certificate.json"])
def test_hostile_json(what: str, text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(CertificateError):
        READERS[name](path)


def test_what_is_larger_than_any_file_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with path.open("wb") as stream:
        stream.truncate(1 << 40)  # a file with a hole
    for name in ("model.json", "certificate.json", "spec.toml"):
        with pytest.raises(TreeformError, match="larger than"):
            READERS[name](path)
    with pytest.raises(ValueError, match="larger"):
        read_text(path)


def mutations(model: dict[str, object]) -> Iterator[tuple[str, object]]:
    for threshold in (float("nan"), 1e400, "0.5", None, True, 10**400):
        yield "threshold", threshold
    for child in (0, -1, 10**30, 1.5, "2", None, True):
        yield "left", child
    for feature in (-1, 99, 2**40, 0.0, None):
        yield "feature", feature
    for counts in ([1], [10**400, 0], [-1, 2], "12", None, [float("nan"), 1.0]):
        yield "counts", counts


def test_models_with_cycles_and_impossible_numbers(solved: Path) -> None:
    model = json.loads((solved / "model.json").read_text())
    at = next(i for i, node in enumerate(model["nodes"]) if "feature" in node)
    for key, value in mutations(model):
        changed = json.loads(json.dumps(model))
        changed["nodes"][at][key] = value
        for validate in ("digest", "structure"):
            with pytest.raises(CertificateError):
                tf.DecisionGraph.from_json(changed, validate=validate)


@pytest.mark.parametrize("kind", [[], {}, 3, None])
def test_a_type_of_labels_that_is_no_name(solved: Path, kind: object) -> None:
    model = json.loads((solved / "model.json").read_text())
    model["classes"]["type"] = kind
    with pytest.raises(CertificateError):
        tf.DecisionGraph.from_json(model, validate="structure")


SPECS = [
    'shap = "tree:2"',
    'shape = "tree:99999999999999999999999"',
    'shape = "diagram:' + "1-" * 10**5 + '1"',
    "time_limit = nan",
    "time_limit = -1",
    "threads = 99999999999999999999999999",
    "requirements = " + "[" * 10**4 + "]" * 10**4,
    "requirements = [3]",
    '[[requirements]]\nname = "min_support"\namount = nan',
    '[[requirements]]\nname = "max_nodes"\nnodes = ' + "9" * 10**4,
    '[[requirements]]\nname = "no_such"',
    "isolate = 1",
    "a.b.c = 1",
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize("text", SPECS, ids=range(len(SPECS)))
def test_hostile_specifications(text: str, solved: Path, tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(f'data = "{solved / "t.csv"}"\ntarget = "y"\n{text}\n')
    done = CliRunner().invoke(app, ["fit", "--spec", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 2, done.output
    assert "error:" in done.output and "broke down" not in done.output


# -- tables -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_of_too_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(map(str, range(10**6))) + "\n1\n")
    with pytest.raises(DataError, match="1,000,000 columns"):
        read_table(path)


def test_an_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"a,b\n1,")
        for _ in range(80):
            stream.write(b"2" * (1 << 20))
    with pytest.raises(DataError, match="a line of more than 64 megabytes"):
        read_table(path)


def test_tables_that_cannot_fit_are_refused_with_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * (1 << 19))
    monkeypatch.setattr(table_files, "physical_memory", lambda: 1 << 21)
    with pytest.raises(DataError, match="too large for this machine"):
        read_table(path)


# -- fuzzing ----------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: object, at: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The way to every value inside."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from places(entry, (*at, key))


def changed(value: object, draw: st.DrawFn) -> object:
    """The value with one thing in it replaced, dropped or doubled."""
    copy = json.loads(json.dumps(value))
    way = draw(st.sampled_from([p for p in places(copy) if p]))
    holder = copy
    for key in way[:-1]:
        holder = holder[key]
    kind = draw(st.sampled_from(["replace", "drop", "double", "add"]))
    if kind == "replace":
        holder[way[-1]] = draw(JSON)
    elif kind == "drop":
        del holder[way[-1]]
    elif isinstance(holder, list):
        holder.append(holder[way[-1]])
    else:
        holder[draw(st.text(max_size=8))] = draw(JSON)
    return copy


@FUZZ
@given(data=st.data())
def test_fuzz_models(solved: Path, data: st.DataObject) -> None:
    model = json.loads((solved / "model.json").read_text())
    value = data.draw(st.composite(lambda draw: changed(model, draw))())
    try:
        graph = tf.DecisionGraph.from_json(value, validate="structure")
    except CertificateError:
        return
    assert len(graph.predict_codes(np.zeros((2, len(graph.columns))))) == 2
    assert graph.rules()


@FUZZ
@given(data=st.data())
def test_fuzz_certificates(solved: Path, data: st.DataObject) -> None:
    body = json.loads((solved / "certificate.json").read_text())
    value = data.draw(st.composite(lambda draw: changed(body, draw))())
    from treeform.certify.certificate import sign

    table = pd.read_csv(solved / "t.csv")
    try:
        value = sign(value)
    except ValueError:  # NaN
        return
    with suppress(TreeformError):
        tf.check(value, table.drop(columns="y"), table["y"])


@FUZZ
@given(text=st.text() | st.text().map(lambda s: SPEC + s) | st.sampled_from(SPECS))
@example(text="requirements = ['']")
def test_fuzz_specifications(solved: Path, text: str) -> None:
    path = solved / "fuzzed.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with suppress(TreeformError):
        read_spec(path)


@FUZZ
@given(text=st.text() | st.binary().map(lambda b: b.decode("latin-1")))
def test_fuzz_json(text: str) -> None:
    try:
        parse_json(text)
    except ValueError:
        return
