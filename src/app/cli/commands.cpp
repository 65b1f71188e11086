#include "app/cli/command.h"

namespace aqueduck::app {

const std::vector<AddCommand>& commands() {
  static const std::vector<AddCommand> all = {add_new,  add_check, add_run,    add_test,   add_query,
                                              add_list, add_docs,  add_schema, add_version};
  return all;
}

}  // namespace aqueduck::app
