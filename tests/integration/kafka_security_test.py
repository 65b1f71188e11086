"""TLS, passwords and client certificates where Kafka is written to; client certificates where it is read."""
import json
import subprocess

from confluent_kafka import Consumer

from kafka_group import until
from kafka_pipeline_test import create, fill, pipeline, run


def received(broker, topic, count):
    consumer = Consumer({"bootstrap.servers": broker, "group.id": topic + "-check", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    got = []
    until(lambda: got.extend(consumer.consume(count, timeout=1)) or len(got) >= count, f"{count} messages in {topic}")
    consumer.close()
    return sorted(json.loads(message.value())["id"] for message in got)


def sasl(kafka, mechanism, password):
    return (f"tls: {{ca: {kafka['AQUEDUCK_KAFKA_CA']}}}, sasl: {{mechanism: {mechanism}, username: {kafka['AQUEDUCK_KAFKA_USER']}, "
            f"password: '{password}'}}")


def test_a_sink_over_tls_and_every_mechanism(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 0, 10)
    scram, plain = kafka["AQUEDUCK_KAFKA_SCRAM_PASSWORD"], kafka["AQUEDUCK_KAFKA_PLAIN_PASSWORD"]
    ways = {"ssl": (kafka["AQUEDUCK_KAFKA_SSL"], f"tls: {{ca: {kafka['AQUEDUCK_KAFKA_CA']}}}")}
    for mechanism, password in [("plain", plain), ("scram-sha-256", scram), ("scram-sha-512", scram)]:
        ways[mechanism] = (kafka["AQUEDUCK_KAFKA_SASL"], sasl(kafka, mechanism, password))
    for name, (address, how) in ways.items():
        out = f"{unique}-{name}"
        create(broker, out)
        path = pipeline(folder, name, f"{{brokers: ['{broker}'], topics: [{unique}], group: {out}}}",
                        f"kafka: {{brokers: ['{address}'], topic: {out}, {how}}}")
        done = run(binary, path, "--max-messages", "10")
        assert scram not in done.stderr and plain not in done.stderr
        assert received(broker, out, 10) == list(range(10)), name


def test_a_sink_says_a_wrong_password_and_shows_none(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 0, 10)
    for mechanism in ("plain", "scram-sha-256", "scram-sha-512"):
        path = pipeline(folder, "wrong", f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}}}",
                        f"kafka: {{brokers: ['{kafka['AQUEDUCK_KAFKA_SASL']}'], topic: {unique}, {sasl(kafka, mechanism, 'not-the-password')}}}")
        done = run(binary, path, code=12)
        assert "not-the-password" not in done.stdout + done.stderr
        assert mechanism in done.stderr.lower(), done.stderr


def test_client_certificates(kafka, folder, binary, unique):
    """The broker asks for one without insisting on it, but refuses one that only says it is of its authority: so it was
    shown. (One of another authority librdkafka wouldn't show.)"""
    broker, address, ca = kafka["AQUEDUCK_KAFKA"], kafka["AQUEDUCK_KAFKA_SSL"], kafka["AQUEDUCK_KAFKA_CA"]
    for topic in (unique, unique + "-out"):
        create(broker, topic)
    fill(broker, unique, 0, 10)
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-x509", "-days", "2",
                    "-subj", "/CN=Aqueduck test CA", "-keyout", folder / "stranger.key", "-out", folder / "stranger.crt"],
                   check=True, capture_output=True)
    for cert, key, codes in ((kafka["AQUEDUCK_KAFKA_CLIENT_CERT"], kafka["AQUEDUCK_KAFKA_CLIENT_KEY"], (0, 0)),
                             (folder / "stranger.crt", folder / "stranger.key", (11, 12))):
        tls = f"tls: {{ca: {ca}, cert: {cert}, key: {key}}}"
        open_source = f"{{brokers: ['{broker}'], topics: [{unique}], group: {unique}-sink}}"
        source = f"{{brokers: ['{address}'], topics: [{unique}], group: {unique}-source, {tls}}}"
        run(binary, pipeline(folder, "source", source, "file: {path: out.jsonl}"), "--until-idle", "2s", code=codes[0])
        sink = f"kafka: {{brokers: ['{address}'], topic: {unique}-out, {tls}}}"
        run(binary, pipeline(folder, "sink", open_source, sink), "--until-idle", "2s", code=codes[1])
    assert len((folder / "out.jsonl").read_text().splitlines()) == 10
    assert received(broker, unique + "-out", 10) == list(range(10))
