#include "bandana/core/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace bandana {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CsvTest : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  CsvReader Open(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    auto reader =
        CsvReader::Open(path_, {.key = "the.file", .lines = "one row a line", .accepted = "rows, all alike"});
    EXPECT_TRUE(reader.ok()) << reader.status();
    return *std::move(reader);
  }

  std::string path_ = ::testing::TempDir() + "bandana_csv_" + std::to_string(getpid()) + ".csv";
};

TEST(ParseNumberTest, TakesFiniteNumbersOnly) {
  EXPECT_EQ(ParseNumber("0.5"), 0.5);
  EXPECT_EQ(ParseNumber("-1e-2"), -0.01);
  EXPECT_EQ(ParseNumber("+3"), 3.0);
  EXPECT_EQ(ParseNumber(".5"), 0.5);
  EXPECT_EQ(ParseNumber("1e-400"), 0.0);
  EXPECT_EQ(ParseNumber("4.9e-324"), 4.9e-324);
  for (const char* bad : {"", "+", "-", "+-1", "++1", "x", "1x", "0x10", " 1", "1 ", "1 2", "nan", "inf",
                          "-inf", "infinity", "1e999", "1,5", "0.5.5"}) {
    EXPECT_EQ(ParseNumber(bad), std::nullopt) << bad;
  }
}

TEST_F(CsvTest, LinesAndFields) {
  CsvReader reader = Open("\xef\xbb\xbf a , b\r\n\r\n# 1,2\n1,,\n\n  x\ty ,2");
  ASSERT_TRUE(reader.Next());
  EXPECT_THAT(reader.fields(), ElementsAre("a", "b"));
  EXPECT_EQ(reader.line(), 1);
  ASSERT_TRUE(reader.Next());
  EXPECT_THAT(reader.fields(), ElementsAre("1", "", ""));
  EXPECT_EQ(reader.line(), 4);
  ASSERT_TRUE(reader.Next());
  EXPECT_THAT(reader.fields(), ElementsAre("x\ty", "2"));
  EXPECT_EQ(reader.line(), 6);
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.status().ok());
}

TEST_F(CsvTest, QuotedFields) {
  CsvReader reader = Open("\"a,b\", \"c\"\"d\" ,e\r\n\"\",x\n1,\"2\n3,4\n");
  ASSERT_TRUE(reader.Next());
  EXPECT_THAT(reader.fields(), ElementsAre("a,b", "c\"d", "e"));
  ASSERT_TRUE(reader.Next());
  EXPECT_THAT(reader.fields(), ElementsAre("", "x"));
  EXPECT_FALSE(reader.Next());
  const InputError error = *InputErrorOf(reader.status());
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.key, "the.file");
  EXPECT_FALSE(reader.Next()) << "an error stays";
  for (const char* bad : {"a\"b\n", "\"a\"b\n", "\"\n", "\"a\"\"\n", "x,\"a\" \"b\"\n"}) {
    CsvReader broken = Open(bad);
    EXPECT_FALSE(broken.Next()) << bad;
    EXPECT_FALSE(broken.status().ok()) << bad;
  }
}

TEST_F(CsvTest, ErrorsNameTheirPlace) {
  CsvReader reader = Open("a,b\n1,z\n");
  const auto header = CsvHeader::Read(reader);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->Find("b"), 1U);
  EXPECT_EQ(header->Find("c"), std::nullopt);
  EXPECT_EQ(*header->Require(reader, "a"), 0U);
  const InputError missing = *InputErrorOf(header->Require(reader, "c").status());
  EXPECT_EQ(missing.key, "c");
  EXPECT_THAT(missing.message, HasSubstr("a, b"));
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(*reader.Number(0), 1);
  EXPECT_EQ(*InputErrorOf(reader.Number(1, "b").status()), (InputError{.message = "not a finite number",
                                                                       .file = path_,
                                                                       .line = 2,
                                                                       .key = "b",
                                                                       .value = "z",
                                                                       .accepted = "a finite number"}));
  EXPECT_EQ(InputErrorOf(reader.Number(1).status())->key, "the.file");
  EXPECT_TRUE(header->CheckWidth(reader).ok());

  CsvReader ragged = Open("a,b\n1\n");
  const auto two = CsvHeader::Read(ragged);
  ASSERT_TRUE(ragged.Next());
  EXPECT_EQ(InputErrorOf(two->CheckWidth(ragged))->value, "1 fields");

  CsvReader twice = Open("a,a\n");
  EXPECT_EQ(InputErrorOf(CsvHeader::Read(twice).status())->value, "a");
  CsvReader empty = Open("\n# no\n");
  EXPECT_THAT(InputErrorOf(CsvHeader::Read(empty).status())->message, HasSubstr("empty"));
}

TEST_F(CsvTest, FilesThatCannotBeRead) {
  const auto missing = CsvReader::Open(path_ + ".missing", {.key = "the.file", .lines = "one row a line"});
  EXPECT_EQ(InputErrorOf(missing.status())->key, "the.file");
  EXPECT_EQ(InputErrorOf(missing.status())->value, path_ + ".missing");
  auto folder = CsvReader::Open(::testing::TempDir(), {.key = "the.file", .accepted = "rows"});
  if (!folder.ok()) return;
  EXPECT_FALSE(folder->Next());
  EXPECT_FALSE(folder->status().ok());
}

}  // namespace
}  // namespace bandana
