#include "connectors/kafka/component.h"

#include <algorithm>

#include "base/file.h"
#include "connectors/kafka/kafka_rehearsal.h"
#include "connectors/kafka/kafka_sink.h"
#include "connectors/kafka/kafka_source.h"

namespace aqueduck {

namespace {

class KafkaSourceFactory final : public SourceFactory {
 public:
  explicit KafkaSourceFactory(KafkaSourceConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Source> make(const ComponentContext& context) const override {
    return std::make_unique<KafkaSource>(config_, context);
  }
  bool names_topics() const override { return true; }
  std::vector<MetadataColumn> metadata() const override {
    std::vector<MetadataColumn> wanted;
    for (const MetadataColumn& column : kafka_metadata()) {
      if (std::find(config_.metadata.begin(), config_.metadata.end(), column.name) != config_.metadata.end()) {
        wanted.push_back(column);
      }
    }
    return wanted;
  }

 private:
  KafkaSourceConfig config_;
};

class KafkaSinkFactory final : public SinkFactory {
 public:
  explicit KafkaSinkFactory(KafkaSinkConfig config) : config_(std::move(config)) {}
  std::unique_ptr<Sink> make(const ComponentContext& context) const override {
    return std::make_unique<KafkaSink>(config_, context);
  }
  SinkTraits traits() const override { return kafka_sink_traits(); }
  Rehearsal rehearse(const std::filesystem::path& folder) const override;

 private:
  KafkaSinkConfig config_;
};

class KafkaRehearsalFactory final : public SinkFactory {
 public:
  KafkaRehearsalFactory(KafkaSinkConfig config, std::filesystem::path path)
      : config_(std::move(config)), path_(std::move(path)) {}
  std::unique_ptr<Sink> make(const ComponentContext& /*context*/) const override {
    return std::make_unique<KafkaRehearsal>(config_, path_);
  }
  SinkTraits traits() const override { return kafka_sink_traits(); }

 private:
  KafkaSinkConfig config_;
  std::filesystem::path path_;
};

Rehearsal KafkaSinkFactory::rehearse(const std::filesystem::path& folder) const {
  const auto path = rehearsal_path(folder / "outside" / "kafka", config_.topic + ".messages.jsonl");
  return {std::make_unique<KafkaRehearsalFactory>(config_, path), [path]() -> Result<SinkContents> {
            SinkContents out;
            out.form = SinkContents::Form::json_lines;
            std::error_code ignored;
            if (!std::filesystem::exists(path, ignored)) return out;
            AQ_ASSIGN(out.text, read_file(path));
            return out;
          }};
}

std::unique_ptr<SourceFactory> parse_source(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = kafka_source_spec().read(node, faults);
  if (faults.all().size() == before) check_kafka_source(config, node, faults);
  if (faults.all().size() != before) return nullptr;
  return std::make_unique<KafkaSourceFactory>(std::move(config));
}

std::unique_ptr<SinkFactory> parse_sink(const config::Node& node, config::Faults& faults) {
  const std::size_t before = faults.all().size();
  auto config = kafka_sink_spec().read(node, faults);
  if (faults.all().size() == before) check_kafka_sink(config, node, faults);
  if (faults.all().size() != before) return nullptr;
  return std::make_unique<KafkaSinkFactory>(std::move(config));
}

}  // namespace

const ComponentType<SourceFactory>& kafka_source() {
  static const ComponentType<SourceFactory> type{
      &kafka_source_spec().info(), parse_source,
      "kafka: {brokers: [localhost:9092], topics: [events], group: page-views, start: earliest}\n"};
  return type;
}

const ComponentType<SinkFactory>& kafka_sink() {
  static const ComponentType<SinkFactory> type{&kafka_sink_spec().info(), parse_sink,
                                               "kafka: {brokers: [localhost:9092], topic: views}\n"};
  return type;
}

}  // namespace aqueduck
