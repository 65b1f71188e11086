#include "app/cli/command.h"

namespace aqueduck::app {

const std::vector<AddCommand>& commands() {
  static const std::vector<AddCommand> all = {add_run, add_check, add_test, add_version};
  return all;
}

}  // namespace aqueduck::app
