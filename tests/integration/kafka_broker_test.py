"""The test broker itself: every listener, every mechanism, and a restart on the same ports with the same data."""
import os
import pathlib
import signal
import subprocess
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVICES = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "services"


def services(*arguments):
    done = subprocess.run([SERVICES, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def round_trip(topic, **settings):
    """Creates the topic, writes ten messages, reads them back through a group."""
    settings = {key.replace("_", "."): value for key, value in settings.items()}
    admin = AdminClient(settings)
    admin.create_topics([NewTopic(topic, num_partitions=1)])[topic].result(20)
    producer = Producer(settings)
    for n in range(10):
        producer.produce(topic, str(n))
    assert producer.flush(20) == 0
    consumer = Consumer({**settings, "group.id": topic, "auto.offset.reset": "earliest", "session.timeout.ms": 1000,
                         "heartbeat.interval.ms": 200})
    consumer.subscribe([topic])
    got = consumer.consume(10, timeout=20)
    assert [int(m.value()) for m in got] == list(range(10)), got
    consumer.commit(asynchronous=False)
    consumer.close()


def sasl(kafka, mechanism, password):
    return {"bootstrap_servers": kafka["AQUEDUCK_KAFKA_SASL"], "security_protocol": "SASL_SSL",
            "ssl_ca_location": kafka["AQUEDUCK_KAFKA_CA"], "sasl_mechanism": mechanism,
            "sasl_username": kafka["AQUEDUCK_KAFKA_USER"], "sasl_password": password}


def test_plaintext(kafka, unique):
    round_trip(unique, bootstrap_servers=kafka["AQUEDUCK_KAFKA"])


def test_ssl(kafka, unique):
    round_trip(unique, bootstrap_servers=kafka["AQUEDUCK_KAFKA_SSL"], security_protocol="SSL",
               ssl_ca_location=kafka["AQUEDUCK_KAFKA_CA"])


def test_ssl_with_client_certificate(kafka, unique):
    round_trip(unique, bootstrap_servers=kafka["AQUEDUCK_KAFKA_SSL"], security_protocol="SSL",
               ssl_ca_location=kafka["AQUEDUCK_KAFKA_CA"], ssl_certificate_location=kafka["AQUEDUCK_KAFKA_CLIENT_CERT"],
               ssl_key_location=kafka["AQUEDUCK_KAFKA_CLIENT_KEY"])


def test_plain(kafka, unique):
    round_trip(unique, **sasl(kafka, "PLAIN", kafka["AQUEDUCK_KAFKA_PLAIN_PASSWORD"]))


def test_scram_256(kafka, unique):
    round_trip(unique, **sasl(kafka, "SCRAM-SHA-256", kafka["AQUEDUCK_KAFKA_SCRAM_PASSWORD"]))


def test_scram_512(kafka, unique):
    round_trip(unique, **sasl(kafka, "SCRAM-SHA-512", kafka["AQUEDUCK_KAFKA_SCRAM_PASSWORD"]))


def test_wrong_passwords_are_refused(kafka):
    for mechanism, key in (("PLAIN", "SCRAM"), ("SCRAM-SHA-256", "PLAIN"), ("SCRAM-SHA-512", "PLAIN")):
        errors = []
        settings = sasl(kafka, mechanism, kafka[f"AQUEDUCK_KAFKA_{key}_PASSWORD"])
        settings = {name.replace("_", "."): value for name, value in settings.items()}
        client = AdminClient({**settings, "error_cb": lambda e: errors.append(e.code()), "log_level": 0})
        try:
            client.list_topics(timeout=3)
            raise AssertionError(f"{mechanism}: the wrong password was taken")
        except KafkaException:
            client.poll(0)
        assert KafkaError._AUTHENTICATION in errors, (mechanism, errors)


def test_restart_keeps_ports_and_data(unique):
    label = unique[-8:]
    try:
        first = services("start", "kafka", "--own", label)
        round_trip(unique, bootstrap_servers=first["AQUEDUCK_KAFKA"])
        for how in ([], ["--kill"]):
            services("stop", "kafka", "--own", label, "--keep", *how)
            again = services("start", "kafka", "--own", label)
            assert again["AQUEDUCK_KAFKA"] == first["AQUEDUCK_KAFKA"]
            assert again["AQUEDUCK_KAFKA_PID"] != first["AQUEDUCK_KAFKA_PID"]
            consumer = Consumer({"bootstrap.servers": again["AQUEDUCK_KAFKA"], "group.id": unique})
            part = TopicPartition(unique, 0)
            assert consumer.get_watermark_offsets(part, timeout=20) == (0, 10)
            assert consumer.committed([part], timeout=20)[0].offset == 10
            consumer.close()
    finally:
        services("stop", "kafka", "--own", label)


def test_folder_stays_and_a_paused_broker_stops(folder):
    where = folder / "broker"
    try:
        first = services("start", "kafka", "--dir", str(where))
        os.kill(int(first["AQUEDUCK_KAFKA_PID"]), signal.SIGSTOP)
        began = time.monotonic()
        services("stop", "kafka", "--dir", str(where))
        assert time.monotonic() - began < 15
        assert (where / "data" / "meta.properties").exists()
        assert services("start", "kafka", "--dir", str(where))["AQUEDUCK_KAFKA"] == first["AQUEDUCK_KAFKA"]
    finally:
        services("stop", "kafka", "--dir", str(where))
