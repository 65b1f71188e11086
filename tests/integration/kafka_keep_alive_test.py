"""A sink that is away for longer than a member of a group may be silent: the member stays, gives back what the group wants
back, and nothing is lost or doubled. Meanwhile memory stays within what is configured."""
import contextlib
import fcntl
import pathlib
import re
import time

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from kafka_group import Group, until

QUIET = 2  # seconds: max.poll.interval.ms
SOURCE = f"properties: {{max.poll.interval.ms: '{QUIET * 1000}'}}"


@contextlib.contextmanager
def held(path):
    """Nobody else gets at the DuckDB file: the sink takes that for a peer that is away."""
    with open(path, "r+b") as file:
        def lock():
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                return False
        until(lock, "the file is free", every=0.002)
        yield


def members(group):
    admin = AdminClient({"bootstrap.servers": group.broker})
    found = admin.describe_consumer_groups([group.topic])[group.topic].result(20)
    return sorted(member.member_id for member in found.members)


def waiting(group, member):
    """The member in its first commits, and then without its sink."""
    until(lambda: sum(group.token().values()) > group.seen and member.process.poll() is None, "the first commits")
    return held(group.folder / "out.duckdb")


def test_it_stays_a_member(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "duckdb") as group:
        group.fill(20_000)
        a = group.start("a", source=SOURCE)
        with waiting(group, a):
            before = members(group)
            group.fill(20_000)
            until(lambda: "Conflicting lock" in a.said(), "it waits for its sink")
            time.sleep(4 * QUIET)
            assert members(group) == before and len(before) == 1, (before, members(group))
        group.wait_for_all()
        a.drain()
        group.check()
        assert "lost" not in a.said(), a.said()[-1500:]


def test_what_the_group_wants_back_is_given_back(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "duckdb") as group:
        group.fill(20_000)
        a = group.start("a", source=SOURCE)
        with waiting(group, a):
            until(lambda: "Conflicting lock" in a.said(), "it waits for its sink")
            before = members(group)
            other = Consumer({"bootstrap.servers": group.broker, "group.id": group.topic, "enable.auto.commit": False,
                              "partition.assignment.strategy": "cooperative-sticky", "session.timeout.ms": 6000,
                              "auto.offset.reset": "earliest"})
            other.subscribe([group.topic])
            until(lambda: other.poll(0.1) and False or len(other.assignment()) == group.partitions // 2, "the other one has its share")
            assert set(before) < set(members(group)), (before, members(group))
            other.close()
        group.fill(5_000)
        group.wait_for_all()
        a.drain()
        group.check()
        assert "given back without what was read of them" in a.said(), a.said()[-1500:]


def most_memory(group, name, queue, count):
    """MiB that a member had at its most while its sink was away and `count` messages of a KiB were there to be fetched."""
    group.seen = sum(group.token().values())
    member = group.start(name, rows=5000, source=f"fetch: {{queue: {queue}}}", session="6s")
    with waiting(group, member):
        group.fill(500)
        producer = Producer({"bootstrap.servers": group.broker, "linger.ms": 20, "queue.buffering.max.kbytes": 65536})
        for i in range(group.count, group.count + count):
            while True:
                try:
                    producer.produce(group.topic, f'{{"id":{i},"pad":"{"x" * 1000}"}}', partition=i % group.partitions)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(60) == 0
        group.count += count
        until(lambda: "Conflicting lock" in member.said(), "it waits for its sink")
        time.sleep(3)  # in which it fetches what it may
        status = pathlib.Path(f"/proc/{member.process.pid}/status").read_text()
    group.wait_for_all()
    member.drain()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) // 1024


def test_memory_follows_the_queue_not_the_topic(kafka, folder, binary, unique):
    with Group(kafka, folder, binary, unique, "duckdb") as group:
        group.fill(2_000)
        nothing = most_memory(group, "nothing", "4MiB", 0)
        group.fill(2_000)
        small = most_memory(group, "small", "4MiB", 150_000)
        group.fill(2_000)
        large = most_memory(group, "large", "64MiB", 150_000)
        print(f"  at most {nothing} MiB with nothing to fetch, {small} MiB with a queue of 4 MiB, {large} MiB with one of 64 MiB; the topic has 150 MiB more each time")
        # Beside the queue: one answer of the broker, 4 MiB a partition.
        assert small - nothing < 60, (nothing, small)
        assert large - nothing < 150, (nothing, large)
        group.check()
