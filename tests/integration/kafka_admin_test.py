"""A running pipeline over Kafka, watched over HTTP: metrics, lag, and readiness while the broker is away."""
import json
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVICES = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "services"


def services(*arguments):
    done = subprocess.run([SERVICES, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def fill(broker, topic, count):
    producer = Producer({"bootstrap.servers": broker})
    for i in range(count):
        producer.produce(topic, f'{{"id":{i}}}', partition=i % 2)
    assert producer.flush(60) == 0


def create(broker, topic):
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(topic, num_partitions=2)])[topic].result(20)


def wait_for_groups(broker, group):
    """A broker that has just started answers for the first time of a group with an error that heals."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": group})
    deadline = time.monotonic() + 30
    while True:
        try:
            return consumer.committed([TopicPartition(group, 0)], timeout=10)
        except KafkaException:
            assert time.monotonic() < deadline, "no coordinator"
            time.sleep(0.05)


class Watched:
    """A pipeline from two partitions into a DuckDB table, until it is stopped."""

    def __init__(self, binary, folder, broker, topic, commit="{interval: 100ms}"):
        path = folder / "p.yml"
        path.write_text(f"pipeline: watched\nsource:\n  kafka: {{brokers: ['{broker}'], topics: [{topic}], group: {topic}}}\n"
                        "decode: {json: {schema: {id: BIGINT}}}\nbatch: {rows: 100, interval: 100ms}\nsql: SELECT id FROM batch\n"
                        f"sink:\n  duckdb: {{path: {folder}/p.duckdb, table: t}}\n  commit: {commit}\nadmin: {{listen: 0}}\n")
        self.process = subprocess.Popen([binary, "run", path], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"admin: listening on (http://127\.0\.0\.1:\d+)", line):
                self.url = found[1]
                break
        self.reader = threading.Thread(target=self.process.stderr.read, daemon=True)  # or it would block on its log
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                assert self.process.wait(40) in (0, 15)
            finally:
                self.process.kill()

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def stats(self):
        return json.loads(self.get("/stats")[1])

    def wait_for(self, path, seen, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not seen(*(last := self.get(path))):
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s; last: {last}"
            time.sleep(0.05)
        return last


def test_every_page_while_it_runs(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 1000)
    wait_for_groups(broker, unique)
    with Watched(binary, folder, broker, unique) as pipeline:
        pipeline.wait_for("/readyz", lambda code, _: code == 200, "ready")
        assert pipeline.get("/healthz")[0] == 200
        pipeline.wait_for("/stats", lambda _, text: json.loads(text)["lag"] == 0 and json.loads(text)["totals"]["messages"] == 1000, "all read")
        stats = pipeline.stats()
        assert stats["partitions"] == {f"{unique}/{p}": {"read": "500", "committed": "500", "end": "500", "lag": 0} for p in range(2)}, stats
        assert stats["token"] == {f"{unique}/{p}": "500" for p in range(2)}, stats
        assert stats["totals"]["rows_written"] == 1000 and stats["last_error"] is None, stats
        metrics = pipeline.get("/metrics")[1]
        assert f'aqueduck_lag{{pipeline="watched",partition="{unique}/1"}} 0\n' in metrics, metrics
        assert 'aqueduck_messages_total{pipeline="watched"} 1000\n' in metrics, metrics
        assert unique not in pipeline.get("/")[1]


def test_lag_counts_what_is_not_committed(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 500)
    with Watched(binary, folder, broker, unique, commit="{rows: 1_000_000}") as pipeline:
        pipeline.wait_for("/stats", lambda _, text: json.loads(text)["queue"]["uncommitted_rows"] == 500, "all written")
        _, text = pipeline.wait_for("/stats", lambda _, text: json.loads(text)["lag"] == 500, "the lag")
        assert json.loads(text)["partitions"][f"{unique}/0"] == {"read": "250", "committed": "0", "end": "250", "lag": 250}


def test_readiness_follows_the_broker(folder, binary, unique):
    own = services("start", "--own", unique, "kafka")
    broker = own["AQUEDUCK_KAFKA"]
    try:
        create(broker, unique)
        fill(broker, unique, 100)
        with Watched(binary, folder, broker, unique) as pipeline:
            pipeline.wait_for("/readyz", lambda code, _: code == 200, "ready")
            services("stop", "--own", unique, "--keep", "kafka")
            _, text = pipeline.wait_for("/readyz", lambda code, _: code == 503, "not ready")
            assert "source kafka" in json.loads(text)["reasons"][0], text
            began = time.monotonic()
            for _ in range(20):  # nobody who asks waits for the broker
                assert pipeline.get("/healthz")[0] == 200
                assert "aqueduck_ready" in pipeline.get("/metrics")[1]
            assert time.monotonic() - began < 3
            assert pipeline.stats()["lag"] is None
            services("start", "--own", unique, "kafka")
            pipeline.wait_for("/readyz", lambda code, _: code == 200, "ready again", 90)
            fill(broker, unique, 100)
            pipeline.wait_for("/stats", lambda _, text: json.loads(text)["totals"]["rows_written"] >= 200, "the rest")
    finally:
        subprocess.run([SERVICES, "stop", "--own", unique, "kafka"], capture_output=True)
