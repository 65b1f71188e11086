#include <gtest/gtest.h>

#include "config/loader.h"
#include "connectors/noop/component.h"
#include "tests/support/conformance_sink.h"

namespace aqueduck {
namespace {

TEST(Noop, Conforms) {
  config::Faults faults;
  const auto node = config::load_text("{}", "n.yml", config::process_environment(), faults);
  ASSERT_TRUE(node);
  const auto factory = noop_sink().parse(*node, faults);
  ASSERT_TRUE(faults.empty()) << faults.to_error().message;
  const conformance::Inapplicable nothing{"rows are dropped: there is no place that could be away, or refuse them"};
  conformance::check_sink({[] {}, [&] { return factory->make({}); }, conformance::Inapplicable{"it keeps none"},
                           nothing, nothing, nothing, true});
}

}  // namespace
}  // namespace aqueduck
