"""How `aqueduck run` reads settings, ends, and answers to signals."""
import json
import pathlib
import signal
import subprocess
import time

from command_line import BINARY, aq, code, generator, has, rows_of, wait_for, write, test


# --- run ---
@test
def stdout_carries_rows_only():
    generator(3)
    done = code(aq("run", "p.yml"), 0)
    assert rows_of(done.stdout) == [{"id": 0}, {"id": 1}, {"id": 2}], done.stdout
    has(done.stderr, "3 rows written")


@test
def log_format_json_is_json_on_every_line():
    generator(3)
    done = code(aq("run", "p.yml", "--log-format", "json"), 0)
    lines = rows_of(done.stderr)
    assert lines and all({"time", "level", "message"} <= set(line) for line in lines), done.stderr
    done = code(aq("--log-format", "json", "run", "p.yml"), 0)
    assert rows_of(done.stderr)


@test
def log_level_off_is_silent():
    generator(3)
    assert code(aq("run", "p.yml", "--log-level", "off"), 0).stderr == ""


@test
def set_overrides_a_value():
    generator(3)
    assert len(rows_of(code(aq("run", "--set", "source.generator.rows=5", "p.yml"), 0).stdout)) == 5
    done = code(aq("run", "p.yml", "--set", "source.generator.rows=5", "--set", "sql=SELECT 7 AS x FROM batch"), 0)
    assert rows_of(done.stdout) == [{"x": 7}] * 5
    has(code(aq("run", "p.yml", "--set", "sink.consol=1"), 10).stderr, "--set")
    write("s.yml", "pipeline: s\nsource: stdin\nsink: console\n")
    assert code(aq("run", "s.yml", "--set", "sink.console.format=csv", stdin='{"a":1}'), 0).stdout == "a\n1\n"
    has(code(aq("run", "s.yml", "--set", "source.file.path=in.csv"), 10).stderr,
        "'source' is 'stdin' here", "--set 'source={file: {path: …}}'")
    code(aq("run", "p.yml", "--set", "nonsense"), 10)


@test
def max_messages_stops():
    generator(None)
    rows = rows_of(code(aq("run", "p.yml", "--max-messages", "5_000"), 0).stdout)
    assert [row["id"] for row in rows] == list(range(5000))


@test
def until_idle_stops_a_source_that_waits():
    write("a.jsonl", '{"a": 1}\n')
    write("p.yml", "pipeline: p\nsource: {file: {path: a.jsonl, follow: true}}\nsink: {console: {}}\n")
    start = time.monotonic()
    done = code(aq("run", "p.yml", "--until-idle", "300ms"), 0)
    assert rows_of(done.stdout) == [{"a": 1}]
    assert time.monotonic() - start < 10


@test
def stats_json_counts():
    generator(1000, "SELECT id FROM batch WHERE id % 2 = 0")
    code(aq("run", "p.yml", "--stats-json", "stats.json"), 0)
    stats = json.loads(pathlib.Path("stats.json").read_text())
    assert (stats["rows_decoded"], stats["rows_written"]) == (1000, 500), stats
    assert stats["pipeline"] == "p" and stats["commits"] >= 1


@test
def stdin_to_stdout():
    write("p.yml", "pipeline: p\nsource: stdin\nsql: SELECT a * 2 AS b FROM batch\nsink: console\n")
    done = code(aq("run", "p.yml", stdin='{"a": 1}\n{"a": 4}\n'), 0)
    assert rows_of(done.stdout) == [{"b": 2}, {"b": 8}]


@test
def paths_start_at_the_pipelines_folder():
    write("deep/a.jsonl", '{"a": 1}\n')
    write("deep/p.yml", "pipeline: p\nsource: {file: {path: a.jsonl}}\nsink: {file: {path: out.jsonl}}\n")
    code(aq("run", "deep/p.yml"), 0)
    assert rows_of(pathlib.Path("deep/out.jsonl").read_text()) == [{"a": 1}]


