#include "bandana/lab/judge/claim_reader.h"

#include "bandana/core/status.h"
#include "bandana/lab/spec.h"
#include "gmock/gmock.h"

namespace bandana::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kWords[] = "says = \"it is so\"\npaper = \"p1 Fig. 9\"\n";

absl::StatusOr<ExhibitClaims> Read(const std::string& claim) {
  return ReadClaims(
      "[where]\nours = { \"privacy.model\" = \"none\" }\n[[claim]]\n" + std::string(kWords) + claim,
      "own.toml");
}

// Returns the error of a claim that is not accepted.
InputError ErrorOf(const std::string& claim) {
  const absl::StatusOr<ExhibitClaims> claims = Read(claim);
  EXPECT_FALSE(claims.ok()) << claim;
  if (claims.ok() || !InputErrorOf(claims.status()).has_value()) return {};
  return *InputErrorOf(claims.status());
}

TEST(ReadClaims, MakesOneClaimForEachCombination) {
  const auto claims = ReadClaims(R"(
[[claim]]
says  = "{privacy.model} at {n}: {word}"
for   = [{ "privacy.model" = ["none", "local"] }, { n = [1, 2.5], word = ["one", "more"] }]
paper = "p1 Fig. 9"
is    = "falls"
of    = { along = "horizon" }
)",
                                 "own.toml");
  ASSERT_TRUE(claims.ok()) << claims.status();
  std::vector<std::string> said;
  for (const PaperClaim& claim : claims->claims) said.push_back(claim.says);
  EXPECT_THAT(said,
              ElementsAre("none at 1: one", "none at 2.5: more", "local at 1: one", "local at 2.5: more"));
}

TEST(ReadClaims, AFileWithoutClaimsHasNone) {
  EXPECT_TRUE(ReadClaims("name = \"x\"\nhorizon = 5\n", "own.toml")->claims.empty());
}

TEST(ReadClaims, ErrorsNameFileLineKeyValueAndWhatIsAccepted) {
  const InputError error = ErrorOf("is = \"fals\"\nof = { along = \"horizon\" }\n");
  EXPECT_EQ(error.file, "own.toml");
  EXPECT_EQ(error.line, 6);
  EXPECT_EQ(error.key, "claim.is");
  EXPECT_THAT(error.value, HasSubstr("fals"));
  EXPECT_THAT(error.accepted, HasSubstr("falls, rises, below, above, not-above"));
}

TEST(ReadClaims, RejectsUnknownKeysAndNames) {
  const std::string falls = "is = \"falls\"\n";
  InputError error = ErrorOf(falls + "of = { along = \"privacy.epsilonn\" }\n");
  EXPECT_EQ(error.key, "claim.of.along");
  EXPECT_EQ(error.line, 7);
  EXPECT_THAT(error.accepted, HasSubstr("privacy.epsilon"));
  error = ErrorOf(falls + "of = { at = \"theirs\", along = \"horizon\" }\n");
  EXPECT_EQ(error.value, "theirs");
  EXPECT_EQ(error.accepted, "ours");
  error = ErrorOf(falls + "of = { at = { \"privacy.modell\" = \"none\" }, along = \"horizon\" }\n");
  EXPECT_EQ(error.value, "privacy.modell");
  error = ErrorOf(falls + "of = { allong = \"horizon\" }\n");
  EXPECT_EQ(error.key, "claim.of.allong");
  error = ErrorOf(falls + "of = { along = \"horizon\" }\nfactor = 2\n");
  EXPECT_EQ(error.key, "claim.factor");
  EXPECT_THAT(error.message, HasSubstr("is = \"falls\""));
  error = ErrorOf(falls + "each = \"privacy.modell\"\nof = { along = \"horizon\" }\n");
  EXPECT_EQ(error.key, "claim.each");
  error =
      ErrorOf(falls + "of = { at = \"{who}\", along = \"horizon\" }\nfor = { who = [\"ours\", \"them\"] }\n");
  EXPECT_EQ(error.value, "them");
  EXPECT_THAT(ReadClaims("[where]\nours = { \"privacy.modell\" = 1 }\n", "own.toml").status().message(),
              HasSubstr("privacy.modell"));
}

