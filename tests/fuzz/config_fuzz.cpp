// Any bytes as a configuration: no crash, every place within the text, every fault with a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/loader.h"
#include "config/object_spec.h"

namespace {

using namespace aqueduck::config;  // NOLINT(google-build-using-namespace)

struct Inner {
  std::string path;
  aqueduck::Duration wait{};
};
struct Outer {
  std::vector<std::string> topics;
  std::int32_t port = 1;
  double ratio = 1;
  bool follow = false;
  Bytes size;
  Count rows;
  int start = 0;
  aqueduck::Secret password;
  std::vector<Inner> inner;
  std::map<std::string, Inner> named;
  Node raw;
};

const ObjectSpec<Inner>& inner_spec() {
  static const ObjectSpec<Inner> spec =
      ObjectSpec<Inner>("inner", "Inner.",
                        {field("path", &Inner::path, "A path.").required(), field("wait", &Inner::wait, "A duration.")})
          .shorthand("path");
  return spec;
}

const ObjectSpec<Outer>& outer_spec() {
  static const ObjectSpec<Outer> spec(
      "outer", "Outer.",
      {field("topics", &Outer::topics, "Topics.").required(), field("port", &Outer::port, "A port."),
       field("ratio", &Outer::ratio, "A ratio."), field("follow", &Outer::follow, "Follow."),
       field("size", &Outer::size, "Bytes."), field("rows", &Outer::rows, "Rows."),
       choice("start", &Outer::start, {{"earliest", 0, "First."}, {"latest", 1, "Last."}}, "Start."),
       field("password", &Outer::password, "Secret."), object("inner", &Outer::inner, inner_spec(), "Inner."),
       object("named", &Outer::named, inner_spec(), "Named."), field("raw", &Outer::raw, "Raw.")});
  return spec;
}

void check_places(const Node& node) {
  if (node.where.line < 0 || node.where.column < 0) std::abort();
  for (std::size_t i = 0; i <= node.text.size(); i += 1 + node.text.size() / 16) {
    if (node.kind == Node::Kind::scalar && node.at(i).line < 1) std::abort();
  }
  for (const Node& item : node.items) check_places(item);
  for (const Node::Entry& entry : node.entries) check_places(entry.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // No file of this machine may become part of an input.
  if (text.find("file:") != std::string_view::npos) return 0;
  const Environment environment = [](const std::string& name) -> std::optional<std::string> {
    return name.size() % 2 == 0 ? std::optional<std::string>("value: ${X} " + name) : std::nullopt;
  };
  Faults faults;
  auto root = load_text(text, "fuzz.yml", environment, faults);
  if (!root && faults.empty()) std::abort();
  if (root) {
    check_places(*root);
    outer_spec().read(*root, faults);
    set_path(*root, text.substr(0, 200), faults);
  }
  for (const auto& fault : faults.all()) {
    if (fault.message.empty()) std::abort();
  }
  (void)faults.to_error();
  return 0;
}
