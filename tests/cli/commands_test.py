"""Help, and every command but `run`."""
import json
import os
import pathlib
import re
import time

from command_line import aq, code, generator, has, rows_of, write, test


# --- help and usage ---
@test
def help_names_every_command_and_exit_code():
    text = code(aq("--help"), 0).stdout
    for command in ("new", "check", "run", "query", "list", "docs", "schema", "test", "version"):
        has(text, f"\n  {command} ")
        has(code(aq(command, "--help"), 0).stdout, f"aqueduck {command} ", "--help")
    has(text, "Exit codes", "15 drain incomplete")


@test
def nothing_at_all_is_a_usage_error():
    done = code(aq(), 2)
    assert done.stdout == "", done.stdout
    has(done.stderr, "--help")


@test
def unknown_command_names_the_nearest():
    done = code(aq("chekc"), 2)
    assert done.stdout == ""
    has(done.stderr, "'chekc'", "did you mean 'check'")


@test
def unknown_option_is_named():
    done = code(aq("run", "p.yml", "--max-mesages", "3"), 2)
    has(done.stderr, "--max-mesages")
    assert done.stdout == ""


@test
def missing_file_argument_is_a_usage_error():
    has(code(aq("run"), 2).stderr, "FILE")


@test
def bad_values_of_options_are_usage_errors():
    generator()
    has(code(aq("run", "p.yml", "--max-messages", "many"), 2).stderr, "many")
    has(code(aq("run", "p.yml", "--max-messages", "0"), 2).stderr, "--max-messages")
    has(code(aq("run", "p.yml", "--until-idle", "5 parsecs"), 2).stderr, "5 parsecs")
    has(code(aq("--log-level", "loud", "version"), 2).stderr, "loud")
    has(code(aq("--log-format", "xml", "version"), 2).stderr, "xml")


@test
def version_is_quick_and_one_line():
    best = 1e9
    for _ in range(5):
        start = time.monotonic()
        done = code(aq("version"), 0)
        best = min(best, time.monotonic() - start)
    assert re.fullmatch(r"aqueduck \d+\.\d+\.\d+ \(DuckDB [\d.]+\)\n", done.stdout), done.stdout
    assert best < 0.1, f"took {best * 1000:.0f} ms"


# --- check ---
@test
def check_says_what_a_pipeline_guarantees():
    generator()
    has(code(aq("check", "p.yml"), 0).stdout, "p.yml: ok", "at-least-once")
    write("p.yml", "pipeline: p\nsource: stdin\nsink: {duckdb: {path: p.duckdb, table: t}}\n")
    has(code(aq("check", "p.yml"), 0).stdout, "'stdin' can't be read again", "a crash loses")
    kafka = "pipeline: p\nsource: {kafka: {brokers: [b], topics: [t], assign: {instance: 0, of: 1}}}\nsink: %s\n"
    write("p.yml", kafka % "console")
    has(code(aq("check", "p.yml"), 0).stdout, "at-least-once", "nothing keeps the positions", "set `state:`")
    for kept in ("console\nstate: s", "{duckdb: {path: p.duckdb, table: t}}"):
        write("p.yml", kafka % kept)
        assert "nothing keeps" not in code(aq("check", "p.yml"), 0).stdout


@test
def check_reports_all_faults_with_their_places():
    write("p.yml", "pipeline: p p\nsource:\n  generator: {colums: {id: i}, rows: many}\nsink:\n  consol: {}\n"
                   "batch: {rows: 0}\n")
    done = code(aq("check", "p.yml"), 10)
    has(done.stderr, "p.yml:1:11", "p.yml:3:15", "did you mean 'columns'", "p.yml:3:", "many", "p.yml:5:3",
        "did you mean 'console'", "p.yml:6:")
    assert len(done.stderr.splitlines()) >= 5, done.stderr


@test
def check_finds_unknown_columns_where_the_schema_is_declared():
    write("p.yml", "pipeline: p\nsource: {file: {path: absent.jsonl}}\ndecode: {json: {schema: {a: BIGINT}}}\n"
                   "sql: SELECT aa FROM batch\nsink: console\n")
    has(code(aq("check", "p.yml"), 10).stderr, "p.yml:4:13", "aa")


@test
def check_of_several_files_reports_the_bad_one():
    generator()
    write("bad.yml", "pipeline: x\n")
    done = code(aq("check", "p.yml", "bad.yml"), 10)
    has(done.stdout, "p.yml: ok")
    has(done.stderr, "bad.yml")


