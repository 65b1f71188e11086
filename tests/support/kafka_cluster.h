#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace aqueduck::testing {

/// Kafka's request types, as the mock cluster counts and fails them.
enum KafkaRequest : std::int16_t {
  kProduce = 0,
  kFetch = 1,
  kListOffsets = 2,
  kMetadata = 3,
  kOffsetCommit = 8,
  kOffsetFetch = 9,
  kJoinGroup = 11,
  kHeartbeat = 12,
  kLeaveGroup = 13,
};

struct KafkaSent {
  std::string value;
  std::optional<std::string> key;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// librdkafka's own cluster in this process, with one broker. Topics exist once created. One thread.
class KafkaCluster {
 public:
  KafkaCluster() {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    client_ = make(RD_KAFKA_PRODUCER, conf);
    cluster_ = rd_kafka_mock_cluster_new(client_, 1);
    rd_kafka_mock_group_initial_rebalance_delay_ms(cluster_, 0);
    rd_kafka_mock_start_request_tracking(cluster_);
    rd_kafka_conf_t* producing = rd_kafka_conf_new();
    set(producing, "bootstrap.servers", brokers());
    set(producing, "linger.ms", "0");
    producer_ = make(RD_KAFKA_PRODUCER, producing);
  }
  KafkaCluster(const KafkaCluster&) = delete;
  KafkaCluster& operator=(const KafkaCluster&) = delete;
  ~KafkaCluster() {
    rd_kafka_destroy(producer_);
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }

  std::string brokers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void create(const std::string& topic, int partitions = 1) {
    ASSERT_EQ(rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void set_topic_error(const std::string& topic, rd_kafka_resp_err_t code) {
    rd_kafka_mock_topic_set_error(cluster_, topic.c_str(), code);
  }
  /// Values "<first>" … in order.
  void produce(const std::string& topic, int partition, int first, int count) {
    for (int i = first; i < first + count; ++i) {
      const std::string text = std::to_string(i);
      ASSERT_EQ(rd_kafka_producev(producer_, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
                                  RD_KAFKA_V_VALUE(const_cast<char*>(text.data()), text.size()),
                                  RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
                RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    ASSERT_EQ(rd_kafka_flush(producer_, 10'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  /// The broker takes no connections, and drops those that there are.
  void set_down(bool down) {
    ASSERT_EQ(down ? rd_kafka_mock_broker_set_down(cluster_, 1) : rd_kafka_mock_broker_set_up(cluster_, 1),
              RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  /// The next `times` requests of the type fail.
  void fail(KafkaRequest request, rd_kafka_resp_err_t code, int times = 1) {
    for (int i = 0; i < times; ++i) rd_kafka_mock_push_request_errors(cluster_, request, 1, code);
  }
  void heal(KafkaRequest request) { rd_kafka_mock_clear_request_errors(cluster_, request); }
  int requests(KafkaRequest wanted) const {
    std::size_t count = 0;
    rd_kafka_mock_request_t** all = rd_kafka_mock_get_requests(cluster_, &count);
    int out = 0;
    for (std::size_t i = 0; i < count; ++i) out += rd_kafka_mock_request_api_key(all[i]) == wanted ? 1 : 0;
    rd_kafka_mock_request_destroy_array(all, count);
    return out;
  }

  /// The group's offset of a partition, -1 where there is none.
  std::int64_t committed(const std::string& group, const std::string& topic, int partition) const {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers());
    set(conf, "group.id", group);
    rd_kafka_t* consumer = make(RD_KAFKA_CONSUMER, conf);
    rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic.c_str(), partition);
    EXPECT_EQ(rd_kafka_committed(consumer, list, 5000), RD_KAFKA_RESP_ERR_NO_ERROR);
    const std::int64_t offset = list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(consumer);
    return offset < 0 ? -1 : offset;
  }

  /// Everything that stands in partition 0 of a topic.
  std::vector<KafkaSent> sent(const std::string& topic) const {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", brokers());
    set(conf, "group.id", "reader");
    set(conf, "auto.offset.reset", "earliest");
    set(conf, "fetch.wait.max.ms", "5");
    rd_kafka_t* consumer = make(RD_KAFKA_CONSUMER, conf);
    std::int64_t low = 0;
    std::int64_t high = 0;
    EXPECT_EQ(rd_kafka_query_watermark_offsets(consumer, topic.c_str(), 0, &low, &high, 5000),
              RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = 0;
    rd_kafka_assign(consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    std::vector<KafkaSent> out;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (static_cast<std::int64_t>(out.size()) < high && std::chrono::steady_clock::now() < until) {
      rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer, 100);
      if (message == nullptr) continue;
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) out.push_back(read(*message));
      rd_kafka_message_destroy(message);
    }
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return out;
  }

 private:
  static rd_kafka_t* make(rd_kafka_type_t type, rd_kafka_conf_t* conf) {
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    char text[256] = "";
    rd_kafka_t* made = rd_kafka_new(type, conf, text, sizeof text);
    if (made == nullptr) {
      ADD_FAILURE() << text;
      std::abort();
    }
    return made;
  }
  static void set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
    char text[256] = "";
    EXPECT_EQ(rd_kafka_conf_set(conf, name, value.c_str(), text, sizeof text), RD_KAFKA_CONF_OK) << text;
  }
  static KafkaSent read(const rd_kafka_message_t& message) {
    KafkaSent out;
    out.value.assign(static_cast<const char*>(message.payload), message.len);
    if (message.key != nullptr) out.key = std::string(static_cast<const char*>(message.key), message.key_len);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return out;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
      out.headers.emplace_back(name, std::string(static_cast<const char*>(value), size));
    }
    return out;
  }

  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
  rd_kafka_t* producer_ = nullptr;
};

/// Waits for a condition, ten seconds at most.
inline bool wait_for(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace aqueduck::testing
