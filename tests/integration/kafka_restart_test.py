"""The broker is killed and started again while a million messages are read: each of them arrives once."""
from kafka_broker_test import services
from kafka_group import Group, until
from kafka_pipeline_test import fill

MESSAGES = 1_000_000


def test_in_the_middle_of_a_million(folder, binary, unique):
    label = unique[-8:]
    try:
        own = services("start", "kafka", "--own", label)
        with Group(own, folder, binary, unique, "parquet") as group:
            fill(group.broker, unique, 0, MESSAGES)
            group.count = MESSAGES
            # Little is fetched ahead: most of the topic is still to be read when the broker goes.
            a = group.start("a", rows=5000, commit="{rows: 10_000}", session="10s", source="fetch: {queue: 512KiB}")
            until(lambda: sum(group.token().values()) >= MESSAGES * 0.12, "an eighth of them", every=0.005)
            services("stop", "kafka", "--own", label, "--keep", "--kill")
            read = sum(group.token().values())
            assert MESSAGES * 0.1 <= read <= MESSAGES * 0.5, f"{read} were read when the broker went"
            services("start", "kafka", "--own", label)
            group.wait_for_all(120)
            a.drain()
            print(f"  the broker went at {read} of {MESSAGES}")
            group.check()
    finally:
        services("stop", "kafka", "--own", label)