@test
def secrets_are_never_shown():
    secret = "hunter2-swordfish"
    write("p.yml", "pipeline: p\nsetup: [\"ATTACH '${DB_PASSWORD}/x.db' AS y\"]\nsource: stdin\nsink: console\n")
    for args in (["check", "p.yml"], ["run", "p.yml"], ["query", "p.yml", "SELECT 1"], ["run", "--log-level", "trace", "p.yml"]):
        done = code(aq(*args, env={"DB_PASSWORD": secret}), 10)
        assert secret not in done.stdout + done.stderr, done.stderr
    write("secret.txt", secret + "\n")
    write("p.yml", "pipeline: p\nsource: stdin\nsink: console\nsql: SELECT '${file:secret.txt}'::INTEGER AS n FROM batch\n")
    write("q.yml", "pipeline: ${DB_PASSWORD}!\nsource: ${DB_PASSWORD}\nsink: console\n")
    for name in ("p.yml", "q.yml"):
        done = aq("run", name, stdin='{"a": 1}\n', env={"DB_PASSWORD": secret})
        assert done.returncode in (1, 10), (done.returncode, done.stderr)
        assert secret not in done.stdout + done.stderr, done.stderr


@test
def unset_variables_are_faults():
    write("p.yml", "pipeline: p\nsource: {file: {path: '${NOT_SET}'}}\nsink: console\n")
    has(code(aq("check", "p.yml"), 10).stderr, "p.yml:2:", "NOT_SET")


# --- query ---
@test
def query_prints_the_last_statements_rows():
    done = code(aq("query", "CREATE TABLE t AS SELECT 1 AS a; SELECT a, 'x' AS b FROM t"), 0)
    assert rows_of(done.stdout) == [{"a": 1, "b": "x"}] and done.stderr == "", done.stderr


@test
def query_formats():
    done = code(aq("query", "--format", "csv", "SELECT 1 AS a, 'x,y' AS b"), 0)
    assert done.stdout == 'a,b\n1,"x,y"\n', done.stdout
    has(code(aq("query", "--format", "table", "SELECT 1 AS a"), 0).stdout, "│", "INTEGER", "1 row")
    has(code(aq("query", "--format", "table", "SELECT 1 AS a WHERE false"), 0).stdout, "│ a", "0 rows")
    has(code(aq("query", "--format", "table", "SELECT * FROM range(1_000_000)"), 0).stdout, "999999", "1000000 rows (40 shown)")
    assert code(aq("query", "--format", "csv", "SELECT 1 AS a WHERE false"), 0).stdout == "a\n"
    has(code(aq("query", "--format", "xlsx", "SELECT 1"), 2).stderr, "xlsx")


@test
def query_reads_files_from_the_working_directory():
    write("a.csv", "x,y\n1,2\n")
    assert rows_of(code(aq("query", "SELECT x + y AS z FROM 'a.csv'"), 0).stdout) == [{"z": 3}]


@test
def paths_in_sql_start_at_the_pipelines_folder():
    write("deep/cities.csv", "city,country\nRome,IT\n")
    write("deep/a.jsonl", '{"city": "Rome"}\n')
    write("deep/p.yml", "pipeline: p\nsetup:\n  - ATTACH 'made.duckdb' AS made\n"
                        "  - CREATE TABLE IF NOT EXISTS made.cities AS FROM 'cities.csv'\n"
                        "source: {file: {path: a.jsonl}}\nsql: SELECT * FROM batch JOIN made.cities USING (city)\n"
                        "sink: {parquet: {path: out}}\n")
    code(aq("check", "deep/p.yml"), 0)
    code(aq("run", "deep/p.yml"), 0)
    assert pathlib.Path("deep/made.duckdb").exists() and not pathlib.Path("made.duckdb").exists()
    done = code(aq("query", "deep/p.yml", "SELECT country FROM 'out/*.parquet'"), 0)
    assert rows_of(done.stdout) == [{"country": "IT"}]
    write("deep/q.yml", "pipeline: q\nsource: {file: {path: 'out/*.parquet'}}\nsink: console\n")
    assert rows_of(code(aq("run", "deep/q.yml"), 0).stdout) == [{"city": "Rome", "country": "IT"}]


@test
def query_runs_in_the_setup_of_a_pipeline():
    write("p.yml", "pipeline: p\nsetup:\n  - CREATE TEMP TABLE t AS SELECT ${N:-5} AS n\nsource: stdin\nsink: console\n")
    assert rows_of(code(aq("query", "p.yml", "SELECT n FROM t"), 0).stdout) == [{"n": 5}]
    assert rows_of(code(aq("query", "p.yml", "SELECT n FROM t", env={"N": "6"}), 0).stdout) == [{"n": 6}]
    done = code(aq("query", "p.yml", "SELECT n FROM t", "--set", "setup.0=CREATE TABLE t AS SELECT 9 AS n"), 0)
    assert rows_of(done.stdout) == [{"n": 9}]


