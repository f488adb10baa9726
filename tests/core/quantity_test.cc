#include "bandana/core/quantity.h"

#include "gtest/gtest.h"

namespace bandana {
namespace {

TEST(Quantity, BytesHaveUnits) {
  EXPECT_EQ(ParseBytes("0"), 0);
  EXPECT_EQ(ParseBytes("17B"), 17);
  EXPECT_EQ(ParseBytes("64KiB"), 65536);
  EXPECT_EQ(ParseBytes("3MiB"), 3 << 20);
  EXPECT_EQ(ParseBytes("2GiB"), std::int64_t{2} << 30);
  for (const char* bad : {"", "KiB", "1 KiB", " 1", "1KB", "1kib", "-1", "1.5MiB", "1e3", "MiB1",
                          "9223372036854775807GiB", "99999999999999999999"}) {
    EXPECT_EQ(ParseBytes(bad), std::nullopt) << bad;
  }
}

TEST(Quantity, TimesHaveUnits) {
  EXPECT_EQ(ParseTime("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(ParseTime("1h30m"), absl::Minutes(90));
  for (const char* bad : {"", "soon", "10", "0s", "-1s"}) EXPECT_EQ(ParseTime(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace bandana
