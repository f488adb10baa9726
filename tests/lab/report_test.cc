#include "bandana/lab/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bandana/lab/embedded.h"

namespace bandana::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json DataNamed(const std::string& name) {
  return {{"summary", {{"name", name}, {"points", Json::array()}}},
          {"spec", "name = " + name},
          {"command", name}};
}

std::size_t Times(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

// Returns the text in the data's element as a browser sees it: up to the next "</script".
std::string DataOf(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"bandana-data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script", at) - at);
}

TEST(ReportTest, HoldsItsData) {
  const Json data = DataNamed("a small one");
  const std::string page = RenderReport(data);
  EXPECT_THAT(page, ::testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<title>a small one - Bandana</title>"));
  EXPECT_EQ(Json::parse(DataOf(page)), data);
}

TEST(ReportTest, HoldsItsScriptAndStyle) {
  const std::string page = RenderReport(DataNamed("a"));
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    EXPECT_GT(file.content.size(), 100u) << file.name;
    if (file.name.ends_with(".toml")) continue;  // the spec of an exhibit
    EXPECT_THAT(page, HasSubstr(std::string(file.content))) << file.name;
  }
}

TEST(ReportTest, AsksForNothingOutside) {
  const std::string page = RenderReport(DataNamed("a"));
  for (const char* part : {"<link", "src=\"http", "href=\"http", "@import", "url(http"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(ReportTest, ANameCannotLeaveItsElement) {
  const std::string benign = RenderReport(DataNamed("a"));
  for (const std::string name : {"</script><script>alert(1)", "</SCRIPT >", "<!--<script>", "</title><b>",
                                 "a & b < c", "\"quoted\" \\ 'and' \n newline", "{} {0} %s"}) {
    const Json data = DataNamed(name);
    const std::string page = RenderReport(data);
    for (const char* tag : {"</script", "<script", "</title", "<!--", "<b>", "</SCRIPT"}) {
      EXPECT_EQ(Times(page, tag), Times(benign, tag)) << tag << " through the name " << name;
    }
    EXPECT_THAT(DataOf(page), Not(HasSubstr("<")));
    EXPECT_EQ(Json::parse(DataOf(page)), data);
  }
}

TEST(ReportTest, BytesThatAreNoUtf8DoNotStopIt) {
  EXPECT_THAT(RenderReport(DataNamed("a\xff"
                                     "b")),
              HasSubstr("bandana-data"));
}

}  // namespace
}  // namespace bandana::lab
