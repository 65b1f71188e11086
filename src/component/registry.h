#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "component/context.h"
#include "component/decoder.h"
#include "component/rehearsal.h"
#include "component/sink.h"
#include "component/source.h"
#include "config/faults.h"
#include "config/node.h"
#include "config/object_spec.h"

namespace aqueduck {

enum class ComponentKind { source, decoder, sink };
std::string_view name(ComponentKind kind);

/// A column that a source can add to a message's row: "_key", "_topic" …
struct MetadataColumn {
  enum class What { key, topic, partition, offset, timestamp, headers };
  std::string name;
  What what = What::key;
};

/// What a configured component is before anything is opened: made by parsing alone, without I/O.
template <typename Component>
class Factory {
 public:
  virtual ~Factory() = default;
  /// Makes a component that isn't open yet. No I/O. One per worker.
  virtual std::unique_ptr<Component> make(const ComponentContext& context) const = 0;
};
class SourceFactory : public Factory<Source> {
 public:
  /// A source may give rows that need no decoder (parquet, generator).
  virtual bool gives_rows() const { return false; }
  virtual std::vector<MetadataColumn> metadata() const { return {}; }
  /// Whether its partitions are named topic/number.
  virtual bool names_topics() const { return false; }
  /// Whether there is a share for each of several workers.
  virtual bool divisible() const { return true; }
  /// The default decoder's name where the pipeline has no `decode:` ("json"), for sources of messages.
  virtual std::string default_decoder() const { return "json"; }
};
using DecoderFactory = Factory<Decoder>;
class SinkFactory : public Factory<Sink> {
 public:
  virtual SinkTraits traits() const = 0;
  /// The one file that it writes, which no other sink may write meanwhile; empty where there is none such. `directory`
  /// is where relative paths start.
  virtual std::filesystem::path file(const std::filesystem::path& /*directory*/) const { return {}; }
  /// The DuckDB file that it opens by itself, which the pipeline's SQL must not attach: one process can't safely open a
  /// file twice. Empty where there is none.
  virtual std::filesystem::path database(const std::filesystem::path& /*directory*/) const { return {}; }
  /// The sink with its target below `folder`, for `aqueduck test`.
  virtual Rehearsal rehearse(const std::filesystem::path& /*folder*/) const { return {}; }
};

/// A registered component: its table, and how its configuration becomes a factory. `parse` adds faults and may return
/// null if it added any.
template <typename F>
struct ComponentType {
  const config::ObjectInfo* info = nullptr;
  std::function<std::unique_ptr<F>(const config::Node&, config::Faults&)> parse;
  std::string example;  ///< YAML of the component alone, checked by CI
};

/// All components of the binary: filled once by builtin, then read-only.
class Registry {
 public:
  std::vector<ComponentType<SourceFactory>> sources;
  std::vector<ComponentType<DecoderFactory>> decoders;
  std::vector<ComponentType<SinkFactory>> sinks;

  /// Reads `{kafka: {…}}` (or `console` alone, for one that needs no settings): exactly one key, that names a component
  /// of the kind; else a fault with the nearest known name. Null where faults were added.
  std::unique_ptr<SourceFactory> source(const config::Node& node, config::Faults& faults) const;
  std::unique_ptr<DecoderFactory> decoder(const config::Node& node, config::Faults& faults) const;
  std::unique_ptr<SinkFactory> sink(const config::Node& node, config::Faults& faults) const;
};

}  // namespace aqueduck