# --- exit codes of run ---
@test
def a_failing_message_ends_with_1():
    write("p.yml", "pipeline: p\nsource: stdin\nsink: console\n")
    done = code(aq("run", "p.yml", stdin='{"a": 1}\n{"a": \n'), 1)
    assert len(done.stderr.splitlines()) >= 1 and "stdin" in done.stderr, done.stderr


@test
def a_failing_message_may_be_skipped_or_put_aside():
    write("p.yml", "pipeline: p\nsource: stdin\nsink: console\nerrors: {decode: skip}\n")
    assert rows_of(code(aq("run", "p.yml", stdin='{"a": 1}\nnope\n{"a": 2}\n'), 0).stdout) == [{"a": 1}, {"a": 2}]
    write("p.yml", "pipeline: p\nsource: stdin\nsink: console\n"
                   "errors: {decode: dead_letter, dead_letter: {file: {path: dead.jsonl}}}\n")
    assert len(rows_of(code(aq("run", "p.yml", stdin='{"a": 1}\nnope\n{"a": 2}\n'), 0).stdout)) == 2
    assert len(rows_of(pathlib.Path("dead.jsonl").read_text())) == 1


@test
def failing_sql_ends_with_1_and_its_place():
    generator(10, sql="SELECT CAST('x' || id AS INTEGER) FROM batch")
    has(code(aq("run", "p.yml"), 1).stderr, "p.yml:6:", "x0")


@test
def wrong_configuration_ends_with_10():
    code(aq("run", "absent.yml"), 10)
    generator(10, sql="SELEC 1")
    has(code(aq("run", "p.yml"), 10).stderr, "p.yml:6:6", "SELEC")


@test
def a_source_that_is_not_there_ends_with_11():
    write("p.yml", "pipeline: p\nsource: {file: {path: absent.jsonl}}\nsink: console\nretry: {give_up_after: 100ms}\n")
    has(code(aq("run", "p.yml"), 11).stderr, "absent.jsonl")


@test
def a_sink_that_fails_for_good_ends_with_12():
    generator(10, sink="file: {path: absent/out.jsonl}", extra="retry: {give_up_after: 100ms}\n")
    has(code(aq("run", "p.yml"), 12).stderr, "out.jsonl")


@test
def a_reader_that_goes_ends_a_command_quietly():
    generator(None, extra="state: state\n")
    endless = "SELECT * FROM range(1_000_000_000)"
    for args in (["run", "p.yml", "--stats-json", "stats.json"], ["query", "--format", "csv", endless], ["query", endless]):
        process = subprocess.Popen([BINARY, "--log-level", "warn", *args], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) == 141, (args, process.returncode)
        assert process.stderr.read() == "", args
    assert pathlib.Path("stats.json").exists()
    for command in ("list", "docs pipeline", "schema", "--help"):
        shell = f"set -o pipefail; '{BINARY}' {command} | (exec <&-; true)"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 141) and done.stderr == "", (command, done)


