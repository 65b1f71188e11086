// kafka_consume BROKER TOPIC COUNT: messages per second of a bare librdkafka loop over one partition, which only adds
// up the payloads' sizes: what the pipelines of bench/run are compared with.
#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const long count = std::strtol(argv[3], nullptr, 10);
  char text[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", argv[1], text, sizeof text);
  rd_kafka_conf_set(conf, "queued.max.messages.kbytes", "65536", text, sizeof text);
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
  if (client == nullptr) return 1;
  rd_kafka_topic_t* topic = rd_kafka_topic_new(client, argv[2], nullptr);
  rd_kafka_consume_start(topic, 0, RD_KAFKA_OFFSET_BEGINNING);
  std::vector<rd_kafka_message_t*> messages(5000);
  long seen = 0;
  std::size_t bytes = 0;
  const auto before = std::chrono::steady_clock::now();
  while (seen < count) {
    const ssize_t got = rd_kafka_consume_batch(topic, 0, 1000, messages.data(), messages.size());
    for (ssize_t i = 0; i < got; ++i) {
      if (messages[static_cast<std::size_t>(i)]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        bytes += messages[static_cast<std::size_t>(i)]->len;
        ++seen;
      }
      rd_kafka_message_destroy(messages[static_cast<std::size_t>(i)]);
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  std::printf("%.0f %zu\n", static_cast<double>(seen) / took.count(), bytes);
  rd_kafka_consume_stop(topic, 0);
  rd_kafka_topic_destroy(topic);
  rd_kafka_destroy(client);
  return 0;
}
