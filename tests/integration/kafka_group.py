"""Members of one consumer group that run one pipeline into one place, and what is found there."""
import json
import os
import pathlib
import signal
import subprocess
import time

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

SINKS = {
    "duckdb": "duckdb: {{path: {folder}/out.duckdb, table: t, hold: flush}}",
    "parquet": "parquet: {{path: {folder}/out}}",
    "file": "file: {{path: {folder}/{member}.jsonl}}",
    "kafka": "kafka: {{brokers: ['{broker}'], topic: {topic}-out}}",
}
LIMIT = 60  # seconds, of every wait


def until(condition, what, limit=LIMIT, every=0.1):
    """Waits for what the condition returns to be true, and returns it."""
    deadline = time.monotonic() + limit
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{what}: not in {limit} s"
        time.sleep(every)


class Member:
    """One process. It may be killed by a test, or by itself at a failpoint."""

    def __init__(self, group, name, failpoints, config):
        self.name = name
        self.log = group.folder / f"{name}.log"
        self.stats = group.folder / f"{name}.stats.json"
        environment = {k: v for k, v in os.environ.items() if k != "AQUEDUCK_FAILPOINTS"}
        if failpoints:
            environment["AQUEDUCK_FAILPOINTS"] = failpoints
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([group.binary, "run", config, "--log-level", "warn", "--stats-json", self.stats],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=environment)

    def said(self):
        return self.log.read_text()

    def signal(self, number):
        self.process.send_signal(number)

    def stopped(self):
        """Whether it lies still by SIGSTOP."""
        assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}: {self.said()[-1500:]}"
        state = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    def drain(self):
        """SIGTERM; it must end well."""
        assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}: {self.said()[-1500:]}"
        self.signal(signal.SIGTERM)
        code = self.process.wait(40)
        assert code == 0, f"{self.name}: exit {code}: {self.said()[-1500:]}"


