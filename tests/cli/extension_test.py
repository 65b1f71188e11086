"""Extensions of the engine: tools/bootstrap puts one into .deps/extensions, and nothing is downloaded here."""
import pathlib
import sqlite3

from command_line import aq, code, has, test, write

EXTENSIONS = pathlib.Path(__file__).resolve().parents[2] / ".deps" / "extensions"
PIPELINE = f"""pipeline: p
setup:
  - INSTALL sqlite
  - LOAD sqlite
  - ATTACH 'out.sqlite' AS lite (TYPE sqlite)
  - CREATE TABLE IF NOT EXISTS lite.orders (id BIGINT, name VARCHAR, price DOUBLE)
engine: {{extension_directory: {EXTENSIONS}}}
source: {{file: {{path: in.jsonl}}}}
decode: {{json: {{schema: {{id: BIGINT, name: VARCHAR, price: DOUBLE}}}}}}
batch: {{rows: 2}}
sink: {{sql: INSERT INTO lite.orders SELECT * FROM batch}}
"""


@test
def an_extension_makes_sqlite_a_sink():
    write("in.jsonl", '{"id": 1, "name": "a", "price": 1.5}\n{"id": 2, "name": "it\'s"}\n{"id": 3, "price": -2}\n')
    write("p.yml", PIPELINE)
    code(aq("check", "p.yml"), 0)
    code(aq("run", "p.yml"), 0)
    with sqlite3.connect("out.sqlite") as database:
        rows = database.execute("SELECT id, name, price FROM orders ORDER BY id").fetchall()
    assert rows == [(1, "a", 1.5), (2, "it's", None), (3, None, -2.0)], rows
    done = code(aq("query", "p.yml", "SELECT count(*) AS n FROM lite.orders"), 0)
    has(done.stdout, '{"n":3}')


@test
def an_extension_that_is_not_there_is_a_fault_of_the_configuration():
    write("in.jsonl", "{}\n")
    write("p.yml", PIPELINE.replace("  - INSTALL sqlite\n", "").replace(str(EXTENSIONS), "none"))
    has(code(aq("run", "p.yml"), 10).stderr, "p.yml:3:", "sqlite")
