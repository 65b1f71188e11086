"""The Kafka source and sink at the edges: a broker that stands still, instances that come and go, transactions, topics
that aren't there, keys and headers."""
import collections
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVICES = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "services"


def create(broker, topic, partitions=1):
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(topic, num_partitions=partitions)])[topic].result(20)


def fill(broker, topic, first, count):
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 5})
    for i in range(first, first + count):
        producer.produce(topic, f'{{"id":{i}}}', key=str(i))
        producer.poll(0)
    assert producer.flush(60) == 0


def pipeline(folder, name, broker, topic, source="", sink=None, sql="SELECT id FROM batch"):
    path = folder / f"{name}.yml"
    path.write_text(f"pipeline: p\nsource:\n  kafka: {{brokers: ['{broker}'], topics: [{topic}]{source}}}\n"
                    f"decode: {{json: {{schema: {{id: BIGINT}}}}}}\nbatch: {{rows: 50, interval: 100ms}}\n"
                    f"sql: |\n  {sql}\nsink:\n  {sink or f'file: {{path: {folder}/{name}.jsonl}}'}\n")
    return path


def start(binary, path, log):
    with open(log, "w") as out:
        return subprocess.Popen([binary, "run", path, "--log-level", "warn"], stderr=out)


def run(binary, path, *arguments, code=0):
    done = subprocess.run([binary, "run", path, "--log-level", "warn", *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"exit {done.returncode}: {done.stderr[-1500:]}"
    return done


def ids(folder):
    return [json.loads(line)["id"] for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]


def wait_for(condition, limit=40):
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "the condition never came"
        time.sleep(0.05)


def committed(broker, group, topic, partitions):
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    found = consumer.committed([TopicPartition(topic, p) for p in range(partitions)], timeout=20)
    ends = {p.partition: consumer.get_watermark_offsets(p, timeout=20)[1] for p in found}
    consumer.close()
    return {p.partition: p.offset for p in found}, ends


def test_instances_come_and_go_and_nothing_comes_twice(kafka, folder, binary, unique):
    """A sink without a token: a partition that moves is stored in the group before it is given back."""
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 6)
    source = f", group: {unique}, session_timeout: 6s"
    stop = threading.Event()
    sent = 0

    def produce():
        nonlocal sent
        producer = Producer({"bootstrap.servers": broker, "linger.ms": 5})
        while not stop.is_set():
            for _ in range(20):
                producer.produce(unique, f'{{"id":{sent}}}', key=str(sent))
                sent += 1
            producer.poll(0)
            time.sleep(0.01)
        assert producer.flush(60) == 0

    thread = threading.Thread(target=produce)
    thread.start()
    running = {}
    try:
        for step, name in enumerate(["a", "b", "c", "-b", "d", "-a", "e", "-c"]):
            if name.startswith("-"):
                child = running.pop(name[1:])
                child.send_signal(signal.SIGTERM)
                assert child.wait(30) == 0
            else:
                running[name] = start(binary, pipeline(folder, name, broker, unique, source), folder / f"{name}.log")
            seen = len(ids(folder))
            wait_for(lambda: len(ids(folder)) > seen + 1500)
        stop.set()
        thread.join()
        wait_for(lambda: len(set(ids(folder))) == sent)
        for child in running.values():
            child.send_signal(signal.SIGTERM)
        assert all(child.wait(30) == 0 for child in running.values())
    finally:
        stop.set()
        for child in running.values():
            child.kill()
    counts = collections.Counter(ids(folder))
    twice = sum(count - 1 for count in counts.values())
    print(f"       {sent} messages, {twice} of them twice")
    assert twice == 0, (sent, twice)
    offsets, ends = committed(broker, unique, unique, 6)
    assert offsets == ends, (offsets, ends)


def test_a_broker_that_stands_still_while_partitions_are_taken(folder, binary, unique):
    started = subprocess.run([SERVICES, "start", "--own", unique, "kafka"], capture_output=True, text=True)
    assert started.returncode == 0, started.stdout + started.stderr
    own = dict(line.split("=", 1) for line in started.stdout.splitlines() if "=" in line)
    broker, pid = own["AQUEDUCK_KAFKA"], int(own["AQUEDUCK_KAFKA_PID"])
    children = []
    try:
        create(broker, unique, 2)
        fill(broker, unique, 0, 1000)
        # Stopped at different steps of their beginning.
        for number in range(6):
            sub = folder / f"i{number}"
            sub.mkdir()
            how = f", group: {unique}{number}, session_timeout: 60s" if number % 2 else ", assign: {instance: 0, of: 1}"
            children.append((start(binary, pipeline(sub, "p", broker, unique, how), sub / "log"), sub))
            time.sleep(0.15)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(13)  # longer than any request waits
        os.kill(pid, signal.SIGCONT)
        for child, sub in children:
            wait_for(lambda: child.poll() is not None or len(ids(sub)) >= 1000)
            assert child.poll() is None, (sub / "log").read_text()
            child.send_signal(signal.SIGTERM)
            assert child.wait(30) == 0
            assert sorted(ids(sub)) == list(range(1000))
    finally:
        for child, _ in children:
            child.kill()
        subprocess.run([SERVICES, "stop", "--own", unique, "kafka"], capture_output=True)


def test_topics_that_are_not_there(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    grace = ", properties: {topic.metadata.propagation.max.ms: '500'}"
    done = run(binary, pipeline(folder, "source", broker, unique + "x", f", group: {unique}{grace}"), code=11)
    assert f"there is no topic '{unique}x'" in done.stderr and f"did you mean '{unique}'" in done.stderr, done.stderr
    fill(broker, unique, 0, 1)
    # A broker that makes topics by itself would make this one: it refuses the name of a topic it can't make.
    sink = f"kafka: {{brokers: ['{broker}'], topic: {unique}-none{grace}}}"
    done = run(binary, pipeline(folder, "sink", broker, unique, f", group: {unique}", sink), "--max-messages", "1", code=12)
    assert f"there is no topic '{unique}-none'" in done.stderr, done.stderr


def test_what_was_read_ends_behind_the_markers_of_transactions(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    producer = Producer({"bootstrap.servers": broker, "transactional.id": unique})
    producer.init_transactions(20)
    for number, commits in enumerate([True, False, True, False]):
        producer.begin_transaction()
        for i in range(5):
            producer.produce(unique, f'{{"id":{number * 5 + i}}}')
        producer.flush(20)
        (producer.commit_transaction if commits else producer.abort_transaction)(20)
    run(binary, pipeline(folder, "p", broker, unique, f", group: {unique}"), "--until-idle", "2s")
    assert ids(folder) == [0, 1, 2, 3, 4, 10, 11, 12, 13, 14], ids(folder)
    offsets, ends = committed(broker, unique, unique, 1)
    assert offsets == ends == {0: 24}, (offsets, ends)


def test_keys_and_headers(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    create(broker, unique + "-out")
    fill(broker, unique, 0, 2)
    sql = """SELECT id, 'k"' || id AS k, MAP {'id': id::VARCHAR, 'quoted': '"'} AS h FROM batch"""
    sink = f"kafka: {{brokers: ['{broker}'], topic: {unique}-out, key: k, headers: h}}"
    run(binary, pipeline(folder, "p", broker, unique, f", group: {unique}", sink, sql), "--max-messages", "2")
    consumer = Consumer({"bootstrap.servers": broker, "group.id": unique + "-check", "auto.offset.reset": "earliest"})
    consumer.subscribe([unique + "-out"])
    got = []
    wait_for(lambda: got.extend(consumer.consume(2, timeout=1)) or len(got) == 2)
    consumer.close()
    assert sorted((m.key(), json.loads(m.value()), m.headers()) for m in got) == [
        (b'k"%d' % i, {"id": i, "k": f'k"{i}'}, [("id", b"%d" % i), ("quoted", b'"')]) for i in range(2)], got


def test_a_member_with_a_name_comes_back_at_once(kafka, folder, binary, unique):
    """The group waits for it, session_timeout long, and gives its partitions to nobody else."""
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 0, 10)
    path = pipeline(folder, "p", broker, unique, f", group: {unique}, instance_id: one, session_timeout: 60s")
    run(binary, path, "--max-messages", "10")
    fill(broker, unique, 10, 10)
    began = time.monotonic()
    run(binary, path, "--max-messages", "10")
    assert time.monotonic() - began < 30
    assert sorted(ids(folder)) == list(range(20))
