"""Kafka 4.4, one KRaft node: PLAINTEXT, SSL, and SASL_SSL with PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.

The certificates are made at the first start: a CA, the broker's (127.0.0.1, localhost), and a client's, which the SSL
listener asks for but does not insist on. USER has one password for PLAIN and another for SCRAM, so that a test can tell
which of them was checked.
"""
import hashlib
import pathlib
import shutil
import socket
import struct

USER = "alice"
PLAIN_PASSWORD = "plain-secret-7f3a"
SCRAM_PASSWORD = "scram-secret-9c1e"
CLUSTER = "AqueduckTestBroker0000"
JAVA = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
        "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS"]

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{plaintext},SSL://127.0.0.1:{ssl},SASL_SSL://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{plaintext},SSL://127.0.0.1:{ssl},SASL_SSL://127.0.0.1:{sasl}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
log.dirs={dir}/data
ssl.keystore.type=PEM
ssl.keystore.location={dir}/tls/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location={dir}/tls/ca.crt
listener.name.ssl.ssl.client.auth=requested
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{plain}";
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=2
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
group.consumer.min.session.timeout.ms=500
group.consumer.min.heartbeat.interval.ms=100
default.replication.factor=1
num.partitions=1
auto.create.topics.enable=false
message.max.bytes=20971520
log.cleaner.dedupe.buffer.size=8388608
log.cleaner.backoff.ms=500
log.initial.task.delay.ms=500
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=200
initial.broker.registration.timeout.ms=20000
"""


def certificates(instance):
    tls = instance.dir / "tls"
    if (tls / "broker.pem").exists():
        return
    tls.mkdir(exist_ok=True)
    new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-x509", "-days", "3650"]
    ca = ["-CA", tls / "ca.crt", "-CAkey", tls / "ca.key"]
    instance.run(*new, "-subj", "/CN=Aqueduck test CA", "-keyout", tls / "ca.key", "-out", tls / "ca.crt")
    instance.run(*new, *ca, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                 "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", tls / "broker.key", "-out", tls / "broker.crt")
    instance.run(*new, *ca, "-subj", "/CN=aqueduck-client", "-addext", "basicConstraints=critical,CA:FALSE",
                 "-keyout", tls / "client.key", "-out", tls / "client.crt")
    parts = [(tls / name).read_text() for name in ("broker.key", "broker.crt", "ca.crt")]
    (tls / "broker.pem").write_text("".join(parts))


def format_storage(instance):
    """Formatting takes a second and gives the same each time but for ports: it is done once a set of jars."""
    recipe = hashlib.sha256(pathlib.Path(__file__).read_bytes() + instance.jars.name.encode()).hexdigest()[:16]
    template = instance.cache / "built" / f"service-kafka-storage-{recipe}"
    if not template.exists():
        scram = []
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            scram += ["--add-scram", f"{mechanism}=[name={USER},password={SCRAM_PASSWORD}]"]
        instance.run(*JAVA, "-cp", instance.jars / "*", "kafka.tools.StorageTool", "format", "-t", CLUSTER,
                     "-c", instance.dir / "server.properties", *scram)
        part = template.with_name(f"{template.name}.{instance.port('controller')}")
        shutil.copytree(instance.dir / "data", part)
        try:
            part.rename(template)
        except OSError:  # somebody else was as quick
            shutil.rmtree(part)
    else:
        shutil.copytree(template, instance.dir / "data")


def prepare(instance):
    certificates(instance)
    ports = {name: instance.port(name) for name in ("plaintext", "ssl", "sasl", "controller")}
    (instance.dir / "server.properties").write_text(
        SETTINGS.format(dir=instance.dir, user=USER, plain=PLAIN_PASSWORD, **ports))
    if not (instance.dir / "data" / "meta.properties").exists():
        format_storage(instance)


def command(instance):
    return [*JAVA, "-cp", instance.jars / "*", "kafka.Kafka", instance.dir / "server.properties"]


def ready(instance):
    """Whether the broker answers an ApiVersions request: it does so only once it may serve clients."""
    request = struct.pack(">hhih", 18, 0, 1, -1)
    try:
        with socket.create_connection(("127.0.0.1", instance.port("plaintext")), timeout=2) as peer:
            peer.sendall(struct.pack(">i", len(request)) + request)
            answer = peer.recv(10)
        return len(answer) == 10 and struct.unpack(">iih", answer)[1:] == (1, 0)
    except OSError:
        return False


def environment(instance):
    tls = instance.dir / "tls"
    return {
        "AQUEDUCK_KAFKA": f"127.0.0.1:{instance.port('plaintext')}",
        "AQUEDUCK_KAFKA_SSL": f"127.0.0.1:{instance.port('ssl')}",
        "AQUEDUCK_KAFKA_SASL": f"127.0.0.1:{instance.port('sasl')}",
        "AQUEDUCK_KAFKA_CA": tls / "ca.crt",
        "AQUEDUCK_KAFKA_CLIENT_CERT": tls / "client.crt",
        "AQUEDUCK_KAFKA_CLIENT_KEY": tls / "client.key",
        "AQUEDUCK_KAFKA_USER": USER,
        "AQUEDUCK_KAFKA_PLAIN_PASSWORD": PLAIN_PASSWORD,
        "AQUEDUCK_KAFKA_SCRAM_PASSWORD": SCRAM_PASSWORD,
    }