@test
def output_that_is_lost_is_a_failure():
    generator(3)
    for args in (["list"], ["docs"], ["docs", "pipeline"], ["schema"], ["version"], ["--help"], ["check", "p.yml"],
                 ["query", "SELECT 1"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([BINARY, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 13, (args, done.returncode)
        has(done.stderr, "stdout", "No space left")


@test
def limits_of_the_engine_are_named():
    generator(3, extra="engine: {threads: 100000}\n")
    has(code(aq("run", "p.yml"), 10).stderr, "p.yml:9:19", "1 to 1024")
    columns = "{id: i, s: \"repeat('x', 100) || i\"}"
    generator(500_000, columns=columns, sql="SELECT s, count(*) AS n FROM batch GROUP BY s", sink="noop: {}",
              extra="batch: {rows: 1_000_000, interval: 1m}\nengine: {memory: 20MiB, threads: 2}\n")
    done = code(aq("run", "p.yml"), 13)
    has(done.stderr, "p.yml:6:6", "out of memory", "`engine.memory` (20MiB now)", "`engine.temp_directory`", "`engine.threads`")
    assert "SET " not in done.stderr, done.stderr
    hungry = "SELECT s, count(*) FROM (SELECT repeat('x', 100) || range AS s FROM range(5_000_000)) GROUP BY s"
    has(code(aq("query", "p.yml", hungry), 13).stderr, "`engine.memory` (20MiB now)")
    has(code(aq("query", "SET memory_limit = '10MB'; " + hungry), 13).stderr, "out of memory", "SET temp_directory")


@test
def foreign_state_ends_with_14():
    write("a.jsonl", '{"a": 1}\n')
    text = "pipeline: {}\nsource: {{file: {{path: a.jsonl}}}}\nsink: console\nstate: state\n"
    write("p.yml", text.format("one"))
    code(aq("run", "p.yml"), 0)
    write("p.yml", text.format("two"))
    has(code(aq("run", "p.yml"), 14).stderr, "one")


@test
def two_runs_over_one_state_folder_do_not_mix():
    generator(None, sink="file: {path: out.jsonl}", extra="state: state\n")
    first = subprocess.Popen([BINARY, "run", "p.yml"], stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: pathlib.Path("out.jsonl").exists(), "the first run's start")
        has(code(aq("run", "p.yml"), 14).stderr, "state folder ./state is in use", f"process {first.pid}", "stop")
        code(aq("check", "p.yml"), 0)
        code(aq("query", "SELECT count(*) FROM 'out.jsonl'"), 0)
        # Another state, but the same file:
        has(code(aq("run", "p.yml", "--set", "state=other"), 14).stderr, "out.jsonl is being written")
    finally:
        first.send_signal(signal.SIGTERM)
        has(first.communicate(timeout=30)[1], "rows written")
    assert first.returncode == 0
    ids = [row["id"] for row in rows_of(pathlib.Path("out.jsonl").read_text())]
    assert ids == list(range(len(ids))), "rows are missing"
    code(aq("run", "p.yml", "--max-messages", "10"), 0)


@test
def a_lock_ends_with_its_process():
    generator(None, sink="file: {path: out.jsonl}", extra="state: state\n")
    first = subprocess.Popen([BINARY, "run", "p.yml"], stderr=subprocess.PIPE, text=True)
    wait_for(lambda: pathlib.Path("out.jsonl").exists(), "the first run's start")
    first.kill()
    first.communicate()
    code(aq("run", "p.yml", "--max-messages", "10"), 0)


# --- signals ---
def started(name="p.yml", *args):
    process = subprocess.Popen([BINARY, "run", name, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline(), process.stderr.read()
    return process


@test
def sigterm_delivers_and_ends_with_0():
    for number in (signal.SIGTERM, signal.SIGINT):
        generator(None, more="    rate: 1000\n    batch: 10\n", extra="batch: {rows: 100}\n")
        process = started("p.yml", "--stats-json", "stats.json")
        process.send_signal(number)
        out, err = process.stdout.read(), process.stderr.read()
        assert process.wait(timeout=20) == 0, (process.returncode, err)
        has(err, "stopping")
        stats = json.loads(pathlib.Path("stats.json").read_text())
        assert stats["rows_written"] == stats["rows_decoded"] == len(out.splitlines()) + 1, stats


@test
def a_second_signal_ends_at_once_with_15():
    # The first line is taken, then the pipe fills and the sink hangs in its write.
    generator(None, columns="{id: \"repeat('x', 1000)\"}")
    process = started()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 15, process.returncode


@test
def a_sink_that_blocks_cannot_outlast_the_drain_time():
    # Nobody empties the pipe any more: the write in the middle of a batch never returns.
    for both in (False, True):  # whether the log goes into the same pipe
        generator(None, columns="{id: \"repeat('x', 1000)\"}", extra="drain: 500ms\n")
        process = subprocess.Popen([BINARY, "run", "p.yml"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT if both else subprocess.PIPE, text=True)
        while not process.stdout.readline().startswith("{"):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 15, process.returncode
        if not both:
            has(process.stderr.read(), "drain time of 500ms", "sink 'console'", "nothing undelivered was acknowledged")