TEST(ReadClaims, RejectsWhatDoesNotFitTogether) {
  EXPECT_EQ(ErrorOf("of = { along = \"horizon\" }\n").key, "claim.is");
  EXPECT_EQ(ErrorOf("is = \"falls\"\n").key, "claim.of");
  EXPECT_EQ(ErrorOf("is = \"falls\"\nof = { at = \"ours\" }\n").key, "claim.of.along");
  EXPECT_EQ(ErrorOf("is = \"falls\"\nof = { along = \"t\" }\n").key, "claim.of");
  EXPECT_EQ(ErrorOf("is = \"below\"\nof = { at = \"ours\" }\n").key, "claim.than");
  EXPECT_EQ(ErrorOf("is = \"grows\"\nof = { along = \"horizon\" }\n").key, "claim.at_most");
  EXPECT_EQ(ErrorOf("is = \"grows\"\nof = { along = \"horizon\" }\nat_most = 1\nlike = 1\n").key,
            "claim.at_most");
  EXPECT_EQ(ErrorOf("is = \"grows\"\nof = { along = \"horizon\" }\nlike = 1\n").key, "claim.tolerance");
  EXPECT_EQ(ErrorOf("is = \"inequality\"\nlet = { a = { at = \"ours\" } }\n").key, "claim.that");
  EXPECT_EQ(ErrorOf("is = \"inequality\"\nlet = { a = { at = \"ours\" } }\nthat = \"a < b\"\n").value, "b");
  EXPECT_EQ(ErrorOf("is = \"code\"\nof = { at = \"ours\" }\n").key, "claim.judge");
  EXPECT_EQ(ErrorOf("is = \"code\"\nof = { at = \"ours\" }\njudge = \"oracle\"\n").key, "claim.judge");
  EXPECT_EQ(ErrorOf("is = \"delivers\"\nof = 5\n").key, "claim.of");
  EXPECT_EQ(ErrorOf("is = \"below\"\nof = { at = \"ours\" }\nthan = 5\nshare = 0.5\n").key, "claim.share");
  EXPECT_EQ(ErrorOf("is = \"below\"\nof = { at = \"ours\" }\nthan = 5\nby = \"median\"\nshare = 1.5\n").key,
            "claim.share");
  EXPECT_EQ(ErrorOf("is = \"within\"\nof = { at = \"ours\" }\nthan = 5\nfactor = \"two\"\n").key,
            "claim.factor");
  EXPECT_EQ(ErrorOf("is = \"equals\"\nof = { at = \"ours\" }\nthan = 5\ntolerance = -1\n").key,
            "claim.tolerance");
  EXPECT_EQ(ErrorOf("is = \"equals\"\nof = { at = \"ours\", metric = \"1 +\" }\nthan = 5\n").key,
            "claim.of.metric");
  EXPECT_EQ(ErrorOf("is = \"equals\"\nof = { at = \"ours\" }\nthan = 5\nfor = { a = [1, 2], b = [1] }\n").key,
            "claim.for");
}

TEST(ReadClaims, AnUnexpectedClaimHasAReason) {
  const std::string falls = "is = \"falls\"\nof = { along = \"horizon\" }\n";
  EXPECT_EQ(ErrorOf(falls + "expected = false\n").key, "claim.reason");
  EXPECT_EQ(ErrorOf(falls + "reason = \"of the moon\"\n").key, "claim.reason");
  EXPECT_FALSE(Read(falls + "expected = false\nreason = \"of the moon\"\n")->claims.front().expected);
}

TEST(ReadClaims, TextsNameOnlyBoundKeys) {
  const auto claims = ReadClaims(
      "[[claim]]\nsays = \"{privacy.model} falls\"\npaper = \"p1\"\nis = \"falls\"\nof = { along = "
      "\"horizon\" }\n",
      "own.toml");
  EXPECT_THAT(claims.status().message(), HasSubstr("{privacy.model}"));
}

TEST(ReadClaims, ARunIgnoresThem) {
  const std::string spec =
      "horizon = 100\n[environment]\nkind = \"mab\"\nactions = 2\n[federation]\nagents = 2\n"
      "[algorithm]\nname = \"cdp-mab\"\n[privacy]\nmodel = \"none\"\n";
  const std::string claims =
      "[where]\nours = { \"privacy.model\" = \"none\" }\n[scale.quick]\nhorizon = 10\n[[claim]]\nsays = "
      "\"nonsense\"\n";
  const absl::StatusOr<Spec> with = ParseSpec(spec + claims, "own.toml", {});
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_EQ(with->toml, ParseSpec(spec, "own.toml", {})->toml);
}

