// Prints the milliseconds that a 2,048-row batch costs from run() to its result, as the median of 2,000; the answer is
// checked first.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "sql/database.h"

int main() {
  using namespace aqueduck;
  auto database = sql::Database::open({});
  if (!database) return 1;
  auto session = (*database)->connect();
  auto maker = (*database)->connect();
  if (!session || !maker) return 1;
  auto rows = (*maker)->query("SELECT range % 5 AS k, range AS v, 'text ' || range AS t FROM range(2048)");
  auto batch = rows ? (*rows)->next() : sql::SqlResult<RecordBatch>();
  auto script = (*session)->script("SELECT k, count(*) AS n, sum(v) AS v FROM batch WHERE v >= 0 GROUP BY k");
  if (!rows || !batch || !script) return 1;

  std::int64_t groups = 0;
  const auto once = [&] {
    groups = 0;
    return (*script)->run({*batch}, [&](const RecordBatch& result) -> Result<void> {
      groups += result.rows();
      return {};
    });
  };
  if (!once() || groups != 5) return 1;
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    const auto before = std::chrono::steady_clock::now();
    if (!once() || groups != 5) return 1;
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count());
  }
  std::nth_element(times.begin(), times.begin() + 1000, times.end());
  std::printf("%.4f ms\n", times[1000]);
  return 0;
}
