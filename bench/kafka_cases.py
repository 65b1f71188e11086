"""Speed and memory over a Kafka topic, against a bare librdkafka loop over the same one."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CITIES = ["Berlin", "Lisbon", "Nairobi", "Osaka", "Quito"]
WRITTEN = 10_000_000  # of which the speeds read the first COUNT
COUNT = 3_000_000
DECLARED = ("{schema: {ip: VARCHAR, event: VARCHAR, properties: 'STRUCT(city VARCHAR, country VARCHAR)', timestamp: VARCHAR, "
            "type: VARCHAR, userId: VARCHAR}}")


class Cluster:
    def __init__(self, bench):
        self.bench = bench

    def __enter__(self):
        started = subprocess.run([ROOT / "tools/services", "start", "--own", "bench", "kafka"], capture_output=True, text=True)
        if started.returncode != 0:
            sys.exit(f"cannot start Kafka: {started.stdout}{started.stderr}")
        self.broker = dict(line.split("=", 1) for line in started.stdout.splitlines() if "=" in line)["AQUEDUCK_KAFKA"]
        subprocess.run([ROOT / "tools/bootstrap", "python"], check=True, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run([ROOT / "tools/services", "stop", "--own", "bench", "kafka"], capture_output=True)

    def topic(self, partitions, count):
        """A topic of `count` events of about 172 bytes, made by the kafka sink; each city is a fifth of them."""
        name = f"bench{time.time_ns()}"
        subprocess.run([ROOT / ".deps/python/bin/python", "-c", "import sys\nfrom confluent_kafka.admin import *\n"
                        "a = AdminClient({'bootstrap.servers': sys.argv[1]})\n"
                        "a.create_topics([NewTopic(sys.argv[2], num_partitions=int(sys.argv[3]))])[sys.argv[2]].result(20)",
                        self.broker, name, str(partitions)], check=True)
        if count == 0:
            return name
        fill = self.bench.pipeline("fill", f"""pipeline: fill
source:
  generator:
    rows: {count}
    columns:
      ip: "'203.0.113.' || i % 250"
      event: "'page_view'"
      properties: "{{'city': {CITIES}[1 + i % 5], 'country': 'Neverland'}}"
      timestamp: "'2026-11-30T12:00:00.' || (100 + i % 900) || 'Z'"
      type: "'track'"
      userId: "'user-' || (1000000 + i % 100000)"
sink: {{kafka: {{brokers: ['{self.broker}'], topic: {name}, compression: none}}}}
""")
        subprocess.run([self.bench.binary, "run", fill, "--log-level", "warn"], check=True)
        return name

    def group_by(self, topic, rows, decode=DECLARED, sink="noop: {}", workers=1):
        """A fixed assignment, so that no group has to form."""
        return self.bench.pipeline("kafka", f"""pipeline: bench