TEST(ReadClaims, VersionsAndExpectationsComeFromFor) {
  const auto read = ReadClaims(R"(
[[claim]]
says     = "it falls"
for      = { version = ["printed", "ours"], expected = [false, true] }
version  = "{version}"
expected = "{expected}"
reason   = "the paper's noise is too large"
paper    = "p1 Fig. 9"
is       = "falls"
of       = { along = "horizon" }
)",
                               "own.toml");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->claims.size(), 2u);
  EXPECT_EQ(read->claims[0].version, Version::kPrinted);
  EXPECT_FALSE(read->claims[0].expected);
  EXPECT_EQ(read->claims[0].reason, "the paper's noise is too large");
  EXPECT_EQ(read->claims[1].version, Version::kOurs);
  EXPECT_TRUE(read->claims[1].expected);
  EXPECT_TRUE(read->claims[1].reason.empty());
}

TEST(ReadClaims, RejectsVersionsExpectationsAndPrintedNumbersThatAreNone) {
  const std::string falls = "is = \"falls\"\nof = { along = \"horizon\" }\n";
  EXPECT_EQ(ErrorOf(falls + "version = \"paper\"\n").key, "claim.version");
  EXPECT_EQ(ErrorOf(falls + "scale = \"quick\"\n").key, "claim.scale");
  EXPECT_EQ(ErrorOf(falls + "expected = \"{maybe}\"\n").key, "claim.expected");
  EXPECT_EQ(ErrorOf("is = \"prints\"\nof = {}\nfactor = 2\n").key, "claim.value");
  EXPECT_EQ(ErrorOf("is = \"prints\"\nof = {}\nvalue = 2\n").key, "claim.factor");
  EXPECT_EQ(ErrorOf("is = \"prints\"\nof = {}\nvalue = 2\nfactor = 2\ndigit = 1\n").key, "claim.factor");
  EXPECT_THAT(ErrorOf(falls + "[[claim]]\n" + kWords + falls).message, HasSubstr("two claims say the same"));
}

TEST(ReadClaims, ReadsBoundsStandInsAndWhatIsNotRunnable) {
  const auto read = ReadClaims(R"(
stand_in = "Made-up loans stand in for the real ones."
[[not-runnable]]
what = "Fig. 1"
paper = "p1 Fig. 1"
reason = "It is a drawing."
[[bound]]
says = "rate T^{a}"
for = { a = [0.5, 0.6] }
paper = "p1 Theorem 1"
of = { along = "t" }
value = "{t} ^ {a}"
rate = true
)",
                               "own.toml");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->stand_in, "Made-up loans stand in for the real ones.");
  ASSERT_EQ(read->not_runnable.size(), 1u);
  EXPECT_EQ(read->not_runnable[0].reason, "It is a drawing.");
  ASSERT_EQ(read->bounds.size(), 2u);
  EXPECT_EQ(read->bounds[1].claim.says, "rate T^0.6");
  const auto key_of = [](const std::string& text) {
    const auto wrong = ReadClaims(text, "own.toml");
    EXPECT_FALSE(wrong.ok()) << text;
    return wrong.ok() ? std::string() : InputErrorOf(wrong.status())->key;
  };
  EXPECT_EQ(key_of("stand_in = 5\n"), "stand_in");
  EXPECT_EQ(key_of("[[not-runnable]]\nwhat = \"x\"\npaper = \"p\"\n"), "not-runnable.reason");
  const std::string bound = "[[bound]]\nsays = \"x\"\npaper = \"p\"\n";
  EXPECT_EQ(key_of(bound + "value = 1\n"), "bound.of");
  EXPECT_EQ(key_of(bound + "of = { along = \"t\" }\n"), "bound.value");
  EXPECT_EQ(key_of(bound + "of = {}\nvalue = 1\n"), "bound.of.along");
  EXPECT_EQ(key_of(bound + "of = { along = \"t\" }\nvalue = 1\nrates = true\n"), "bound.rates");
}

}  // namespace
}  // namespace bandana::lab
