"""What the file and parquet sinks write, as another implementation of the formats (pyarrow) reads it."""
import datetime
import decimal
import json
import subprocess

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

UTC = datetime.timezone.utc
SQL = r"""SELECT id::BIGINT AS id,
  TIMESTAMPTZ '2026-11-30 12:00:00.123456+00' AS at, TIMESTAMP '1969-12-31 23:59:59.999999' AS local,
  DATE '2026-02-28' AS day, TIME '23:59:59.000001' AS clock,
  (-1234567890123.45)::DECIMAL(18,2) AS price, 99999999999999999999999999999999999999::DECIMAL(38,0) AS wide,
  {'name': 'ä"\', 'tags': ['x', NULL, ''], 'deep': [{'n': 1}, NULL]} AS nested,
  MAP {'a': 1, 'b': NULL} AS pairs, '{"a" : "x\"y\\z\u00e9", "n": 1.50}'::JSON AS doc,
  '\x00\xff'::BLOB AS raw, 'NaN'::DOUBLE AS nan, NULL::INTEGER AS nothing, 18446744073709551615::UBIGINT AS big,
  id % 2 = 0 AS even FROM batch ORDER BY id"""
FIRST = {
    "id": 0,
    "at": datetime.datetime(2026, 11, 30, 12, 0, 0, 123456, UTC),
    "local": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    "day": datetime.date(2026, 2, 28),
    "clock": datetime.time(23, 59, 59, 1),
    "price": decimal.Decimal("-1234567890123.45"),
    "wide": decimal.Decimal("9" * 38),
    "nested": {"name": 'ä"\\', "tags": ["x", None, ""], "deep": [{"n": 1}, None]},
    "pairs": [("a", 1), ("b", None)],
    "doc": r'{"a" : "x\"y\\z\u00e9", "n": 1.50}',
    "raw": b"\x00\xff",
    "nothing": None,
    "big": 2**64 - 1,
    "even": True,
}
TYPES = {"at": pa.timestamp("us", "UTC"), "local": pa.timestamp("us"), "day": pa.date32(), "clock": pa.time64("us"),
         "price": pa.decimal128(18, 2), "wide": pa.decimal128(38, 0), "nothing": pa.int32(), "big": pa.uint64(),
         "even": pa.bool_()}


def run(folder, binary, sink, rows=2500):
    text = SQL.replace("\n", "\n  ")
    (folder / "p.yml").write_text(f"pipeline: p\nsource: {{generator: {{rows: {rows}, columns: {{id: i}}}}}}\n"
                                  f"batch: {{rows: 1000}}\nsql: |\n  {text}\nsink: {sink}\n")
    done = subprocess.run([binary, "run", folder / "p.yml"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def check(table, rows=2500, **types):
    assert table.num_rows == rows, table.num_rows
    assert sorted(table["id"].to_pylist()) == list(range(rows))
    for name, wanted in {**TYPES, **types}.items():
        assert table.schema.field(name).type == wanted, (name, table.schema.field(name).type)
    for row in (table.slice(0, 1).to_pylist()[0], {**table.slice(rows - 1, 1).to_pylist()[0], "id": 0, "even": True}):
        assert row.pop("nan") != 0
        assert row == FIRST, {key: (row.get(key), value) for key, value in FIRST.items() if row.get(key) != value}
    assert json.loads(table["doc"][0].as_py()) == {"a": 'x"y\\zé', "n": 1.5}


def test_parquet(folder, binary):
    run(folder, binary, "{parquet: {path: lake}}")
    files = sorted((folder / "lake").rglob("*.parquet"))
    assert files
    check(pa.concat_tables(pq.ParquetFile(file).read() for file in files).sort_by("id"))
    for file in files:
        column = pq.ParquetFile(file).metadata.row_group(0).column(0)
        assert column.statistics.has_min_max and column.statistics.min >= 0, column


def test_arrow(folder, binary):
    run(folder, binary, "{file: {path: out.arrow, format: arrow}}")
    with pa.memory_map(str(folder / "out.arrow")) as mapped:
        check(pa.ipc.open_stream(mapped).read_all(), even=pa.bool8())  # as lossless as DuckDB hands them over


def test_message_times_keep_their_fraction(folder, binary, kafka, unique):
    broker = kafka["AQUEDUCK_KAFKA"]
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(unique, num_partitions=1)])[unique].result(20)
    producer = Producer({"bootstrap.servers": broker})
    now = datetime.datetime.now(UTC).replace(microsecond=0)  # what is older than a week may be dropped at once
    for i in range(3):
        producer.produce(unique, json.dumps({"id": i}), timestamp=int(now.timestamp()) * 1000 + 1 + i)
    assert producer.flush(30) == 0
    (folder / "p.yml").write_text(
        f"pipeline: p\nsource: {{kafka: {{brokers: ['{broker}'], topics: [{unique}], group: {unique}, "
        f"start: earliest, metadata: [_timestamp]}}}}\nsql: SELECT id, _timestamp AS at FROM batch\nsink: {{parquet: {{path: lake}}}}\n")
    done = subprocess.run([binary, "run", folder / "p.yml", "--max-messages", "3"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    table = pa.concat_tables(pq.ParquetFile(file).read() for file in sorted((folder / "lake").rglob("*.parquet")))
    assert table.schema.field("at").type == pa.timestamp("us", "UTC"), table.schema
    wanted = [now.replace(microsecond=1000 * (1 + i)) for i in range(3)]
    assert table.sort_by("id")["at"].to_pylist() == wanted, table["at"]