@test
def query_errors_have_a_caret():
    done = code(aq("query", "SELECT 1;\nSELECT range, nope FROM range(3)"), 10)
    has(done.stderr, "line 2, column 15", "  SELECT range, nope FROM range(3)\n" + " " * 16 + "^")
    assert done.stdout == ""
    has(code(aq("query", "SELECT 'x'::INTEGER"), 1).stderr, "x")
    has(code(aq("query"), 2).stderr, "SELECT 1")
    has(code(aq("query", "SELECT 1", "--set", "a=b"), 2).stderr, "--set")
    has(code(aq("query", "absent.yml", "SELECT 1"), 10).stderr, "absent.yml")


# --- list, docs, schema ---
@test
def list_shows_components():
    text = code(aq("list"), 0).stdout
    has(text, "sources\n", "decoders\n", "sinks\n", "generator", "console", "json")
    sinks = code(aq("list", "sinks"), 0).stdout
    has(sinks, "console  ")
    assert "generator" not in sinks
    has(code(aq("list", "sorces"), 2).stderr, "did you mean 'sources'")


@test
def docs_prints_pages():
    has(code(aq("docs"), 0).stdout, "# Reference", "generator")
    has(code(aq("docs", "file"), 0).stdout, "# `file` source", "# `file` sink")
    assert "source" not in code(aq("docs", "sinks/file"), 0).stdout.splitlines()[0]
    has(code(aq("docs", "pipeline"), 0).stdout, "`batch.rows`")
    has(code(aq("docs", "cli"), 0).stdout, "## aqueduck query")
    has(code(aq("docs", "consol"), 2).stderr, "did you mean 'console'")


@test
def docs_write_and_check():
    code(aq("docs", "--write", "ref"), 0)
    code(aq("docs", "--check", "ref"), 0)
    write("ref/sinks/console.md", "old\n")
    write("ref/sinks/gone.md", "old\n")
    pathlib.Path("ref/cli.md").unlink()
    done = code(aq("docs", "--check", "ref"), 1)
    has(done.stderr, "ref/sinks/console.md: differs", "ref/sinks/gone.md: is no page", "ref/cli.md: is missing")
    assert "index.md" not in done.stderr
    has(code(aq("docs", "--check", "ref", "--write", "ref"), 2).stderr, "--write")


@test
def schema_has_all_components():
    schema = json.loads(code(aq("schema"), 0).stdout)
    has(schema["$schema"], "2020-12")
    sink = schema["$defs"]["sink"]
    sink = next(part for part in sink.get("anyOf", [sink]) if part.get("type") == "object")
    listed = [line.split()[0] for line in code(aq("list", "sinks"), 0).stdout.splitlines()]
    assert set(sink["properties"]) == {*listed, "commit"}, sink["properties"].keys()
    assert sorted(each["required"][0] for each in sink["oneOf"]) == sorted(listed)


@test
def schema_of_a_case():
    schema = json.loads(code(aq("schema", "case"), 0).stdout)
    has(" ".join(schema["properties"]), "ordered", "sink", "query", "clock")
    has(code(aq("schema", "cases"), 2).stderr, "case")
    has(code(aq("docs", "case"), 0).stdout, "# case.yml", "`clock[].advance`", "${SCRATCH}")


# --- test ---
def case(name, **files):
    pipeline = "pipeline: p\nsource: {stdin: {}}\nsink: console\n"
    contents = {"pipeline.yml": pipeline, "input.jsonl": '{"id":1}\n{"id":2}\n', "expected.jsonl": '{"id":2}\n{"id":1}\n'}
    contents.update({key.replace("__", "."): text for key, text in files.items()})
    for file, text in contents.items():
        if text is not None:
            write(f"cases/{name}/{file}", text)