workers: {workers}
source: {{kafka: {{brokers: ['{self.broker}'], topics: [{topic}], assign: {{instance: 0, of: 1}}}}}}
decode: {{json: {decode}}}
batch: {{rows: {rows}}}
sql: SELECT properties.city, count(*) AS n FROM batch GROUP BY 1
sink: {{{sink}}}
""")

    def run(self, path, count):
        """Seconds of the pipeline itself, and its peak memory in MB."""
        stats = self.bench.folder / "stats.json"
        child = subprocess.Popen([self.bench.binary, "run", path, "--max-messages", str(count), "--stats-json", stats,
                                  "--log-level", "warn"])
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"kafka: exit status {status}")
        counted = json.loads(stats.read_text())
        if counted["messages"] != count or counted["rows_decoded"] != count:
            self.bench.wrong += 1
            print(f"WRONG kafka: {counted}", file=sys.stderr)
        return counted["seconds"], usage.ru_maxrss / 1024

    def rate(self, path, count):
        return statistics.median(count / self.run(path, count)[0] for _ in range(self.bench.runs))


def speeds(cluster, topic):
    bench = cluster.bench
    consume = ROOT / "build/release/bench_kafka_consume"
    loops = [subprocess.run([consume, cluster.broker, topic, str(COUNT)], capture_output=True, text=True, check=True).stdout.split()
             for _ in range(bench.runs)]
    bare = statistics.median(float(rate) for rate, _ in loops)
    bench.add(f"Kafka, 1 partition, {int(loops[0][1]) / COUNT:.0f} B: a bare librdkafka loop", f"{bare / 1e6:.2f} M msg/s", "")
    for rows, decode, limit in [(500, DECLARED, "0.5 M"), (2000, DECLARED, ""), (5000, DECLARED, "1.2 M, 55 % of the bare loop"),
                                (122_880, DECLARED, ""), (5000, "{}", "0.9 M (inferred)")]:
        rate = cluster.rate(cluster.group_by(topic, rows, decode), COUNT)
        bench.add(f"  -> GROUP BY -> noop, batches of {rows}{'' if decode != '{}' else ', inferred'}", f"{rate / 1e6:.2f} M msg/s",
                  f"{100 * rate / bare:.0f} % of the bare loop{'; limit ' + limit if limit else ''}")


def answers(cluster, topic):
    """What the timed queries send to nowhere, once into a file: the groups of all batches together."""
    bench = cluster.bench
    for decode in (DECLARED, "{}"):
        out = bench.folder / "groups.jsonl"
        out.unlink(missing_ok=True)
        cluster.run(cluster.group_by(topic, 5000, decode, f"file: {{path: {out}}}"), COUNT)
        groups = {}
        for line in out.read_text().splitlines():
            row = json.loads(line)
            groups[row["city"]] = groups.get(row["city"], 0) + row["n"]
        if groups != {city: COUNT // 5 for city in CITIES}:
            bench.wrong += 1
            print(f"WRONG kafka: groups are {groups}", file=sys.stderr)


def memory(cluster, topic):
    bench = cluster.bench
    path = cluster.group_by(topic, 5000)
    peaks = {count: cluster.run(path, count)[1] for count in (1_000_000, WRITTEN)}
    small, large = peaks[1_000_000], peaks[WRITTEN]
    bench.add("Kafka, peak memory: 10 M messages against 1 M", f"{large:.0f} MB, {small:.0f} MB",
              f"{100 * (large / small - 1):+.0f} % (limit +10 %)")
    idle = bench.pipeline("idle", f"""pipeline: idle
source: {{kafka: {{brokers: ['{cluster.broker}'], topics: [{cluster.topic(1, 0)}], group: idle}}}}
decode: {{json: {DECLARED}}}
sql: SELECT properties.city, count(*) AS n FROM batch GROUP BY 1
sink: {{noop: {{}}}}
""")
    child = subprocess.Popen([bench.binary, "run", idle, "--log-level", "warn"])
    time.sleep(10)
    status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
    child.terminate()
    if child.wait() != 0:
        sys.exit("idle: did not end well")
    resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
    bench.add("Kafka, memory of an idle pipeline, after 10 s in a group", f"{resident:.0f} MB", "limit 80 MB")


def workers(cluster):
    bench = cluster.bench
    topic = cluster.topic(4, COUNT)
    rates = {}
    for count in (1, 2):
        rates[count] = cluster.rate(cluster.group_by(topic, 5000, workers=count), COUNT)
        against = "" if count == 1 else f"{rates[2] / rates[1]:.2f} times one worker, on {os.cpu_count()} cores with the broker"
        bench.add(f"Kafka, 4 partitions -> GROUP BY -> noop, workers: {count}", f"{rates[count] / 1e6:.2f} M msg/s", against)


def kafka(bench):
    if not (ROOT / "build/release/bench_kafka_consume").exists():
        return
    with Cluster(bench) as cluster:
        topic = cluster.topic(1, WRITTEN)
        speeds(cluster, topic)
        answers(cluster, topic)
        memory(cluster, topic)
        workers(cluster)
