#include "builtin/builtin.h"

#include "codecs/csv/component.h"
#include "codecs/json/component.h"
#include "codecs/raw/component.h"
#include "connectors/console/component.h"
#include "connectors/duckdb/component.h"
#include "connectors/file/component.h"
#include "connectors/generator/component.h"
#include "connectors/kafka/component.h"
#include "connectors/noop/component.h"
#include "connectors/parquet/component.h"
#include "connectors/sql/component.h"
#include "connectors/stdin/component.h"

namespace aqueduck {

const Registry& builtin_registry() {
  static const Registry registry = [] {
    Registry all;
    all.decoders = {csv_decoder(), json_decoder(), raw_decoder()};
    all.sources = {file_source(), generator_source(), kafka_source(), stdin_source()};
    all.sinks = {console_sink(), duckdb_sink(), file_sink(), kafka_sink(), noop_sink(), parquet_sink(), sql_sink()};
    return all;
  }();
  return registry;
}

}  // namespace aqueduck
