"""Two instances in one group: one lies still between its last write and its commit, until the other has its partitions.

When it wakes up it must find that the token has moved, drop its rows, and go on; or, where it learns first that its
partitions are lost, commit nothing.
"""
import json
import signal

from kafka_group import Group, until

MESSAGES = 12_000
BEYOND = 600  # messages a partition: more than what lies still


def taken_over(group, failpoint, commit=None):
    """The instance that lay still at its failpoint and is awake again; the other one, which has gone beyond it."""
    group.fill(MESSAGES)
    a = group.start("a", f"{failpoint}=stop@3", commit=commit)
    until(a.stopped, f"stopped at {failpoint}")
    before = group.token()
    if commit is None:
        assert sum(before.values()) > 0, f"nothing was committed before: {before}"
    b = group.start("b", rows=500)
    until(lambda: not b.stopped() and len(after := group.token()) == group.partitions
          and all(position >= before.get(partition, 0) + BEYOND for partition, position in after.items()),
          "the other one commits beyond in every partition")
    assert a.stopped(), "it woke up too early"
    assert "another instance" not in a.said()
    a.signal(signal.SIGCONT)
    return a, b


def finish(group, a, b):
    """Both go on with what comes later, and end well; what is there is what was sent."""
    half = group.partitions // 2
    until(lambda: group.shares() == [half, group.partitions - half], "the one that woke up is a member again")
    group.fill(MESSAGES)
    until(lambda: sum(group.token().values()) > MESSAGES, "they go on")
    a.drain()
    group.wait_for_all()
    b.drain()
    group.check()


def moved(kafka, folder, binary, unique, sink, failpoint):
    with Group(kafka, folder, binary, unique, sink) as group:
        a, b = taken_over(group, failpoint)
        finish(group, a, b)
        assert json.loads(a.stats.read_text())["commits_moved"] >= 1, a.stats.read_text()


def test_parquet_after_the_write(kafka, folder, binary, unique):
    moved(kafka, folder, binary, unique, "parquet", "worker.after_write")


def test_parquet_before_the_link(kafka, folder, binary, unique):
    """It has chosen its number already, which the other one takes meanwhile."""
    moved(kafka, folder, binary, unique, "parquet", "parquet.before_link")


def test_parquet_at_the_same_number(kafka, folder, binary, unique):
    """The other one has taken that very number and gone no further when the first wakes up; then it goes on, too."""
    with Group(kafka, folder, binary, unique, "parquet", partitions=1) as group:
        group.fill(MESSAGES)
        a = group.start("a", "parquet.before_link=stop@3")
        until(a.stopped, "stopped before the link")
        before = group.token()
        b = group.start("b", "parquet.before_link=stop@2", rows=500, session="10s")
        until(b.stopped, "the other one stopped after its first commit")
        assert a.stopped(), "it woke up too early"
        assert sum(group.token().values()) == sum(before.values()) + 500, f"{group.token()} after {before}"
        assert group.newest() == 3, "both have the same number"
        commit = folder / "out/_aqueduck/together/3.json"
        taken = commit.read_text()
        a.signal(signal.SIGCONT)
        until(lambda: "another instance has committed" in a.said() or commit.read_text() != taken, "it goes on", 20, 0.01)
        b.signal(signal.SIGCONT)
        finish(group, a, b)
        assert json.loads(a.stats.read_text())["commits_moved"] >= 1, a.stats.read_text()


def test_duckdb_after_the_write(kafka, folder, binary, unique):
    moved(kafka, folder, binary, unique, "duckdb", "worker.after_write")


def test_duckdb_before_the_commit(kafka, folder, binary, unique):
    """The file is still closed then: while a transaction is open nobody else gets in."""
    moved(kafka, folder, binary, unique, "duckdb", "worker.before_commit")


def test_lost_partitions_are_not_committed(kafka, folder, binary, unique):
    """No commit is due when it wakes up, so that it hears of the loss first; it must not even try one then."""
    with Group(kafka, folder, binary, unique, "duckdb") as group:
        a, b = taken_over(group, "worker.after_write", commit="{rows: 1000000, interval: 10m}")
        until(lambda: sum(group.token().values()) == MESSAGES, "the other one has taken all")
        finish(group, a, b)
        assert json.loads(a.stats.read_text())["commits_moved"] == 0, a.stats.read_text() + a.said()
