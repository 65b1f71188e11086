// Prints the milliseconds that a 2,048-row batch costs from run() to its result, and those of the engine's own prepared
// statement over a table of the same rows; each the median of 2,000, its answer checked every time.
#include <duckdb.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "sql/database.h"

namespace {

constexpr int kRuns = 2000;
constexpr const char* kRows = "SELECT range % 5 AS k, range AS v, 'text ' || range AS t FROM range(2048)";
constexpr const char* kQuery = "SELECT k, count(*) AS n, sum(v) AS v FROM batch WHERE v >= 0 GROUP BY k";

/// Median milliseconds of `once`, which returns whether its answer is right; negative where one was wrong.
template <typename Once>
double median(const Once& once) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const auto before = std::chrono::steady_clock::now();
    if (!once()) return -1;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count());
  }
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

double query_alone() {
  duckdb_database database = nullptr;
  duckdb_connection connection = nullptr;
  duckdb_prepared_statement statement = nullptr;
  const std::string fill = std::string("CREATE TABLE batch AS ") + kRows;
  double out = -1;
  if (duckdb_open(nullptr, &database) == DuckDBSuccess && duckdb_connect(database, &connection) == DuckDBSuccess &&
      duckdb_query(connection, fill.c_str(), nullptr) == DuckDBSuccess &&
      duckdb_prepare(connection, kQuery, &statement) == DuckDBSuccess) {
    out = median([&] {
      duckdb_result result;
      const bool done = duckdb_execute_prepared(statement, &result) == DuckDBSuccess && duckdb_row_count(&result) == 5;
      duckdb_destroy_result(&result);
      return done;
    });
  }
  duckdb_destroy_prepare(&statement);
  duckdb_disconnect(&connection);
  duckdb_close(&database);
  return out;
}

}  // namespace

int main() {
  using namespace aqueduck;
  auto database = sql::Database::open({});
  if (!database) return 1;
  auto session = (*database)->connect();
  auto maker = (*database)->connect();
  if (!session || !maker) return 1;
  auto rows = (*maker)->query(kRows);
  auto batch = rows ? (*rows)->next() : sql::SqlResult<RecordBatch>();
  auto script = (*session)->script(kQuery);
  if (!rows || !batch || !script) return 1;

  std::int64_t groups = 0;
  const auto once = [&] {
    groups = 0;
    return (*script)->run({*batch}, [&](const RecordBatch& result) -> Result<void> {
      groups += result.rows();
      return {};
    });
  };
  const double whole = median([&] { return once() && groups == 5; });
  const double query = query_alone();
  if (whole < 0 || query < 0) return 1;
  std::printf("%.4f %.4f ms\n", whole, query);
  return 0;
}
