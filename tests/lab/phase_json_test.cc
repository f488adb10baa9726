#include "bandana/lab/phase_json.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace bandana::lab {
namespace {

// Generates any finite double by its bits, denormals, -0 and the largest one included.
rc::Gen<double> AnyDouble() {
  const auto by_bits =
      rc::gen::suchThat(rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                     [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
                        [](double value) { return std::isfinite(value); });
  return rc::gen::oneOf(
      by_bits,
      rc::gen::element(5e-324, -5e-324, 0.0, -0.0, 1.0, 1e22, 1e23, 0.1, std::numeric_limits<double>::min(),
                       std::numeric_limits<double>::max(), std::nextafter(1.0, 2.0)));
}

rc::Gen<std::vector<double>> Doubles() { return rc::gen::container<std::vector<double>>(AnyDouble()); }

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

template <class A, class B>
bool AllSameBits(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameBits);
}

RC_GTEST_PROP(PhaseJsonTest, RoundTripsBitForBit, ()) {
  PhaseRecord phase;
  phase.epoch = *rc::gen::arbitrary<Epoch>();
  phase.rounds = *rc::gen::arbitrary<Count>();
  phase.clients = *rc::gen::arbitrary<Count>();
  phase.privacy_stddev = *AnyDouble();
  phase.width = *AnyDouble();
  phase.averages = *Doubles();
  const std::vector<double> estimate = *Doubles();
  phase.estimate = Eigen::Map<const Vector>(estimate.data(), static_cast<Eigen::Index>(estimate.size()));
  phase.active = *rc::gen::arbitrary<std::vector<ArmId>>();
  for (const auto& [arm, count] : *rc::gen::arbitrary<std::vector<std::pair<ArmId, Count>>>()) {
    phase.pulls.push_back({arm, count});
  }
  const std::string line = ToJson(phase).dump();
  RC_ASSERT(line.find('\n') == std::string::npos);
  const absl::StatusOr<PhaseRecord> read = PhaseFromJson(Json::parse(line));
  RC_ASSERT(read.ok());
  RC_ASSERT(read->epoch == phase.epoch);
  RC_ASSERT(read->rounds == phase.rounds);
  RC_ASSERT(read->clients == phase.clients);
  RC_ASSERT(SameBits(read->privacy_stddev, phase.privacy_stddev));
  RC_ASSERT(SameBits(read->width, phase.width));
  RC_ASSERT(AllSameBits(read->averages, phase.averages));
  RC_ASSERT(AllSameBits(read->estimate, phase.estimate));
  RC_ASSERT(read->active == phase.active);
  RC_ASSERT(read->pulls.size() == phase.pulls.size());
  for (std::size_t i = 0; i < phase.pulls.size(); ++i) {
    RC_ASSERT(read->pulls[i].arm == phase.pulls[i].arm && read->pulls[i].count == phase.pulls[i].count);
  }
  RC_ASSERT(ToJson(*read).dump() == line);
}

TEST(PhaseJsonTest, WhatIsNoPhaseIsAnError) {
  for (const char* text : {"{}", "[]", "5", "null", R"({"epoch": "one"})"}) {
    EXPECT_EQ(PhaseFromJson(Json::parse(text)).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(PhaseJsonTest, WhatJsonCannotHoldIsAnErrorAndNoOtherNumber) {
  PhaseRecord phase;
  phase.width = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(PhaseFromJson(Json::parse(ToJson(phase).dump())).ok());
}

TEST(PhaseJsonTest, TheReportGetsCountsAlone) {
  PhaseRecord phase;
  phase.epoch = 3;
  phase.rounds = 8;
  phase.clients = 2;
  phase.width = 0.5;
  phase.privacy_stddev = 0.25;
  phase.pulls = {{0, 4}, {2, 4}};
  phase.active = {0, 1, 2};
  EXPECT_EQ(PhaseForReport(phase), Json({{"epoch", 3},
                                         {"rounds", 8},
                                         {"clients", 2},
                                         {"active", 3},
                                         {"support", 2},
                                         {"width", 0.5},
                                         {"noise_stddev", 0.25}}));
}

}  // namespace
}  // namespace bandana::lab
