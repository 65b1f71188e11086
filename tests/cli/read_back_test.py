"""What JSON lines and Arrow files hold is read back, with the declared types, as the same values."""
import pathlib

from command_line import aq, code, rows_of, test, write

VALUES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "127"],
    "UTINYINT": ["0", "255"],
    "SMALLINT": ["-32768"],
    "USMALLINT": ["65535"],
    "INTEGER": ["-2147483648", "2147483647"],
    "UINTEGER": ["4294967295"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807"],
    "UBIGINT": ["18446744073709551615"],
    "HUGEINT": ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105728"],
    "UHUGEINT": ["340282366920938463463374607431768211455"],
    "FLOAT": ["1.1", "'nan'", "'-inf'", "3.4028235e38", "1e-45"],
    "DOUBLE": ["0.1", "1", "'-0.0'", "1e300", "5e-324", "'nan'", "'inf'", "0.30000000000000004"],
    "DECIMAL(4,2)": ["-0.05", "99.99"],
    "DECIMAL(18,3)": ["-123456789012345.678"],
    "DECIMAL(38,0)": ["99999999999999999999999999999999999999"],
    "DECIMAL(38,3)": ["12345678901234567890.123"],
    "VARCHAR": [r"'a\"\b/' || chr(10) || chr(1) || 'é😀'", "''", "'null'", "'2026-01-01'"],
    "JSON": [r"""'{"a" : "x\"y\\\\z\u00e9", "n": 1.50, "l": [1, null]}'""", "'\"text\"'", "'1e400'", "'[]'", "'true'"],
    "BLOB": [r"'\x00\xFFab'", "''"],
    "DATE": ["'2026-02-28'", "'0001-01-01'", "'9999-12-31'", "'1969-12-31'"],
    "TIME": ["'01:02:03.04'", "'23:59:59.999999'"],
    "TIMESTAMP": ["'1969-12-31 23:59:59.999999'", "'2026-01-02 03:04:05'"],
    "TIMESTAMP_S": ["'2026-01-02 03:04:05'"],
    "TIMESTAMP_MS": ["'2026-01-02 03:04:05.120'"],
    "TIMESTAMP_NS": ["'2026-01-02 03:04:05.123456789'"],
    "TIMESTAMPTZ": ["'2026-01-02 03:04:05.000001+01'"],
    "TIMETZ": ["'10:00:00.5-02:30'"],
    "INTERVAL": ["'14 months 3 days 04:05:06.7'", "'-1 second'"],
    "BIT": ["'0101101011'"],
    "BIGNUM": ["'-123456789012345678901234567890'"],
    "UUID": ["'00112233-4455-6677-8899-aabbccddeeff'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
    "ENUM('a', 'b')": ["'b'"],
    "INTEGER[]": ["[]", "[1, NULL, 3]"],
    "INTEGER[][]": ["[[1], NULL, [2, 3]]"],
    "INTEGER[3]": ["[1, NULL, 3]"],
    "STRUCT(a INTEGER, b STRUCT(c DECIMAL(9,2), d VARCHAR[]))": ["{a: 1, b: {c: NULL, d: [NULL, 'x']}}", "{a: NULL, b: NULL}"],
    "MAP(VARCHAR, INTEGER)": ["MAP {'a': 1, 'b': NULL}", "MAP {}"],
    "STRUCT(t TIMESTAMPTZ, raw BLOB)[]": [r"[{t: '2026-01-02 03:04:05.5+00', raw: '\x00'}]"],
}
# What the JSON decoder has no type for is read as text and cast in SQL, as its error says.
TEXT = {"HUGEINT", "UHUGEINT", "ENUM('a', 'b')", "TIMETZ", "INTERVAL", "BIT", "BIGNUM"}
CASES = [(kind, f"CAST({value} AS {kind})") for kind, values in VALUES.items() for value in ["NULL", *values]]
COLUMNS = [f"c{i}" for i in range(len(CASES))]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def written(name):
    select = ",\n  ".join(f"{value} AS {name}" for name, (_, value) in zip(COLUMNS, CASES))
    write("w.yml", f"pipeline: w\nsource: {{generator: {{rows: 1, columns: {{i: i}}}}}}\nsql: |\n  SELECT\n  {select}\n"
                   f"  FROM batch\nsink: {{file: {{path: {name}}}}}\n")
    code(aq("run", "w.yml"), 0)


def differing(source):
    same = ",\n  ".join(f"CAST({name} AS {kind}) IS NOT DISTINCT FROM {value} AS {name}" for name, (kind, value) in zip(COLUMNS, CASES))
    write("r.yml", f"pipeline: r\n{source}\nsql: |\n  SELECT\n  {same}\n  FROM batch\nsink: console\n")
    row, = rows_of(code(aq("run", "r.yml"), 0).stdout)
    return [case for name, case in zip(COLUMNS, CASES) if not row[name]]


@test
def json_lines_are_read_back_as_they_were():
    written("out.jsonl")
    schema = ", ".join(f"{name}: {quoted('VARCHAR' if kind in TEXT else kind)}" for name, (kind, _) in zip(COLUMNS, CASES))
    found = differing(f"source: {{file: {{path: out.jsonl}}}}\ndecode: {{json: {{schema: {{{schema}}}}}}}")
    assert not found, (found, pathlib.Path("out.jsonl").read_text())


@test
def arrow_files_are_read_back_as_they_were():
    written("out.arrow")
    found = differing("source: {file: {path: out.arrow}}")
    assert not found, found
