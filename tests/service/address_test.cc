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
    EXPECT_THAT(error->message, HasSubstr("insecure = true is for loopback only"));
  }
}

TEST(Address, RefusesBadPorts) {
  for (const char* text : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:65536",
                           "127.0.0.1:+1", "127.0.0.1: 1", "127.0.0.1:4294967297"}) {
    for (const auto& parsed : {ParseLoopback("server", text), ParseAddress("server", text)}) {
      const auto error = InputErrorOf(parsed.status());
      ASSERT_TRUE(error.has_value()) << text;
      EXPECT_EQ(error->key, "server");
      EXPECT_THAT(error->accepted, HasSubstr("host:port"));
    }
  }
}

TEST(Address, AcceptsEveryHost) {
  for (const char* text : {"learn.example.org:7443", "db:1", "my_host-2:80", "10.0.0.7:7443", "0.0.0.0:0",
                           "[::]:1", "[2001:db8::7]:7443", "localhost:80", "x1.2b:3"}) {
    const auto address = ParseAddress("server", text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseAddress("server", "[2001:db8::7]:7443")->host, "2001:db8::7");
}

TEST(Address, RefusesHostsThatAreNone) {
  const std::string long_part(64, 'a');
  const std::string long_name =
      long_part.substr(1) + "." + long_part.substr(1) + "." + long_part.substr(1) + "." + long_part.substr(1);
  for (const std::string& host : {std::string(),
                                  std::string("::1"),
                                  std::string("2001:db8::7"),
                                  std::string("[::g]"),
                                  std::string("[10.0.0.7]"),
                                  std::string("[]"),
                                  std::string("a..b"),
                                  std::string("a."),
                                  std::string(".a"),
                                  std::string("-a"),
                                  std::string("a-"),
                                  std::string("a b"),
                                  std::string("http://a"),
                                  std::string("a/b"),
                                  std::string("ä"),
                                  std::string("10.0.0"),
                                  std::string("10.0.0.256"),
                                  std::string("1"),
                                  long_part,
                                  long_name}) {
    const auto error = InputErrorOf(ParseAddress("server", host + ":7443").status());
    ASSERT_TRUE(error.has_value()) << host;
    EXPECT_EQ(error->key, "server");
    EXPECT_EQ(error->value, host + ":7443");
    EXPECT_THAT(error->accepted, HasSubstr("learn.example.org:7443"));
  }
}

}  // namespace
}  // namespace bandana::service
