#include "tests/claims/claims_table.h"

#include <cstdlib>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "bandana/bandit/auto_lending.h"
#include "bandana/cli/role.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/ledger/record.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bandit/auto_lending_file.h"
#include "tests/folder.h"

/// docs/claims.md has every claim that Bandana makes. These tests make all of them again, from the registry,
/// and compare. If a claim is to change, review the difference and write the page anew:
///   BANDANA_UPDATE=1 build/tests/test_claims --gtest_filter='ClaimsTableTest.*'
namespace bandana::cli {
namespace {

// Returns a path in the source. ctest says where the source is; by hand, tests are run from its root.
std::filesystem::path InSource(const std::string& path) {
  const char* root = std::getenv("BANDANA_SOURCE");
  return std::filesystem::path(root == nullptr ? "." : root) / path;
}

class ClaimsTableTest : public ::testing::Test {
 protected:
  ClaimsTableTest() : small_(SmallWorld(folder_ / "log.csv")) {
    std::ofstream log(folder_ / "log.csv");
    log << "context_0,context_1,context_2,action,reward,pscore\n";
    for (int i = 0; i < 60; ++i) log << fmt::format("0.{},0.2,-0.3,{},{},0.25\n", i, i % 4, i % 2);
    std::ofstream(folder_ / kActionsFile) << "name\none\ntwo\nthree\nfour\n";
    std::ofstream(folder_ / kContextsFile) << "1,0,0, 0,1,0, 0,0,1, -1,0,0\n0,0,1, 0,1,0, 1,0,0, 0,-1,0\n";
    const absl::StatusOr<std::vector<Loan>> loans = SyntheticTwin(1, 200);
    EXPECT_TRUE(loans.ok()) << loans.status();
    test::WriteAutoLending(lending_, *loans);
  }