@test
def broken_cases_fail_with_a_reason_and_the_others_run():
    reasons = {}

    def broken(name, reason, **files):
        case(name, **files)
        reasons[name] = reason

    case("fine")
    broken("no_expected", "--update writes one", expected__jsonl=None)
    broken("case_faults", "did you mean 'ordered'", case__yml="ordred: true\n")
    broken("case_no_yaml", "case.yml:2:1", case__yml="ordered: [\n")
    broken("wrong_column", '- {"town":1}', expected__jsonl='{"town":1}\n{"id":2}\n')
    broken("expected_no_json", "expected.jsonl:1: no JSON", expected__jsonl='{"id":1\n')
    broken("two_expected", "there are expected.csv and expected.jsonl", expected__csv="id\n1\n")
    broken("two_inputs", "a case has one input", input__csv="id\n1\n")
    broken("pipeline_faults", "did you mean 'console'", pipeline__yml="pipeline: p\nsource: {stdin: {}}\nsink: consol\n")
    broken("no_pipeline", "there is no cases/no_pipeline/pipeline.yml", pipeline__yml=None)
    broken("no_input", "there is no input file", input__jsonl=None)
    broken("input_misnamed", "no input is called so", input__jsonl=None, input__json5="{}")
    broken("input_damaged", "input.arrow", input__jsonl=None, input__arrow="xx")
    broken("real_console", "the sink 'console' leaves nothing", case__yml="sink: real\n")
    broken("bad_query", 'query: Referenced column "nope"', case__yml="query: SELECT nope FROM sink\n")
    broken("no_such_file", "the run made no such file", pipeline__yml=(
        "pipeline: p\nsource: {stdin: {}}\nsink: {file: out.jsonl}\n"),
        case__yml="sink: real\nfiles: {ou.jsonl: expected.jsonl}\n")
    broken("too_long", "didn't end within 200ms", input__jsonl=None, case__yml="timeout: 200ms\n", pipeline__yml=(
        "pipeline: p\nsource: {generator: {columns: {id: i}, rate: 10}}\nsink: console\n"))
    done = code(aq("test", "cases"), 1)
    parts = dict(re.findall(r"^(?:FAILED|ok)\s+cases/(\w+) \(.*\n((?:  .*\n)*)", done.stdout, re.M))
    assert parts.keys() == {"fine", *reasons}, done.stdout
    for name, reason in reasons.items():
        has(parts[name], reason)
    assert parts["fine"] == "", parts["fine"]
    has(done.stdout, f"1 passed, {len(reasons)} failed\n")
    code(aq("test", "cases", "--filter", "fine"), 0)


@test
def no_case_at_all_is_a_failure():
    os.makedirs("empty")
    has(code(aq("test", "empty"), 1).stdout, "there are no cases", "0 passed, 0 failed")
    has(code(aq("test", "absent"), 2).stderr, "there is no folder 'absent'")
    case("fine")
    has(code(aq("test", "cases/fine/pipeline.yml"), 2).stderr, "this is a file, no folder: 'cases/fine/pipeline.yml'")
    has(code(aq("test", "cases", "--filter", "nothing"), 1).stdout, "'nothing' in its path")


@test
def real_sinks_of_a_case_write_nothing_outside():
    outside = pathlib.Path("outside").resolve()
    outside.mkdir()
    for name, sink in (("parquet", f"{{parquet: {outside}/lake}}"), ("file", f"{{file: {outside}/out.jsonl}}"),
                       ("duckdb", f"{{duckdb: {{path: {outside}/out.duckdb, table: t}}}}"),
                       ("climbing", "{file: ../../outside/out.jsonl}")):
        case(name, case__yml="sink: real\n",
             pipeline__yml=f"pipeline: p\nsource: {{stdin: {{}}}}\nstate: {outside}/state\nsink: {sink}\n")
    code(aq("test", "cases"), 0)
    code(aq("test", "cases", "--update"), 0)
    assert pathlib.Path("cases/duckdb/expected.jsonl").read_text() == '{"id":1}\n{"id":2}\n'
    assert not list(outside.iterdir()), list(outside.iterdir())
    files = sorted(p.name for p in pathlib.Path("cases/file").iterdir())
    assert files == ["case.yml", "expected.jsonl", "input.jsonl", "pipeline.yml"], files


# --- new ---
@test
def new_writes_a_pipeline_that_runs():
    code(aq("new", "first"), 0)
    code(aq("check", "first.yml"), 0)
    assert len(rows_of(code(aq("run", "first.yml"), 0).stdout)) == 20
    code(aq("check", "tests/first/pipeline.yml"), 0)
    done = code(aq("run", "tests/first/pipeline.yml"), 0)
    assert done.stdout == pathlib.Path("tests/first/expected.jsonl").read_text()


@test
def new_with_every_component_passes_check():
    for kind, option in (("sources", "--source"), ("sinks", "--sink")):
        for line in code(aq("list", kind), 0).stdout.splitlines():
            name = line.split()[0]
            code(aq("new", "--force", "x", option, name), 0)
            code(aq("check", "tests/x/pipeline.yml"), 0)
            code(aq("check", "x.yml"), 0)


@test
def new_overwrites_only_when_forced():
    write("first.yml", "mine\n")
    has(code(aq("new", "first"), 2).stderr, "first.yml", "--force")
    assert pathlib.Path("first.yml").read_text() == "mine\n" and not pathlib.Path("tests").exists()
    code(aq("new", "first", "--force"), 0)
    code(aq("check", "first.yml"), 0)
    has(code(aq("new", "a b"), 2).stderr, "a b")
    has(code(aq("new", "x", "--source", "kafkaa"), 2).stderr, "kafkaa")
    has(code(aq("new", "../evil"), 2).stderr, "evil")
