"""Twenty kills of the members of a group at failpoints: nothing is lost, and with a token nothing is written twice.

A kill counts where it fell between a batch's first write and the moment of its commit.
"""
import random
import signal
import time

from kafka_group import Group

KILLS = 20
LEAST = 12
MESSAGES = 60_000
WITHIN = {"duckdb": ["duckdb.before_commit"], "parquet": ["parquet.before_link"], "file": []}
ELSEWHERE = {"duckdb": ["duckdb.after_commit"], "parquet": ["parquet.after_link", "parquet.before_rename", "parquet.after_rename"],
             "file": []}


def kill(group, most=70):
    """Two members at a time, each started with a failpoint of its own and started again after its end."""
    draw = random.Random(f"{group.sink} 1")
    within = ["worker.after_write", "worker.before_commit", *WITHIN[group.sink]]
    elsewhere = ["worker.before_write", "worker.after_commit", *ELSEWHERE[group.sink]]
    began = time.monotonic()
    group.fill(MESSAGES)
    running, kills, counted, starts = {}, 0, 0, 0
    while kills < KILLS:
        assert time.monotonic() - began < most, f"only {kills} kills in {most} s"
        for slot in ("a", "b"):
            if slot not in running:
                inside = draw.random() < 0.8
                point = draw.choice(within if inside else elsewhere)
                running[slot] = group.start(f"{slot}{starts}", f"{point}=kill@{draw.randint(2, 4)}"), inside
                starts += 1
        for slot, (member, inside) in list(running.items()):
            code = member.process.poll()
            if code is None:
                continue
            assert code == -signal.SIGKILL, f"{member.name}: exit {code}: {member.said()[-1500:]}"
            kills, counted = kills + 1, counted + inside
            del running[slot]
        time.sleep(0.02)
    for member, _ in running.values():
        member.process.kill()
        member.process.wait(20)
    print(f"  {group.sink}: {kills} kills in {time.monotonic() - began:.0f} s, {counted} of them between a first write and its commit")
    assert counted >= LEAST, f"only {counted} kills fell between a first write and its commit"
    last = group.start("last", rows=2000)
    group.wait_for_all()
    last.drain()


def test_duckdb(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "duckdb") as group:
        kill(group)
        group.check()


def test_parquet(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "parquet") as group:
        kill(group)
        group.check()


def test_at_least_once(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "file") as group:
        kill(group)
        group.check(twice_is_fine=True)
