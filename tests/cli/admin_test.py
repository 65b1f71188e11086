"""The `admin:` listener of a running pipeline."""
import json
import re
import signal
import subprocess
import urllib.error
import urllib.request

from command_line import BINARY, aq, code, generator, has, wait_for, test


# --- admin ---
def watched(extra=""):
    """A pipeline that runs until it is stopped, and how to ask it."""
    generator(None, sink="file: {path: out.jsonl}", more="    rate: 1000\n    batch: 10\n",
              extra="batch: {rows: 100}\nadmin: {listen: 127.0.0.1:0}\n" + extra)
    process = subprocess.Popen([BINARY, "run", "p.yml"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        found = re.search(r"admin: listening on (http://127\.0\.0\.1:\d+)", line)
        if found:
            return process, found[1]
    raise AssertionError("it said no address")


def fetch(url, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@test
def a_running_pipeline_can_be_watched():
    process, url = watched()
    try:
        wait_for(lambda: fetch(url + "/readyz")[0] == 200, "ready")
        assert json.loads(fetch(url + "/readyz")[1]) == {"ready": True, "reasons": []}
        assert json.loads(fetch(url + "/healthz")[1]) == {"status": "ok"}
        wait_for(lambda: json.loads(fetch(url + "/stats")[1])["totals"]["commits"] > 0, "a commit")
        stats = json.loads(fetch(url + "/stats")[1])
        assert stats["pipeline"] == "p" and stats["source"] == "generator" and stats["sink"] == "file", stats
        assert stats["totals"]["messages"] >= stats["totals"]["rows_written"] > 0, stats
        assert stats["workers"][0]["phase"] == "running" and stats["last_commit"], stats
        metrics = fetch(url + "/metrics")[1]
        has(metrics, 'aqueduck_ready{pipeline="p"} 1\n', "# TYPE aqueduck_rows_written_total counter\n")
        has(fetch(url + "/")[1], "/metrics", "/healthz", "/readyz", "/stats")
        assert fetch(url + "/nothing")[0] == 404
        assert fetch(url + "/stats", "POST")[0] == 405
        assert fetch(url + "/stats", "HEAD") == (200, "")
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0


@test
def an_admin_address_in_use_is_exit_code_10():
    process, url = watched()
    try:
        port = url.rsplit(":", 1)[1]
        done = code(aq("run", "p.yml", "--set", f"admin.listen={port}"), 10)
        has(done.stderr, f"127.0.0.1:{port}", "in use")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


@test
def an_open_admin_address_is_warned_about():
    generator(3, extra="admin: {listen: '0.0.0.0:0'}\n")
    has(code(aq("check", "p.yml"), 0).stdout, "warning: admin:", "no authentication")
    has(code(aq("run", "p.yml"), 0).stderr, "no authentication")
    generator(3, extra="admin: {listen: 0}\n")
    assert "warning" not in code(aq("check", "p.yml"), 0).stdout


@test
def a_bad_admin_address_has_its_place():
    generator(3, extra="admin: {listen: localhost}\n")
    has(code(aq("check", "p.yml"), 10).stderr, "p.yml:9:17", "'localhost'", "127.0.0.1:8080")
