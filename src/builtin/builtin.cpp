#include "builtin/builtin.h"

#include "codecs/csv/component.h"
#include "codecs/json/component.h"
#include "codecs/raw/component.h"
#include "connectors/console/component.h"
#include "connectors/noop/component.h"

namespace aqueduck {

const Registry& builtin_registry() {
  static const Registry registry = [] {
    Registry all;
    all.decoders = {csv_decoder(), json_decoder(), raw_decoder()};
    all.sinks = {console_sink(), noop_sink()};
    return all;
  }();
  return registry;
}

}  // namespace aqueduck
