#include "app/starter.h"

#include <gtest/gtest.h>

#include "app/reference.h"
#include "builtin/builtin.h"

namespace aqueduck::app {
namespace {

TEST(Starter, IsMadeForEverySourceAndSink) {
  for (const auto& source : builtin_registry().sources) {
    for (const auto& sink : builtin_registry().sinks) {
      const auto files = starter(builtin_registry(), "x", source.info->name, sink.info->name);
      ASSERT_TRUE(files) << files.error().message;
      ASSERT_EQ(files->size(), 4U);
      EXPECT_EQ(files->front().path, "x.yml");
      EXPECT_NE(files->front().text.find("\n  " + sink.info->name + ":"), std::string::npos) << files->front().text;
    }
  }
}

TEST(Starter, RefusesWhatIsNoName) {
  for (const char* name : {"", "a b", "../x", "a/b", "x: y"}) {
    EXPECT_FALSE(starter(builtin_registry(), name, "generator", "console")) << name;
  }
  const auto unknown = starter(builtin_registry(), "x", "generatr", "console");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean 'generator'"), std::string::npos) << unknown.error().message;
  EXPECT_FALSE(starter(builtin_registry(), "x", "generator", "nowhere"));
}

TEST(Reference, HasAPageForEachComponentAndLinksToIt) {
  const auto pages = reference(builtin_registry(), {});
  const auto has = [&](const std::string& path) {
    return std::any_of(pages.begin(), pages.end(), [&](const auto& page) { return page.path == path; });
  };
  for (const auto& type : builtin_registry().sources) EXPECT_TRUE(has("sources/" + type.info->name + ".md"));
  for (const auto& type : builtin_registry().decoders) EXPECT_TRUE(has("decoders/" + type.info->name + ".md"));
  for (const auto& type : builtin_registry().sinks) EXPECT_TRUE(has("sinks/" + type.info->name + ".md"));
  const auto index = find_pages(pages, "index");
  ASSERT_TRUE(index);
  const std::string& text = index->front().text;
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const std::string link = text.substr(at + 2, text.find(')', at) - at - 2);
    EXPECT_TRUE(has(link)) << link;
  }
}

TEST(Reference, FindsByNameAndByFolder) {
  const auto pages = reference(builtin_registry(), {});
  EXPECT_EQ(find_pages(pages, "file")->size(), 2U);
  EXPECT_EQ(find_pages(pages, "sinks/file")->size(), 1U);
  EXPECT_FALSE(find_pages(pages, ""));
  EXPECT_FALSE(find_pages(pages, "fil"));
}

}  // namespace
}  // namespace aqueduck::app
