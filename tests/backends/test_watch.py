"""A search that goes on is known to the end of the process, whenever Ctrl-C came."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from treeform.backends.base import Session
from treeform.backends.run import Answer, Run, Verdict
from treeform.backends.TEMPLATE import Enumeration
from treeform.backends.watch import Detached, any_detached
from treeform.model import Model
from treeform.utils.budget import Budget


def session_of(search: Any) -> Session:
    model = Model()
    model.minimize(model.bool("x", 2).sum())
    session = Enumeration().open(model)
    session._search = search  # type: ignore[method-assign]
    return session


def ended() -> bool:
    """Whether all detached searches end within a minute."""
    for _ in range(1200):
        if not any_detached():
            return True
        threading.Event().wait(0.05)
    return False


@pytest.mark.parametrize("where", ["start", "is_alive"])
def test_a_search_that_goes_on_is_known(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    assert ended()
    go_on = threading.Event()

    def search(run: Run, watch: Any) -> Answer:
        go_on.wait(30.0)
        return Answer(Verdict.UNKNOWN)

    def start(thread: threading.Thread) -> None:
        begin(thread)
        raise KeyboardInterrupt

    begin = threading.Thread.start
    session = session_of(search)
    if where == "start":
        monkeypatch.setattr(Detached, "start", start, raising=False)
        with pytest.raises(KeyboardInterrupt):
            session.solve(Run())
    else:
        # Python calls a thread ended when Ctrl-C came while somebody joined it.
        monkeypatch.setattr(threading.Thread, "is_alive", lambda thread: False)
        assert session.solve(Run(Budget(0.01))).info["abandoned"]
    assert any_detached()
    go_on.set()
    assert ended()
