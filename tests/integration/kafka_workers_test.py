"""Several workers in one process: together they read all partitions, and everything arrives once."""
import json
import random
import signal
import subprocess

from kafka_pipeline_test import all_of, create, duckdb_sink, fill, ids, run

SCHEMA = "decode: {json: {schema: {id: BIGINT, city: VARCHAR}}}"


def pipeline(folder, name, source, sink, workers, rows=200):
    path = folder / f"{name}.yml"
    path.write_text(f"pipeline: {name}\nworkers: {workers}\nsource:\n  kafka: {source}\n{SCHEMA}\nstate: ./state\n"
                    f"batch: {{rows: {rows}, interval: 100ms}}\nsql: SELECT id, city FROM batch\nsink:\n  {sink}\n")
    return path


def parquet_ids(binary, folder):
    read = subprocess.run([binary, "query", "SELECT count(*) AS n, count(DISTINCT id) AS ids, sum(id)::BIGINT AS total "
                           f"FROM read_parquet('{folder}/out/**/*.parquet')", "--format", "jsonl"], capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    return json.loads(read.stdout)


def test_a_group_of_workers_over_one_duckdb_file(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 4)
    fill(broker, unique, 0, 40_000)
    source = f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}, session_timeout: 1s}}"
    run(binary, pipeline(folder, "p", source, duckdb_sink(folder, "p"), 3), "--until-idle", "4s")
    assert ids(binary, folder, "p") == all_of(40_000), ids(binary, folder, "p")


def test_fixed_partitions_and_a_sink_a_worker(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 4)
    fill(broker, unique, 0, 40_000)
    source = f"{{brokers: ['{broker}'], topics: [{unique}], assign: {{instance: 0, of: 1}}}}"
    path = pipeline(folder, "p", source, f"parquet: {{path: {folder}/out}}\n  commit: {{rows: 3000}}", 2)
    run(binary, path, "--max-messages", "15000")
    run(binary, path, "--until-idle", "2s")
    assert parquet_ids(binary, folder) == all_of(40_000), parquet_ids(binary, folder)


def test_killed_workers_start_again_where_the_token_stands(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 4)
    fill(broker, unique, 0, 20_000)
    source = f"{{brokers: ['{broker}'], topics: [{unique}], assign: {{instance: 0, of: 1}}}}"
    path = pipeline(folder, "p", source, duckdb_sink(folder, "p") + "\n  commit: {rows: 600}", 2)
    chance = random.Random(5)
    kills = 0
    for _ in range(8):
        point = chance.choice(["worker.after_write", "worker.before_commit", "duckdb.before_commit", "duckdb.after_commit"])
        env = {"PATH": "/usr/bin:/bin", "AQUEDUCK_FAILPOINTS": f"{point}=kill@{chance.randint(2, 5)}"}
        done = subprocess.run([binary, "run", path, "--log-level", "error", "--until-idle", "2s"], env=env, timeout=60, capture_output=True)
        kills += done.returncode == -signal.SIGKILL
    assert kills >= 6, kills
    run(binary, path, "--until-idle", "2s")
    assert ids(binary, folder, "p") == all_of(20_000), ids(binary, folder, "p")
    print(f"  {kills} kills")
