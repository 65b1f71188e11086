#include "golden/verdict.h"

#include <algorithm>

#include "base/file.h"
#include "base/secret.h"
#include "golden/rows.h"
#include "sql/database.h"

namespace aqueduck::golden {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path expected_rows(const Case& test, const SinkContents& rows) {
  fs::path csv = test.folder / "expected.csv";
  fs::path lines = test.folder / "expected.jsonl";
  if (is_there(lines)) return lines;
  return is_there(csv) || rows.form == SinkContents::Form::csv ? csv : lines;
}
// `files:` may say all that there is to compare.
bool compares_contents(const Case& test, const fs::path& expected) {
  const auto& files = test.config.files;
  if (files.empty()) return true;
  const std::string name = expected.filename().string();
  return is_there(expected) &&
         std::none_of(files.begin(), files.end(), [&](const auto& f) { return f.second == name; });
}
fs::path expected_letters(const Case& test) { return test.folder / "expected.dead.jsonl"; }

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n";
}

std::string headed(const std::string& heading, const std::string& lines) { return "  " + heading + ":\n" + lines; }

Result<std::vector<Row>> rows_of(std::string_view text, const fs::path& expected, const std::string& name) {
  if (expected.extension() == ".csv") return rows_of_csv(text);
  return rows_of_json_lines(text, name);
}

Result<std::string> text_of(const std::vector<RecordBatch>& batches, const fs::path& expected) {
  return expected.extension() == ".csv" ? csv_text(batches) : json_lines(batches);
}

Result<std::string> text_of(const SinkContents& held, const fs::path& expected) {
  if (held.form == SinkContents::Form::rows) return text_of(held.rows, expected);
  const bool csv = held.form == SinkContents::Form::csv;
  if (csv == (expected.extension() == ".csv")) return held.text;
  return fail(ErrorKind::config, "the sink writes {}, which can't be compared with {}: rename that file to {}",
              csv ? "CSV" : "JSON lines", expected.filename().string(),
              expected.stem().string() + (csv ? ".csv" : ".jsonl"));
}

// Dead letters as lines. The folder, which is another one for every user, is cut off the places that errors name.
Result<std::string> letters_text(const Case& test, const SinkContents& letters, const Workspace& workspace) {
  if (letters.form == SinkContents::Form::csv && !letters.text.empty()) {
    return fail(ErrorKind::config, "the dead letters are CSV: compare them as a file, with `files:`");
  }
  AQ_ASSIGN(std::string text,
            letters.form == SinkContents::Form::rows ? json_lines(letters.rows) : Result<std::string>(letters.text));
  for (const std::string& folder : {(test.folder / "").string(), (workspace.folder() / "").string()}) {
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
      text.erase(at, folder.size());
    }
  }
  return text;
}

Result<std::string> compare_texts(const Case& test, const fs::path& expected, const std::string& actual, bool letters) {
  AQ_ASSIGN(const std::string wanted_text, read_file(expected));
  const std::string name = expected.filename().string();
  AQ_ASSIGN(auto wanted, rows_of(wanted_text, expected, name));
  AQ_ASSIGN(auto got, rows_of(actual, expected, "the run's rows"));
  if (letters && !wanted.empty()) {
    AQ_ASSIGN(got, narrowed(got, wanted));
  }
  const auto found = difference(std::move(wanted), std::move(got), test.config.ordered, expected.extension() == ".csv");
  return found ? headed(name, *found) : std::string();
}

Result<std::string> check_rows(const Case& test, const Attempt& attempt) {
  const fs::path expected = expected_rows(test, attempt.rows);
  if (!compares_contents(test, expected)) return std::string();
  if (!is_there(expected)) {
    if (test.config.errors) return std::string();
    return std::string("  there is no expected.jsonl or expected.csv to compare with; --update writes one\n");
  }
  AQ_ASSIGN(const std::string text, text_of(attempt.rows, expected));
  return compare_texts(test, expected, text, false);
}

Result<std::string> check_letters(const Case& test, const Attempt& attempt, const Workspace& workspace) {
  const fs::path expected = expected_letters(test);
  if (!compares_contents(test, expected)) return std::string();
  AQ_ASSIGN(const std::string text, letters_text(test, attempt.dead_letters, workspace));
  if (!is_there(expected)) {
    if (text.empty()) return std::string();
    AQ_ASSIGN(const auto rows, rows_of_json_lines(text, "dead letters"));
    const auto found = difference({}, rows, true);
    return headed("dead letters came, but there is no expected.dead.jsonl", found.value_or(""));
  }
  return compare_texts(test, expected, text, true);
}

// Types as the engine spells them, whatever the case calls them.
Result<std::vector<std::string>> spelled(sql::Session& session,
                                         const std::vector<std::pair<std::string, std::string>>& columns) {
  std::size_t column = 0;
  auto schema = session.schema_of(columns, &column);
  if (!schema) {
    return fail(with_context(schema.error().error,
                             column < columns.size() ? "columns: " + columns[column].first : std::string("columns")));
  }
  auto names = session.type_names(*schema);
  if (!names) return fail(names.error().error);
  return std::move(*names);
}