class Group:
    """The topic, the members, and the sink's folder. Ends every member at its end."""

    def __init__(self, kafka, folder, binary, unique, sink, partitions=4):
        self.broker, self.folder, self.binary, self.topic, self.sink = kafka["AQUEDUCK_KAFKA"], folder, binary, unique, sink
        self.members = []
        admin = AdminClient({"bootstrap.servers": self.broker})
        topics = [NewTopic(self.topic, num_partitions=partitions)]
        if sink == "kafka":
            topics.append(NewTopic(f"{self.topic}-out", num_partitions=1))
        for made in admin.create_topics(topics).values():
            made.result(20)
        self.partitions = partitions
        self.count = 0
        self.seen = 0  # of the positions, by earlier members

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        for member in self.members:
            if member.process.poll() is None:
                member.process.kill()
                member.process.wait(20)

    def fill(self, count, pause=0.0):
        """Adds messages with the next ids, round and round over the partitions; resting after every 500."""
        producer = Producer({"bootstrap.servers": self.broker, "linger.ms": 5})
        for i in range(self.count, self.count + count):
            producer.produce(self.topic, f'{{"id":{i}}}', partition=i % self.partitions)
            if i % 500 == 499:
                producer.poll(0)
                if pause:
                    time.sleep(pause)
        assert producer.flush(60) == 0
        self.count += count

    def start(self, name, failpoints=None, rows=200, commit=None, session="1s", source=""):
        """`source`: more of its settings."""
        sink = SINKS[self.sink].format(folder=self.folder, member=name, broker=self.broker, topic=self.topic)
        config = self.folder / f"{name}.yml"
        config.write_text(
            f"pipeline: together\nsource:\n  kafka: {{brokers: ['{self.broker}'], topics: [{self.topic}], group: {self.topic}, "
            f"session_timeout: {session}{source and ', ' + source}}}\nretry: {{max: 1s}}\n"
            f"decode: {{json: {{schema: {{id: BIGINT}}}}}}\nbatch: {{rows: {rows}, interval: 100ms}}\n"
            f"sql: SELECT id FROM batch\nsink:\n  {sink}\n  commit: {commit or f'{{rows: {rows}, interval: 200ms}}'}\n")
        member = Member(self, name, failpoints, config)
        self.members.append(member)
        return member

    def shares(self):
        """How many partitions each member has, the least first; [] while the group is moving them."""
        admin = AdminClient({"bootstrap.servers": self.broker})
        found = admin.describe_consumer_groups([self.topic])[self.topic].result(20)
        if found.state.name != "STABLE":
            return []
        return sorted(len(member.assignment.topic_partitions) for member in found.members)

    def query(self, sql):
        """The first column of all rows, or None while the file is held by a commit or isn't there yet."""
        attach = f"ATTACH '{self.folder}/out.duckdb' AS o (READ_ONLY); " if self.sink == "duckdb" else ""
        done = subprocess.run([self.binary, "query", attach + sql, "--format", "jsonl"], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return None
        return [next(iter(json.loads(line).values())) for line in done.stdout.splitlines()]

    def newest(self):
        """The number of the last commit of the Parquet sink, 0 before the first."""
        return max((int(p.stem) for p in self.folder.glob("out/_aqueduck/together/*.json") if p.stem.isdigit()), default=0)

    def token(self):
        """The stored position of each partition: {} where nothing is stored yet."""
        if self.sink == "parquet":
            number = self.newest()
            if number == 0:
                return {}
            text = json.loads((self.folder / f"out/_aqueduck/together/{number}.json").read_text())["token"]
        else:
            if not (self.folder / "out.duckdb").exists():
                return {}
            found = self.query("SELECT position FROM o.aqueduck_commits")
            if not found:
                return {}
            text = found[0]
        return {k: int(v) for k, v in json.loads(text)["entries"].items()}

    def ids(self):
        """Every id in the sink, as often as it is there; None while that can't be read."""
        if self.sink == "duckdb":
            return self.query("SELECT id FROM o.t") if (self.folder / "out.duckdb").exists() else []
        if self.sink == "parquet":
            return self.query(f"SELECT id FROM '{self.folder}/out/**/*.parquet'") if list(self.folder.glob("out/*.parquet")) else []
        if self.sink == "kafka":
            return self.delivered()
        out = []
        for path in self.folder.glob("*.jsonl"):
            lines = path.read_bytes().split(b"\n")
            out += [json.loads(line)["id"] for line in lines[:-1]]  # the last one may be cut off by a kill
        return out

    def delivered(self):
        consumer = Consumer({"bootstrap.servers": self.broker, "group.id": f"{self.topic}-check", "auto.offset.reset": "earliest",
                             "enable.auto.commit": False, "enable.partition.eof": False})
        consumer.subscribe([f"{self.topic}-out"])
        out, quiet = [], time.monotonic() + 8
        while time.monotonic() < quiet:
            got = consumer.consume(10_000, timeout=0.5)
            if got:
                out += [json.loads(message.value())["id"] for message in got]
                quiet = time.monotonic() + 1.5
        consumer.close()
        return out

    def wait_for_all(self, limit=LIMIT):
        """Until every position is at the end, or, where none are stored, every id is there."""
        if self.sink in ("duckdb", "parquet"):
            until(lambda: sum(self.token().values()) >= self.count, f"positions up to {self.count}", limit, 0.3)
        elif self.sink == "file":
            until(lambda: len(set(self.ids())) >= self.count, f"all of {self.count} rows", limit, 0.5)

    def check(self, twice_is_fine=False):
        """Compares with what was sent: every id from 0, once."""
        found = until(self.ids, "the rows can be read", 20)
        times = [0] * self.count
        for i in found:
            times[i] += 1
        lost = [i for i, n in enumerate(times) if n == 0]
        twice = [i for i, n in enumerate(times) if n > 1]
        print(f"  {self.sink}: {len(found)} rows of {self.count} messages, {len(lost)} lost, {len(twice)} more than once")
        assert not lost, f"{len(lost)} lost: {lost[:10]}"
        assert twice_is_fine or not twice, f"{len(twice)} more than once: {twice[:10]}"

