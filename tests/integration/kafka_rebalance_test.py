"""While members join, leave, die and lie still, no message is lost, and with a token none is written twice.

It also guards against librdkafka's end-of-partition events: with them on, a batch taken while a rebalance pauses a
partition goes on one message too far.
"""
import signal
import threading
import time

from kafka_group import Group, until

MESSAGES = 60_000


def rebalances(group):
    """About 25 s in which the group never rests for long, while messages come in."""
    sender = threading.Thread(target=group.fill, args=(MESSAGES, 0.15))
    sender.start()
    a = group.start("a")
    until(lambda: group.ids(), "the first rows")
    b = group.start("b")
    time.sleep(2)
    c = group.start("c", session="2s")
    time.sleep(2)
    b.drain()
    c.signal(signal.SIGSTOP)
    time.sleep(3)  # longer than its session: its partitions are lost
    d = group.start("d")
    c.signal(signal.SIGCONT)
    time.sleep(2)
    a.signal(signal.SIGKILL)
    e = group.start("e")
    time.sleep(2)
    d.drain()
    f = group.start("f")
    time.sleep(1.5)
    e.signal(signal.SIGKILL)
    time.sleep(1.5)
    g = group.start("g")
    time.sleep(1.5)
    f.drain()
    sender.join()
    h = group.start("h")
    group.wait_for_all()
    for member in (c, g, h):
        member.drain()


def test_duckdb(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "duckdb") as group:
        rebalances(group)
        group.check()


def test_parquet(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "parquet") as group:
        rebalances(group)
        group.check()


def test_at_least_once(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "file") as group:
        rebalances(group)
        group.check(twice_is_fine=True)
