#include "bandana/service/address.h"

#include "bandana/core/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace bandana::service {
namespace {

using ::testing::HasSubstr;

TEST(Address, AcceptsLoopback) {
  for (const char* text : {"127.0.0.1:0", "127.1.2.3:50051", "localhost:80", "[::1]:65535"}) {
    const auto address = ParseLoopback("listen", text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
}

TEST(Address, RefusesWhatCouldLeaveTheMachineAndSaysWhy) {
  for (const char* text :
       {"0.0.0.0:1", "10.0.0.1:1", "128.0.0.1:1", "[::]:1", "[::ffff:10.0.0.1]:1", "example.org:1",
        "localhost.example.org:1", "127.0.0.1.example.org:1", "unix:1", ":1", "::1:1"}) {
    const absl::Status status = ParseLoopback("listen", text).status();
    const auto error = InputErrorOf(status);
    ASSERT_TRUE(error.has_value()) << text;
    EXPECT_EQ(error->key, "listen");
    EXPECT_EQ(error->value, text);
    EXPECT_THAT(error->message, HasSubstr("encrypted"));
  }
}

TEST(Address, RefusesBadPorts) {
  for (const char* text : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:65536"}) {
    const auto error = InputErrorOf(ParseLoopback("server", text).status());
    ASSERT_TRUE(error.has_value()) << text;
    EXPECT_THAT(error->accepted, HasSubstr("host:port"));
  }
}

}  // namespace
}  // namespace bandana::service
