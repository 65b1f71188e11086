#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/node/node.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <unordered_map>

#include "config/source_text.h"

namespace aqueduck::config {
namespace {

constexpr std::size_t kMostValues = 100'000;

// Ends parsing from within the parser's callbacks; caught in parse().
struct Abandoned {};

// Builds the tree from the parser's events. Used once, by parse().
class Builder : public YAML::EventHandler {
 public:
  Builder(SourceText& source, Faults& faults) : source_(source), faults_(faults) {}

  Node take_root() {
    for (const Faults::Fault& fault : odd_keys_.all()) faults_.add_text(fault.where, fault.message);
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) abandon(mark, "a second document ('---') begins here: a file holds one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    if (wants_key()) {
      const std::string_view rest = std::string_view(source_.masked()).substr(position(mark));
      std::size_t end = rest.find_first_not_of("nulNUL~");
      take_key(mark, std::string(rest.substr(0, std::min(end, rest.size()))));
      return;
    }
    Node node = make(Node::Kind::null, mark);
    node.where = place_of_nothing(mark);
    put(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_aliases(mark); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (tag == "!" && !source_.is_closed(position(mark))) abandon(mark, "a quote is not closed");
    if (wants_key()) {
      take_key(mark, value);
      return;
    }
    Node node = make(Node::Kind::scalar, mark);
    node.quoted = tag == "!";
    node.origins = source_.origins(position(mark), value, node.block_indent);
    node.text = value;
    SourceText::unmask(node.text);
    put(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that is being read. `key`: of a map, what waits for its value; `dropped`: nobody wants that value.
  struct Open {
    Node node;
    std::optional<std::pair<std::string, Location>> key;
    bool dropped = false;
    std::unordered_map<std::string, int> seen;
  };

  std::size_t position(const YAML::Mark& mark) const {
    return mark.pos < 0 ? source_.masked().size()
                        : std::min(static_cast<std::size_t>(mark.pos), source_.masked().size());
  }
  Location locate(const YAML::Mark& mark) { return source_.locate(position(mark)); }

  [[noreturn]] void abandon(const YAML::Mark& mark, std::string message) {
    faults_.add_text(locate(mark), std::move(message));
    throw Abandoned{};
  }

  bool wants_key() const { return !open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().key; }

  void refuse_aliases(const YAML::Mark& mark) {
    abandon(mark, "anchors and aliases ('&name', '*name') are not supported: write the value out, or quote the text");
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) refuse_aliases(mark);
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    const std::size_t at = position(mark);
    const bool written = at < source_.masked().size() && source_.masked()[at] == '!';
    if (written || (!tag.empty() && tag != "?" && tag != "!")) {
      abandon(mark, "tags ('!name') are not supported: leave it away, or quote the text");
    }
  }

  Node make(Node::Kind kind, const YAML::Mark& mark) {
    if (++values_ > kMostValues) {
      abandon(mark, fmt::format("more than {} values: no configuration should be that large", kMostValues));
    }
    Node node;
    node.kind = kind;
    node.where = locate(mark);
    return node;
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() >= kDeepest) abandon(mark, fmt::format("nested deeper than {} levels", kDeepest));
    if (wants_key()) {
      odd_keys_.add(locate(mark), "a key must be text, not {}", describe(kind));
      open_.back().key.emplace();
      open_.back().dropped = true;
      key_depths_.push_back(open_.size());
    }
    open_.emplace_back().node = make(kind, mark);
  }

  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    if (!key_depths_.empty() && key_depths_.back() == open_.size()) {
      // That was the list or map in a key's place; its value follows, and is dropped with it.
      key_depths_.pop_back();
      return;
    }
    put(std::move(node));
  }

  void take_key(const YAML::Mark& mark, std::string key) {
    ++values_;
    SourceText::unmask(key);
    Open& map = open_.back();
    Location where = locate(mark);
    if (key.empty()) {
      faults_.add(where, "a key is missing before the ':'");
      map.dropped = true;
    } else if (const auto [first, is_new] = map.seen.emplace(key, where.line); !is_new) {
      faults_.add(where, "'{}' is given twice (first in line {}): keep one", shown(key), first->second);
      map.dropped = true;
    }
    map.key.emplace(std::move(key), std::move(where));
  }

