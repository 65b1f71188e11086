"""Where reading begins and goes on: a time as the start, offsets that compaction took away, gaps."""
import datetime
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_group import until
from kafka_source_test import committed, create, fill, ids, pipeline, run


def test_a_time_as_the_start(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique, 2)
    producer = Producer({"bootstrap.servers": broker})
    base = (int(time.time()) - 3600) * 1000
    for i in range(100):
        producer.produce(unique, f'{{"id":{i}}}', partition=0, timestamp=base + i * 1000)
    for i in range(100, 110):  # all before the start
        producer.produce(unique, f'{{"id":{i}}}', partition=1, timestamp=base)
    assert producer.flush(20) == 0
    when = datetime.datetime.fromtimestamp(base / 1000 + 59.5, datetime.timezone(datetime.timedelta(hours=2))).isoformat("T")
    for name, how in (("group", f"group: {unique}"), ("assign", "assign: {instance: 0, of: 1}")):
        sub = folder / name
        sub.mkdir()
        path = pipeline(sub, "p", broker, unique, f", {how}, start: '{when}'")
        path.write_text(path.read_text() + f"state: {sub}/state\n")
        run(binary, path, "--until-idle", "2s")
        assert sorted(ids(sub)) == list(range(60, 100)), (name, sorted(ids(sub)))
    # It is for the first time only: the start stays what it came to, also where nothing was read yet.
    producer.produce(unique, '{"id":200}', partition=1, timestamp=base)
    assert producer.flush(20) == 0
    for name in ("group", "assign"):
        run(binary, folder / name / "p.yml", "--until-idle", "2s")
        assert sorted(ids(folder / name)) == [*range(60, 100), 200], (name, sorted(ids(folder / name)))


def what_is_there(broker, topic):
    """(offset, value) of every message."""
    consumer = Consumer({"bootstrap.servers": broker, "group.id": topic + "-look", "auto.offset.reset": "earliest",
                         "enable.partition.eof": True, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    out = []
    while True:
        message = consumer.poll(10)
        assert message is not None
        if message.error():
            consumer.close()
            return out
        out.append((message.offset(), message.value()))


def test_offsets_that_compaction_took_away(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    settings = {"cleanup.policy": "compact", "segment.ms": "200", "min.cleanable.dirty.ratio": "0.01", "min.compaction.lag.ms": "0",
                "max.compaction.lag.ms": "1000"}
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(unique, num_partitions=1, config=settings)])[unique].result(20)
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 0})
    sent = 0

    def send(count):
        """A third of the keys once, the rest over and over."""
        nonlocal sent
        for i in range(sent, sent + count):
            producer.produce(unique, f'{{"id":{i}}}', key=str(i) if i % 3 == 0 else f"k{i % 7}")
            assert i % 50 or producer.flush(20) == 0
        assert producer.flush(20) == 0
        sent += count

    def compacted():
        send(1)  # begins a new segment; the last one is never cleaned
        return len(what_is_there(broker, unique)) < sent * 0.6

    send(600)
    until(compacted, "the cleaner has run", every=0.5)
    path = pipeline(folder, "p", broker, unique, f", group: {unique}")
    path.write_text(path.read_text().replace("rows: 50", "rows: 7"))
    run(binary, path, "--max-messages", "20")
    offsets, _ = committed(broker, unique, unique, 1)
    left = what_is_there(broker, unique)
    assert offsets[0] > 20, f"no hole was met: {offsets}"
    assert len(ids(folder)) == 20 and max(ids(folder)) == offsets[0] - 1, (offsets, ids(folder))
    run(binary, path, "--until-idle", "2s")
    there = ids(folder)
    assert len(set(there)) == len(there), "some came twice"
    assert set(there) >= {offset for offset, _ in left if offset >= offsets[0]}, "some are missing"
    offsets, ends = committed(broker, unique, unique, 1)
    assert offsets == ends == {0: sent}, (offsets, ends, sent)


def test_a_gap_under_latest(kafka, folder, binary, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    create(broker, unique)
    fill(broker, unique, 0, 300)
    path = pipeline(folder, "p", broker, unique, f", group: {unique}, on_gap: latest")
    run(binary, path, "--max-messages", "100")
    admin = AdminClient({"bootstrap.servers": broker})
    for done in admin.delete_records([TopicPartition(unique, 0, 200)]).values():
        done.result(20)
    done = run(binary, path, "--until-idle", "2s")
    assert "100 messages are gone" in done.stderr and "going on at 300" in done.stderr, done.stderr
    assert sorted(ids(folder)) == list(range(100))
    fill(broker, unique, 300, 10)
    run(binary, path, "--max-messages", "10")
    assert sorted(ids(folder)) == [*range(100), *range(300, 310)]
