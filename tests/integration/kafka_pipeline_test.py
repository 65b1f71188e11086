"""Pipelines over the real broker: everything arrives, once where the sink holds tokens, and errors say what is wrong."""
import json
import pathlib
import random
import signal
import subprocess
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVICES = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "services"


def create(broker, topic, partitions=1):
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(topic, num_partitions=partitions)])[topic].result(20)


def fill(broker, topic, first, count):
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 50, "queue.buffering.max.messages": 500000})
    for i in range(first, first + count):
        while True:
            try:
                producer.produce(topic, f'{{"id":{i},"city":"c{i % 5}"}}', key=str(i))
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(60) == 0


def pipeline(folder, name, source, sink, sql="SELECT id, city FROM batch", rows=5000):
    path = folder / f"{name}.yml"
    path.write_text(f"pipeline: {name}\nsource:\n  kafka: {source}\ndecode: {{json: {{schema: {{id: BIGINT, city: VARCHAR}}}}}}\n"
                    f"batch: {{rows: {rows}, interval: 200ms}}\nsql: |\n  {sql}\nsink:\n  {sink}\n")
    return path


def run(binary, path, *arguments, code=0, env=None):
    done = subprocess.run([binary, "run", path, "--log-level", "warn", *arguments], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == code, f"exit {done.returncode}: {done.stderr[-1500:]}"
    return done


def ids(binary, folder, name):
    """What is in the table; tried again for a while, since a running pipeline holds the file at each commit."""
    deadline = time.monotonic() + 20
    while True:
        read = subprocess.run([binary, "query", f"ATTACH '{folder}/{name}.duckdb' AS o (READ_ONLY); SELECT count(*) AS n, "
                               "count(DISTINCT id) AS ids, sum(id)::BIGINT AS total FROM o.t", "--format", "jsonl"],
                              capture_output=True, text=True)
        if read.returncode == 0:
            return json.loads(read.stdout)
        assert time.monotonic() < deadline, read.stderr
        time.sleep(0.1)


def all_of(count):
    return {"n": count, "ids": count, "total": count * (count - 1) // 2}


def duckdb_sink(folder, name):
    return f"duckdb: {{path: {folder}/{name}.duckdb, table: t, hold: flush}}"


def test_a_million_messages(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 4)
    fill(broker, unique, 0, 1_000_000)
    path = pipeline(folder, "million", f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}}}",
                    "file: {path: out.jsonl}", "SELECT city, count(*) AS n, sum(id)::BIGINT AS total FROM batch GROUP BY city")
    run(binary, path, "--max-messages", "1_000_000")
    got = {}
    for line in (folder / "out.jsonl").read_text().splitlines():
        row = json.loads(line)
        n, total = got.get(row["city"], (0, 0))
        got[row["city"]] = (n + row["n"], total + row["total"])
    assert sum(n for n, _ in got.values()) == 1_000_000, got
    assert sum(total for _, total in got.values()) == 1_000_000 * 999_999 // 2, got
    assert len(got) == 5


def test_the_sinks_token_resumes_not_the_group(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 2)
    fill(broker, unique, 0, 3000)
    path = pipeline(folder, "p", f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}}}", duckdb_sink(folder, "p"), rows=100)
    run(binary, path, "--max-messages", "1000")
    # Somebody moves the group's offsets to the end: the token knows better.
    consumer = Consumer({"bootstrap.servers": broker, "group.id": unique})
    consumer.commit(offsets=[TopicPartition(unique, p, 1500) for p in range(2)], asynchronous=False)
    consumer.close()
    run(binary, path, "--until-idle", "2s")
    assert ids(binary, folder, "p") == all_of(3000), ids(binary, folder, "p")


def test_killed_and_started_again(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 3)
    fill(broker, unique, 0, 20_000)
    source = f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}, session_timeout: 1s}}"
    path = pipeline(folder, "p", source, duckdb_sink(folder, "p") + "\n  commit: {rows: 600}", rows=200)
    chance = random.Random(3)
    kills = 0
    for _ in range(8):
        point = chance.choice(["worker.after_write", "worker.before_commit", "duckdb.before_commit", "duckdb.after_commit", "worker.after_commit"])
        env = {"PATH": "/usr/bin:/bin", "AQUEDUCK_FAILPOINTS": f"{point}=kill@{chance.randint(2, 4)}"}
        done = subprocess.run([binary, "run", path, "--log-level", "error", "--until-idle", "3s"], env=env, timeout=60, capture_output=True)
        kills += done.returncode == -signal.SIGKILL
    assert kills >= 6, kills
    run(binary, path, "--until-idle", "3s")
    assert ids(binary, folder, "p") == all_of(20_000), ids(binary, folder, "p")


def test_fixed_assignment_splits_the_partitions(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 4)
    fill(broker, unique, 0, 4000)
    total = 0
    for instance in range(2):
        path = pipeline(folder, f"i{instance}", f"{{brokers: ['{broker}'], topics: [{unique}], assign: {{instance: {instance}, of: 2}}}}",
                        duckdb_sink(folder, f"i{instance}"))
        run(binary, path, "--until-idle", "1500ms")
        part = ids(binary, folder, f"i{instance}")
        assert part["n"] == part["ids"] and 0 < part["n"] < 4000, part
        total += part["n"]
    assert total == 4000, total