  test::Folder folder_;
  std::string lending_ = folder_ / "loans.csv";
  Given small_;
};

// Returns the claims as the ledger of a role has them.
std::vector<Claim> InLedger(const RoleConfig& config, const Federation& federation) {
  const std::string line =
      FormatHeader(LedgerHeaderOf(config, federation, federation.budget).value(), absl::UnixEpoch());
  const absl::StatusOr<Dated<LedgerHeader>> header = ParseHeader(line);
  EXPECT_TRUE(header.ok()) << header.status() << "\n" << line;
  EXPECT_EQ(header->record.void_reason, federation.void_reason());
  return header->record.claims;
}

// Fails unless a run, a role and a ledger say the same. Returns what they say.
std::string Rendered(const lab::Instance& instance) {
  const Federation& federation = instance.federation;
  const std::string why = federation.void_reason();
  const lab::Json run = lab::PrivacyStatement(instance, why);
  const RoleConfig config;
  const std::string role = Delivered(config, federation, std::nullopt);
  lab::Json ledger = lab::Json::array();
  for (const Claim& claim : InLedger(config, federation)) ledger.push_back(lab::ToJson(claim));
  EXPECT_EQ(run["delivered"], ledger);

  std::string text;
  for (const lab::Json& claim : run["delivered"]) {
    EXPECT_THAT(role, ::testing::HasSubstr(claim["text"].get<std::string>()));
    const auto proof = claim["proof"].get<std::string>();
    EXPECT_TRUE(std::filesystem::exists(InSource(proof))) << proof;
    EXPECT_EQ(claim["neighbours"], "replace-one");
    text += fmt::format(
        "- {}{}. Neighbours: {}. Proof: [{}]({})\n", claim["text"].get<std::string>(),
        claim["asked"].get<bool>() ? "" : ". This follows from the mechanism; nobody asked for it",
        claim["neighbours"].get<std::string>(), std::filesystem::path(proof).stem().string(),
        proof.substr(5));
  }
  if (run["delivered"].empty()) text += "- nothing is claimed\n";
  EXPECT_EQ(run["void"].is_null(), why.empty());
  if (why.empty()) {
    EXPECT_THAT(role, ::testing::Not(::testing::HasSubstr("VOID")));
  } else {
    EXPECT_THAT(role, ::testing::HasSubstr("VOID: " + why));
    text += fmt::format("- VOID: {}\n", why);
  }
  return text;
}

// With the least noise that we can prove, a claim that was asked for is as good as it was asked for.
void CheckAsked(const lab::Instance& instance) {
  const Privacy& privacy = instance.experiment.privacy;
  if (privacy.calibration != Calibration::kTight) return;
  double most = privacy.epsilon;
  for (const double each : privacy.budgets) most = std::max(most, each);
  for (const Claim& claim : instance.federation.claims) {
    if (claim.asked) EXPECT_LE(claim.guarantee.epsilon, most) << ToText(claim);
    if (claim.asked) EXPECT_LE(claim.guarantee.delta, privacy.delta) << ToText(claim);
  }
}

// A claim names no party that does not exist.
void CheckParties(const Federation& federation) {
  const auto* ticks = std::get_if<TickRoles>(&federation.roles);
  const auto* rounds = std::get_if<RoundRoles>(&federation.roles);
  const bool peers =
      (ticks != nullptr && ticks->server == nullptr) || (rounds != nullptr && rounds->controller == nullptr);
  if (!peers) return;
  for (const Claim& claim : federation.claims) {
    EXPECT_THAT(claim.adversary, ::testing::Not(::testing::ContainsRegex("server|controller")))
        << ToText(claim);
  }
}

std::string InWords(const std::map<std::string, std::set<std::string>>& where,
                    const std::map<std::string, std::set<std::string>>& all) {
  std::vector<std::string> parts;
  const auto name = [&](const std::string& key) {
    const std::set<std::string>& values = where.at(key);
    const bool one_world = key == "environment.kind" && all.at(key).size() == 1;
    if (one_world || (values == all.at(key) && values.size() > 1)) return;  // the option may have any value
    parts.push_back(fmt::format("`{}` = {}", key, fmt::join(values, " or ")));
  };
  name("privacy.model");
  for (const auto& [key, values] : where) {
    if (key != "privacy.model") name(key);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns the part of the page about one algorithm.
std::string Section(const Family& family, const std::vector<Case>& cases) {
  std::map<std::string, std::set<std::string>> all;
  for (const Case& each : cases) {
    for (const auto& [key, values] : each.where) all[key].insert(values.begin(), values.end());
  }
  std::string text = fmt::format("## {}{}\n{}\n\n", family.name,
                                 family.time == TimeModel::kUser ? " (users)" : "", family.sentence);
  for (const Case& each : Merged(cases)) {
    text += fmt::format("**{}**\n{}\n", InWords(each.where, all), each.claims);
  }
  return text;
}

const char kIntroduction[] =
    R"(# Every claim that Bandana makes

This page is made from the registry of algorithms, by `tests/claims/claims_table_test.cc`. For each algorithm it has the claims
under every trust model, for every combination of the choices that change a claim. Numbers that change a claim are varied one at a
time, where at most one choice beside the calibration is not its default, and two pairs of them together (budgets with records
per person, colluding with the honest fraction). Reports, roles of a deployment and ledgers state
exactly these claims; the test compares the three. If code changes a claim, the test fails until somebody has reviewed this
page.

How to read a case:
- The line in bold says for which options the case holds. An option that is not named there has any value if it is a choice,
  and its usual value if it is a number. A number is named only where another value changes the claims.
- The usual values are epsilon = 1, delta = 1e-6, horizon = 3000, a population of 3000 clients, 4 agents, 4 actions in 3
  dimensions, and the defaults of all other options.
- Each item is one claim: (epsilon, delta), the protected unit, and the adversary. Figures are rounded up. `privacy.epsilon`
  asks for the first claim of a case; others follow from the mechanism.
- "VOID" means that the claims above it do not hold in such a run, and why. Where they have a condition ("only if"), they hold
  for other data that meet it.

)";

TEST_F(ClaimsTableTest, ThePageHasEveryClaimAsRunRoleAndLedgerSayIt) {
  std::string page = kIntroduction;
  std::size_t combinations = 0;
  for (const Family& family : Families().families()) {
    std::vector<Case> cases;
    for (const Setting& setting : AllSettings()) {
      if (setting.family != &family) continue;
      const std::size_t before = cases.size();
      const auto visit = [&](const Given& given, const Combinations::Where& where,
                             const std::string& unless) {
        const absl::StatusOr<lab::Instance> instance = InstanceOf(given);
        if (!instance.ok()) {
          EXPECT_TRUE(absl::IsInvalidArgument(instance.status())) << instance.status();
          return std::string();
        }
        ++combinations;
        CheckAsked(*instance);
        CheckParties(instance->federation);
        const std::string claims = Rendered(*instance);
        if (claims == unless) return claims;
        Case& each = cases.emplace_back(Case{.where = {}, .claims = claims});
        for (const auto& [key, value] : where) each.where[key] = {value};
        return claims;
      };
      Combinations(setting, lending_, visit).Run(small_);
      EXPECT_GT(cases.size(), before) << family.name << " in " << setting.world << " cannot be made";
    }
    page += Section(family, cases);
  }
  EXPECT_GT(combinations, 300u);
  const std::filesystem::path file = InSource("docs/claims.md");
  if (std::getenv("BANDANA_UPDATE") != nullptr) std::ofstream(file) << page;
  std::ostringstream reviewed;
  reviewed << std::ifstream(file).rdbuf();
  EXPECT_TRUE(reviewed.str() == page) << "docs/claims.md differs from the claims that are made now";
}

// Varies options, one at a time, and compares what they do to claims with what they say.
class OptionProbe {
 public:
  /// Which options are varied. kNew: those that were never varied before. kUndecided: those that are said not
  /// to change a claim, and those that are said to and have not yet; one value of each.
  enum class Which { kAll, kNew, kUndecided };

  explicit OptionProbe(std::string lending) : lending_(std::move(lending)) {}

  /// Varies the options that apply in this setting with these values.
  void Vary(const Setting& setting, const Given& base, Which which) {
    const absl::StatusOr<lab::ResolvedPoint> point = Resolve(base);
    if (!point.ok()) return;
    std::optional<std::string> before;
    for (const auto& [key, option] : OptionsOf(setting)) {
      EXPECT_TRUE(option.claims == Claims::kKept || option.claims == Claims::kChanged) << key;
      if (which == Which::kAll) declared_[key] = option;
      const Value* value = point->settings.Find(key);
      if (value == nullptr || (which == Which::kNew && tried_.contains(key))) continue;
      const bool decided = option.claims == Claims::kChanged && changing_.contains(key);
      if (which == Which::kUndecided && decided) continue;
      if (!before.has_value()) {
        const absl::StatusOr<lab::Instance> usual = InstanceOf(base);
        if (!usual.ok()) return;
        before = Rendered(*usual);
      }
      bool accepted = false;
      for (const Value& probe : Probes(option)) {
        if (probe == *value || (accepted && which == Which::kUndecided)) continue;
        Given varied = base;
        varied[key] = probe;
        if (key == "environment.log" && IsLending(varied)) varied["environment.file"] = std::string();
        const absl::StatusOr<lab::Instance> instance = InstanceOf(varied);
        if (!instance.ok()) continue;
        accepted = true;
        tried_.insert(key);
        const std::string after = Rendered(*instance);
        if (after == *before) continue;
        changing_.insert(key);
        EXPECT_EQ(option.claims, Claims::kChanged)
            << setting.family->name << ", " << key << " = " << ToText(probe) << " changes a claim from\n"
            << *before << "to\n"
            << after;
      }
    }
  }

  /// Returns the options of which no value was tried, apart from texts and paths.
  std::set<std::string> NeverTried() const {
    std::set<std::string> never;
    for (const auto& [key, option] : declared_) {
      const bool text = option.kind == Option::Kind::kText || option.kind == Option::Kind::kPath;
      if (!text && !tried_.contains(key)) never.insert(key);
    }
    return never;
  }

  /// Returns the options that say that they change a claim, although no value did.
  std::set<std::string> NeverChanging() const {
    std::set<std::string> never;
    for (const auto& [key, option] : declared_) {
      if (option.claims == Claims::kChanged && !changing_.contains(key)) never.insert(key);
    }
    return never;
  }

 private:
  std::vector<Value> Probes(const Option& option) const {
    return option.kind == Option::Kind::kPath ? std::vector<Value>{lending_} : ProbesOf(option);
  }

  std::string lending_;
  std::map<std::string, Option> declared_;
  std::set<std::string> tried_;
  std::set<std::string> changing_;
};

// Every option says whether it changes a claim.
TEST_F(ClaimsTableTest, EveryOptionChangesClaimsExactlyIfItSaysSo) {
  using Which = OptionProbe::Which;
  OptionProbe probe(lending_);
  for (const Setting& setting : AllSettings()) {
    Given base = GivenFor(setting, small_);
    probe.Vary(setting, base, Which::kAll);
    base["privacy.calibration"] = std::string("paper");
    if (setting.model != TrustModel::kNone) probe.Vary(setting, base, Which::kAll);
  }
  // Some change a claim only with another word of an option that changes claims.
  for (const Setting& setting : AllSettings()) {
    for (const char* calibration : {"tight", "paper"}) {
      Given base = GivenFor(setting, small_);
      if (setting.model != TrustModel::kNone) base["privacy.calibration"] = std::string(calibration);
      for (const auto& [key, option] : OptionsOf(setting)) {
        if (option.claims != Claims::kChanged || !HasWords(option) || key == "privacy.calibration") continue;
        for (const Value& word : ProbesOf(option)) {
          Given changed = base;
          changed[key] = word;
          if (IsLending(changed)) changed["environment.file"] = std::string();
          probe.Vary(setting, changed, Which::kUndecided);
        }
      }
      if (setting.model == TrustModel::kNone) break;
    }
  }
  // Some options apply only if another one has a certain value.
  for (const Setting& setting : AllSettings()) {
    const Given base = GivenFor(setting, small_);
    for (const auto& [key, option] : OptionsOf(setting)) {
      for (const Value& value : ProbesOf(option)) {
        Given changed = base;
        changed[key] = value;
        probe.Vary(setting, changed, Which::kNew);
      }
    }
  }
  // Others need more than that.
  const std::vector<Given> more = {
      {{"environment.log", std::string("auto-lending")}, {"environment.file", std::string()}},
      {{"environment.action_set", std::string("sphere")}, {"algorithm.net", std::string("sampled")}},
      {{"federation.topology", std::string("erdos-renyi")}, {"federation.edge_probability", 1.0}},
      {{"environment.reward_high", 40.0}, {"environment.reward_default", 35.0}},
      {{"environment.contexts", std::string("margin")}, {"environment.actions", std::int64_t{2}}}};
  for (const Setting& setting : AllSettings()) {
    for (const Given& also : more) {
      Given base = GivenFor(setting, small_);
      for (const auto& [key, value] : also) base[key] = value;
      probe.Vary(setting, base, Which::kNew);
    }
  }
  // The other value of privacy.neighbours is refused, as the next test shows.
  EXPECT_THAT(probe.NeverTried(), ::testing::ElementsAre("privacy.neighbours"));
  EXPECT_THAT(probe.NeverChanging(), ::testing::IsEmpty());
}

// A combination that cannot be made has no row. That may be because the algorithm refuses it, or because this
// test gives it no usable world. So each word that no setting of a trust model takes is named here, with its
// reason.
TEST_F(ClaimsTableTest, EveryWordOfAnOptionThatChangesClaimsIsMadeUnlessItIsRefused) {
  std::set<std::string> refused;
  for (const Setting& setting : AllSettings()) {
    std::map<std::string, std::set<std::string>> tried;
    std::map<std::string, std::set<std::string>> made;
    const auto visit = [&](const Given& given, const Combinations::Where& where, const std::string&) {
      const bool ok = InstanceOf(given).ok();
      for (const auto& [key, word] : where) {
        tried[key].insert(word);
        if (ok) made[key].insert(word);
      }
      return std::string();  // then no numbers are varied
    };
    Combinations(setting, lending_, visit).Run(small_);
    for (const auto& [key, words] : tried) {
      for (const std::string& word : words) {
        if (made[key].contains(word)) continue;
        refused.insert(fmt::format("{} in {}, {}: {} = {}", setting.family->name, setting.world,
                                   NameOf(setting.model), key, word));
      }
    }
  }
  // Contexts with a margin are for two arms, and this test's world has three. How users' contexts are drawn
  // changes no claim.
  std::erase_if(refused, [](const std::string& each) {
    return each.find(" in glm, ") != std::string::npos && each.ends_with("environment.contexts = margin");
  });
  // The paper has no formula for shuffled sums, and through a shuffler agents cannot ask for a sync.
  EXPECT_THAT(refused, ::testing::UnorderedElementsAre(
                           "fed-ucb in contextual-linear, shuffle: privacy.calibration = paper",
                           "fed-ucb in contextual-linear, shuffle: algorithm.sync = determinant"));
}

// The proofs are for replace-one neighbours. Every algorithm refuses others by name, and says why.
TEST_F(ClaimsTableTest, AddRemoveNeighboursAreRefusedByName) {
  for (const Setting& setting : AllSettings()) {
    if (setting.model == TrustModel::kNone) continue;
    Given given = GivenFor(setting, small_);
    given["privacy.neighbours"] = std::string("add-remove");
    const std::optional<InputError> error = InputErrorOf(InstanceOf(given).status());
    ASSERT_TRUE(error.has_value()) << setting.family->name;
    EXPECT_EQ(error->key, "privacy.neighbours") << setting.family->name;
    EXPECT_EQ(error->value, "add-remove");
    EXPECT_THAT(error->accepted, ::testing::HasSubstr("plans, quorums and schedules tell it"));
  }
}

}  // namespace
}  // namespace bandana::cli
