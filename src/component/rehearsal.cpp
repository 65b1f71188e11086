#include "component/rehearsal.h"

namespace aqueduck {

std::filesystem::path rehearsal_path(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const std::filesystem::path plain = path.lexically_normal();
  const bool outside = plain.is_absolute() || (!plain.empty() && *plain.begin() == "..");
  std::filesystem::path out = outside ? folder / "outside" : folder;
  for (const auto& part : plain.relative_path()) {
    if (part != "..") out /= part;
  }
  std::error_code ignored;  // the sink says what is wrong
  std::filesystem::create_directories(out.parent_path(), ignored);
  return out;
}

}  // namespace aqueduck
