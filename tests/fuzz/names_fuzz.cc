#include <cmath>
#include <string>
#include <string_view>

#include "absl/strings/str_split.h"
#include "bandana/core/csv.h"
#include "bandana/federation/failure.h"
#include "bandana/lab/typed_flags.h"
#include "bandana/service/address.h"
#include "bandana/service/certificate.h"
#include "bandana/service/party.h"
#include "bandana/service/roster.h"
#include "bandana/service/spec_digest.h"
#include "bandana/store/store_name.h"
#include "tests/fuzz/fuzz.h"

// Short texts that a person, a certificate or another process gives: addresses, names of parties, serials,
// digests of specs, failures, numbers.
namespace bandana::fuzz {
namespace {

void CheckAddress(const std::string& text) {
  const auto address = service::ParseAddress("listen", text);
  if (address.ok()) {
    BANDANA_CHECK(address->port >= 0 && address->port <= 65535 && !address->host.empty());
    const auto again = service::ParseAddress("listen", address->ToString());
    BANDANA_CHECK(again.ok() && again->host == address->host && again->port == address->port);
  }
  const auto loopback = service::ParseLoopback("listen", text);
  if (!loopback.ok()) return;
  BANDANA_CHECK(address.ok());
  const std::string& host = loopback->host;
  const bool is_six = host.find(':') != std::string::npos;
  BANDANA_CHECK(is_six || host == "localhost" || host.starts_with("127."));
}

void CheckParty(const std::string& text) {
  if (const auto id = service::PartyFromUri(text)) {
    BANDANA_CHECK(service::ToUri(*id) == text && service::IsParty(id->party));
    BANDANA_CHECK(service::IsDeployment(id->deployment));
  }
  if (service::IsParty(text)) {
    BANDANA_CHECK(service::FileNameOf(text).find('/') == std::string::npos &&
                  text.find("..") == std::string::npos);
  }
  // Without keys, the name in an Opening is the only name that an agent has: one agent must not have two.
  service::Roster roster(1'000'000);
  if (roster.Admits(text).ok()) BANDANA_CHECK(service::IsParty(text));
}

void Run(std::string_view input) {
  const std::string text(input);
  CheckAddress(text);
  CheckParty(text);
  if (const auto serial = service::ParseSerial(text)) BANDANA_CHECK(service::ParseSerial(*serial) == serial);
  if (const auto file = store::FileOfStore(text); file.ok()) {
    BANDANA_CHECK(!file->empty() && text.ends_with(*file));
  }
  if (const auto failures = ParseFailures(text); failures.ok()) {
    for (const Failure& failure : *failures) BANDANA_CHECK(*ParseFailure(ToText(failure)) == failure);
  }
  if (const auto number = ParseNumber(text)) BANDANA_CHECK(std::isfinite(*number));
  const lab::FlagValues values = {{"--epsilon", text}, {"--delta", text}};
  const lab::TypedFlags flags(values);
  if (const auto number = flags.Number("--epsilon"); number.ok()) {
    BANDANA_CHECK(*number > 0 && std::isnormal(*number));
  }
  if (const auto number = flags.Probability("--delta"); number.ok())
    BANDANA_CHECK(*number > 0 && *number < 1);
  if (const auto number = flags.Whole("--delta"); number.ok()) BANDANA_CHECK(*number >= 1);
  const std::string ours = service::SpecDigest({{"seed", "1"}, {"horizon", "2"}});
  const absl::Status other = service::OtherSpec(text, ours, "agent", "server");
  BANDANA_CHECK(absl::IsFailedPrecondition(other) && other.message().size() < 400);
}

}  // namespace

Target MakeTarget() {
  return {.seeds = {{"address", "learn.example.org:7443"},
                    {"address-v4", "127.0.0.1:50051"},
                    {"address-v6", "[2001:db8::7]:7443"},
                    {"loopback-v6", "[::1]:1"},
                    {"loopback-name", "localhost:0"},
                    {"uri", "bandana://0123456789abcdef0123456789abcdef/agent/3"},
                    {"party", "agent/3"},
                    {"party-with-zero", "agent/03"},
                    {"serial", "0A:bC:01"},
                    {"digest", service::SpecDigest({{"seed", "3"}, {"horizon", "2"}})},
                    {"store", "sqlite:store.db"},
                    {"failures", "agent 3 @ 2, link 4-5 @ 1, miss 7 @ 3"},
                    {"number", "-1.5e300"}},
          .run = Run,
          .words = {"agent/", "peer/", "server", "bandana://", "sqlite:",    "localhost",  "127.",
                    "[::1]",  "+",     " ",      "0",          "4294967295", "4294967296", "1e308",
                    "nan",    "inf",   "0x1",    "seed=",      "miss ",      "@ "},
          .mutations = 20'000};
}

}  // namespace bandana::fuzz