def test_tls_and_every_mechanism(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 0, 10)
    tls = f"tls: {{ca: {kafka['AQUEDUCK_KAFKA_CA']}}}"
    scram = kafka["AQUEDUCK_KAFKA_SCRAM_PASSWORD"]
    plain = kafka["AQUEDUCK_KAFKA_PLAIN_PASSWORD"]
    ways = {"ssl": (kafka["AQUEDUCK_KAFKA_SSL"], "")}
    for mechanism, password in [("plain", plain), ("scram-sha-256", scram), ("scram-sha-512", scram)]:
        ways[mechanism] = (kafka["AQUEDUCK_KAFKA_SASL"],
                           f", sasl: {{mechanism: {mechanism}, username: {kafka['AQUEDUCK_KAFKA_USER']}, password: '{password}'}}")
    for name, (address, sasl) in ways.items():
        path = pipeline(folder, name, f"{{brokers: ['{address}'], topics: [{unique}], group: {unique}-{name}, {tls}{sasl}}}",
                        f"file: {{path: {name}.jsonl}}")
        run(binary, path, "--max-messages", "10")
        assert len((folder / f"{name}.jsonl").read_text().splitlines()) == 10, name


def test_a_wrong_password_is_said_and_not_shown(kafka, folder, binary, unique):
    for mechanism in ("plain", "scram-sha-256", "scram-sha-512"):
        path = pipeline(folder, "wrong", f"{{brokers: ['{kafka['AQUEDUCK_KAFKA_SASL']}'], topics: [{unique}], group: g, "
                        f"tls: {{ca: {kafka['AQUEDUCK_KAFKA_CA']}}}, sasl: {{mechanism: {mechanism}, "
                        f"username: {kafka['AQUEDUCK_KAFKA_USER']}, password: not-the-password}}}}", "noop: {}")
        done = run(binary, path, code=11)
        assert "not-the-password" not in done.stdout + done.stderr
        assert mechanism in done.stderr.lower(), done.stderr


def test_a_gap_stops_with_14_unless_told_otherwise(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 0, 1000)
    source = f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}%s}}"
    path = pipeline(folder, "p", source % "", duckdb_sink(folder, "p"), rows=100)
    run(binary, path, "--max-messages", "100")
    admin = AdminClient({"bootstrap.servers": broker})
    for done in admin.delete_records([TopicPartition(unique, 0, 500)]).values():
        done.result(20)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        consumer = Consumer({"bootstrap.servers": broker, "group.id": "x"})
        low, _ = consumer.get_watermark_offsets(TopicPartition(unique, 0), timeout=10)
        consumer.close()
        if low == 500:
            break
    done = run(binary, path, "--until-idle", "2s", code=14)
    assert "400 messages are gone" in done.stderr, done.stderr
    pipeline(folder, "p", source % ", on_gap: earliest", duckdb_sink(folder, "p"), rows=100)
    run(binary, path, "--until-idle", "2s")
    assert ids(binary, folder, "p")["n"] == 600


def test_metadata_columns(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    producer = Producer({"bootstrap.servers": broker})
    stamp = int(time.time()) * 1000  # an old one would be deleted by the topic's retention
    producer.produce(unique, '{"id":7,"city":"x"}', key="k", headers=[("h", b"v")], timestamp=stamp)
    assert producer.flush(20) == 0
    path = pipeline(folder, "p", f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}, "
                    "metadata: [_key, _topic, _partition, _offset, _timestamp, _headers]}", "file: {path: out.jsonl}",
                    "SELECT id, _key::VARCHAR AS k, _topic, _partition, _offset, _timestamp, _headers FROM batch")
    run(binary, path, "--max-messages", "1")
    row = json.loads((folder / "out.jsonl").read_text())
    assert row == {"id": 7, "k": "k", "_topic": unique, "_partition": 0, "_offset": 0, "_timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp // 1000)),
                   "_headers": '[["h","v"]]'}, row


def test_from_kafka_to_kafka(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    create(broker, unique + "-out")
    fill(broker, unique, 0, 500)
    path = pipeline(folder, "p", f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}}}",
                    f"kafka: {{brokers: ['{broker}'], topic: {unique}-out, key: city}}")
    run(binary, path, "--max-messages", "500")
    consumer = Consumer({"bootstrap.servers": broker, "group.id": unique + "-check", "auto.offset.reset": "earliest"})
    consumer.subscribe([unique + "-out"])
    got = []
    deadline = time.monotonic() + 20
    while len(got) < 500 and time.monotonic() < deadline:
        got += consumer.consume(500, timeout=1)
    consumer.close()
    assert sorted(json.loads(m.value())["id"] for m in got) == list(range(500))
    assert all(m.key().decode() == json.loads(m.value())["city"] for m in got)


def test_the_broker_is_away_for_a_while(folder, binary, unique):
    started = subprocess.run([SERVICES, "start", "--own", unique, "kafka"], capture_output=True, text=True)
    assert started.returncode == 0, started.stdout + started.stderr
    own = dict(line.split("=", 1) for line in started.stdout.splitlines() if "=" in line)
    broker = own["AQUEDUCK_KAFKA"]
    try:
        create(broker, unique, 2)
        fill(broker, unique, 0, 2000)
        path = pipeline(folder, "p", f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}}}", duckdb_sink(folder, "p"), rows=100)
        child = subprocess.Popen([binary, "run", path, "--log-level", "error"])
        time.sleep(3)
        for arguments in (["stop", "--own", unique, "--keep", "kafka"], ["start", "--own", unique, "kafka"]):
            done = subprocess.run([SERVICES, *arguments], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        fill(broker, unique, 2000, 2000)
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline and ids(binary, folder, "p")["n"] < 4000:
            time.sleep(0.5)
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 0
        assert ids(binary, folder, "p") == all_of(4000), ids(binary, folder, "p")
    finally:
        subprocess.run([SERVICES, "stop", "--own", unique, "kafka"], capture_output=True)