  void put(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (!parent.dropped) {
      parent.node.entries.push_back({std::move(parent.key->first), std::move(parent.key->second), std::move(node)});
    }
    parent.key.reset();
    parent.dropped = false;
  }

  // The parser reports a value that isn't there where the next thing stands, which may be lines away.
  Location place_of_nothing(const YAML::Mark& mark) {
    if (open_.empty()) return locate(mark);
    const std::string_view text = source_.masked();
    std::size_t at = position(mark);
    if (at < text.size() && std::string_view("~nN").find(text[at]) != std::string_view::npos) return locate(mark);
    if (open_.back().key) return open_.back().key->second;
    while (at > 0 && std::string_view(" \t\n").find(text[at - 1]) != std::string_view::npos) --at;
    return at > 0 && text[at - 1] == '-' ? source_.locate(at - 1) : locate(mark);
  }

  SourceText& source_;
  Faults& faults_;
  // Told only once the end was reached: the parser takes a '[' that is never closed for a key.
  Faults odd_keys_;
  Node root_;
  std::vector<Open> open_;
  std::vector<std::size_t> key_depths_;
  std::size_t values_ = 0;
  int documents_ = 0;
};

// What the parser says in its own terms, for people.
std::string explain(const std::string& message) {
  static const std::pair<std::string_view, std::string_view> kKnown[] = {
      {"illegal map value", "': ' may not stand here: quote a text that holds it, or check the indentation"},
      {"end of map not found", "this line doesn't go on with the map above it: check the indentation"},
      {"end of sequence not found", "this line doesn't go on with the list above it: check the indentation"},
      {"end of map flow not found", "a '{' is not closed by a '}'"},
      {"end of sequence flow not found", "a '[' is not closed by a ']'"},
      {"illegal tab", "a tab stands in the indentation: use spaces"},
      {"unknown token", "this character can't begin a value: quote the text"},
      {"illegal EOF in scalar", "a quote is not closed"},
      {"illegal document indicator", "a quote is not closed before the end of the document"},
      {"unknown escape character",
       "an unknown escape in double quotes: write '\\\\' for a backslash, or use single quotes"},
      {"illegal flow end", "a '}' or ']' closes nothing: quote the text, or open it"},
      {"illegal block entry", "'- ' may not stand here: begin a list on a line of its own"},
      {"illegal map key", "a map may not begin here: check the indentation"},
      {"unexpected character in block scalar", "after '|' or '>' only '+', '-' or a digit may stand in the line"},
      {"alias", "'*' begins an alias, which is not supported: quote the text"},
      {"anchor", "'&' and '*' begin anchors and aliases, which are not supported: quote the text"},
      {"tag", "'!' begins a tag, which is not supported: quote the text"},
  };
  for (const auto& [theirs, ours] : kKnown) {
    if (message.find(theirs) != std::string::npos) return std::string(ours);
  }
  return "not YAML: " + message;
}

}  // namespace

std::optional<Node> parse_yaml(std::string_view text, const std::string& name, Faults& faults) {
  SourceText source;
  if (!source.prepare(text, name, faults)) return std::nullopt;
  try {
    std::istringstream stream(source.masked());
    YAML::Parser parser(stream);
    Builder builder(source, faults);
    while (parser.HandleNextDocument(builder)) {
    }
    Node root = builder.take_root();
    if (root.where.file == nullptr) root.where = source.whole();
    return root;
  } catch (const Abandoned&) {
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    const bool placed = e.mark.pos >= 0;
    std::string message = explain(e.msg);
    SourceText::unmask(message);
    faults.add_text(placed ? source.locate(static_cast<std::size_t>(e.mark.pos)) : source.whole(), std::move(message));
    return std::nullopt;
  } catch (const std::exception& e) {
    faults.add(source.whole(), "cannot be read as YAML: {}", e.what());
    return std::nullopt;
  }
}

}  // namespace aqueduck::config