Result<std::string> check_columns(const Case& test, const Attempt& attempt) {
  if (test.config.columns.empty()) return std::string();
  const auto& rows = attempt.rows.rows;
  const auto schema = rows.empty() ? attempt.output : rows.back().schema;
  if (schema == nullptr) return std::string("  columns: no rows came, so their types aren't known\n");
  AQ_ASSIGN(const auto database, sql::Database::open({}));
  AQ_ASSIGN(const auto session, database->connect());
  AQ_ASSIGN(const auto wanted, spelled(*session, test.config.columns));
  auto got = session->type_names(*schema);
  if (!got) return fail(got.error().error);
  std::vector<Row> expected;
  std::vector<Row> actual;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string text = test.config.columns[i].first + ": " + wanted[i];
    expected.push_back({text, text});
  }
  for (std::size_t i = 0; i < schema->size(); ++i) {
    const std::string text = std::string(schema->name(i)) + ": " + (*got)[i];
    actual.push_back({text, text});
  }
  const auto found = difference(expected, actual, true);
  return found ? headed("columns", *found) : std::string();
}

// What a file holds, in the form of the expected file.
Result<std::string> produced_text(const fs::path& produced, const fs::path& expected) {
  const bool pattern = produced.string().find_first_of("*?[") != std::string::npos;
  if (!pattern && !is_there(produced)) return fail(ErrorKind::config, "the run made no such file");
  const std::string kind = produced.extension().string();
  if (kind == ".parquet" || (kind == ".arrow" && expected.extension() != ".arrow")) {
    AQ_ASSIGN(const auto rows, read_rows(produced));
    return text_of(rows, expected);
  }
  return read_file(produced);
}

Result<std::string> check_file(const Case& test, const fs::path& produced, const fs::path& expected) {
  if (!is_there(expected)) {
    return fmt::format("  there is no {} to compare with; --update writes it\n", expected.filename().string());
  }
  auto text = produced_text(produced, expected);
  if (!text) return headed(produced.filename().string(), indented(text.error().message));
  const std::string kind = expected.extension().string();
  if (kind == ".jsonl" || kind == ".csv") return compare_texts(test, expected, *text, false);
  AQ_ASSIGN(const std::string wanted, read_file(expected));
  if (wanted == *text) return std::string();
  const auto lines = difference(rows_of_csv(wanted), rows_of_csv(*text), true);
  return headed(expected.filename().string(), lines.value_or("    its bytes differ\n"));
}

std::string check_failure(const Case& test, const Attempt& attempt) {
  const auto& wanted = test.config.errors;
  if (!attempt.failure) {
    if (!wanted) return "";
    return fmt::format("  the pipeline was to fail with exit code {}, but it ended well\n", wanted->exit);
  }
  const std::string message = redact(attempt.failure->error.message);
  const int code = static_cast<int>(attempt.failure->code);
  if (!wanted) return headed(fmt::format("the pipeline failed with exit code {}", code), indented(message));
  std::string out;
  if (code != wanted->exit) out += fmt::format("    exit code {} expected, got {}\n", wanted->exit, code);
  for (const auto& text : wanted->contains) {
    if (message.find(text) == std::string::npos) out += fmt::format("    the error lacks: {}\n", text);
  }
  for (const auto& text : wanted->lacks) {
    if (message.find(text) != std::string::npos) out += fmt::format("    the error contains: {}\n", text);
  }
  return out.empty() ? out : headed("error", out + "    it says:\n" + indented(message));
}

void add(std::string& out, const Result<std::string>& part) { out += part ? *part : indented(part.error().message); }

Result<void> write_rows(const std::string& text, const fs::path& path, bool ordered) {
  if (ordered) return replace_file(path, text);
  AQ_ASSIGN(auto rows, rows_of(text, path, path.filename().string()));
  return replace_file(path, sorted_text(std::move(rows), path.extension() == ".csv"));
}

}  // namespace

std::string verdict(const Case& test, const Attempt& attempt, const Workspace& workspace) {
  std::string out = check_failure(test, attempt);
  if (attempt.failure && !test.config.errors) return out;
  add(out, check_rows(test, attempt));
  add(out, check_letters(test, attempt, workspace));
  add(out, check_columns(test, attempt));
  for (const auto& [produced, expected] : test.config.files) {
    add(out, check_file(test, workspace.folder() / produced, test.folder / expected));
  }
  return out;
}

Result<void> update_expected(const Case& test, const Attempt& attempt, const Workspace& workspace) {
  if (attempt.failure && !test.config.errors) return {};
  const bool ordered = test.config.ordered;
  for (const auto& [produced, expected] : test.config.files) {
    const fs::path path = test.folder / expected;
    AQ_ASSIGN(const std::string text, produced_text(workspace.folder() / produced, path));
    const bool rows = path.extension() == ".jsonl" || path.extension() == ".csv";
    AQ_TRY(rows ? write_rows(text, path, ordered) : replace_file(path, text));
  }
  const fs::path rows = expected_rows(test, attempt.rows);
  if (compares_contents(test, rows) && (!test.config.errors || is_there(rows))) {
    AQ_ASSIGN(const std::string text, text_of(attempt.rows, rows));
    AQ_TRY(write_rows(text, rows, ordered));
  }
  const fs::path letters = expected_letters(test);
  if (!compares_contents(test, letters)) return {};
  AQ_ASSIGN(const std::string all, letters_text(test, attempt.dead_letters, workspace));
  if (!all.empty() || is_there(letters)) {
    std::vector<Row> before;
    if (is_there(letters)) {
      AQ_ASSIGN(const std::string old, read_file(letters));
      AQ_ASSIGN(before, rows_of_json_lines(old, letters.filename().string()));
    }
    AQ_ASSIGN(const std::string text, chosen_columns(all, before));
    AQ_TRY(write_rows(text, letters, ordered));
  }
  return {};
}

}  // namespace aqueduck::golden
