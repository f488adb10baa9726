#include "bandana/audit/deployed/recovery_target.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "bandana/audit/mean_target.h"
#include "bandana/core/archive.h"
#include "bandana/core/status.h"
#include "bandana/federation/topology.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/service/codec.h"
#include "bandana/service/journal.h"
#include "bandana/service/machine.h"
#include "bandana/service/role_world.h"
#include "bandana/store/memory_store.h"
#include "proto/federation.pb.h"

namespace bandana::audit {
namespace {

constexpr std::int64_t kRecoveryDraws = 20'000;  // each draw is a deployment with many processes
constexpr Count kRecoveryClients = 3;
constexpr char kLink[] = "outside";

using Clients = std::vector<std::vector<RewardSum>>;

/// A role that takes some messages, releases once, and sends what it has released. With the next message it
/// forgets what it has taken, as roles do when a phase ends.
class ReleasingMachine final : public service::Machine {
 public:
  using Answer = std::function<absl::StatusOr<std::string>(Context&, const std::vector<std::string>&)>;

  ReleasingMachine(Links links, std::size_t messages, Answer answer)
      : messages_(messages),
        answer_(std::move(answer)),
        world_(std::nullopt, [](NodeId, NodeId, const Payload&) {}),
        context_(world_, std::move(links)) {}

  void Attach(store::StoreLedger& ledger, const store::Key& secret) override {
    world_.Attach(ledger, secret);
  }
  absl::Status Admits(const std::string&) const override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<Input>> Read(const std::string&, std::string_view body) const override {
    auto letter = std::make_unique<Letter>();
    letter->body = body;
    return letter;
  }
  absl::Status Begin() override { return absl::OkStatus(); }
  absl::Status Take(const std::string& link, Input& input) override {
    if (++count_ > messages_) {
      taken_.clear();
      SetClosed();
      return absl::OkStatus();
    }
    taken_.push_back(static_cast<Letter&>(input).body);
    if (count_ < messages_) return absl::OkStatus();
    BANDANA_ASSIGN_OR_RETURN(std::string released, answer_(context_, taken_));
    Send(link, std::move(released));
    return absl::OkStatus();
  }
  Absence JudgeAbsence(const std::string&) const override { return Absence::kWait; }
  absl::Status Lose(const std::string&, const std::string&) override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
  bool over() const override { return false; }
  absl::Status result() const override { return absl::OkStatus(); }

  std::string Save() const override { return SaveState(*this); }
  absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
  template <class Archive>
  void State(Archive& a) {
    a(count_, taken_, context_);
  }

 private:
  struct Letter : Input {
    std::string body;
  };

  std::size_t messages_;
  Answer answer_;
  service::RoleWorld world_;
  service::RoleContext context_;
  std::size_t count_ = 0;  // messages that were taken
  std::vector<std::string> taken_;
};

/// One life of the process: how many messages it has taken when it dies, and when it dies. Without a crash it
/// dies after everything that it may send has left.
struct Life {
  std::size_t messages = 0;
  std::optional<store::MemoryDisk::Crash> crash;
};

/// The worst moments, when `messages` messages make the release: in the commit of the charge, before and
/// after it is durable; several times while the release can only be computed again from its seed; in the
/// commit that erases the seed, before and after it is durable; and once more.
std::array<Life, 10> LivesOf(std::size_t messages) {
  using Crash = store::MemoryDisk::Crash;
  std::array<Life, 10> lives;
  lives.fill({messages, std::nullopt});
  lives[0].crash = Crash::kBefore;
  lives[1].crash = Crash::kAfter;
  lives[7] = {messages + 1, Crash::kBefore};
  lives[8] = {messages + 1, Crash::kAfter};
  lives[9] = {messages + 1, std::nullopt};
  return lives;
}

store::Entropy EntropyOf(NoiseGen& noise) {
  return [&noise] {
    store::Key key;
    for (std::size_t at = 0; at < key.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = noise();
      std::memcpy(key.data() + at, &word, sizeof(word));
    }
    return key;
  };
}

/// The disk of a process, with what stays on it over its lives.
class Deployment {
 public:
  Deployment(const StoreWrap& wrap, LedgerHeader header, NoiseGen& noise)
      : wrap_(wrap), header_(std::move(header)), entropy_(EntropyOf(noise)) {}

  /// Runs one life, in which the process gets the messages that it has not taken. Returns what has left it;
  /// empty if nothing has.
  absl::StatusOr<std::string> Live(const Life& life, const std::vector<std::string>& messages,
                                   service::Machine& machine) {
    store::MemoryStore disk(disk_);
    const std::unique_ptr<store::Store> wrapped = wrap_ ? wrap_(disk, ratchet_, entropy_) : nullptr;
    store::Store& store = wrapped ? *wrapped : disk;
    BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<service::Journal> journal,
                             service::Journal::Open({.storage = {&store, &ratchet_},
                                                     .header = header_,
                                                     .spec = "audit",
                                                     .program = "audit",
                                                     .entropy = entropy_},
                                                    machine));
    if (journal->run().empty()) {
      BANDANA_RETURN_IF_ERROR(journal->Begin(service::NewRun(), absl::UnixEpoch()));
    }
    for (std::uint64_t seq = journal->Taken(kLink) + 1; seq <= life.messages; ++seq) {
      const std::string& body = messages[seq - 1];
      BANDANA_ASSIGN_OR_RETURN(const auto input, machine.Read(kLink, body));
      BANDANA_RETURN_IF_ERROR(journal->Take(kLink, seq, body, *input));
      const bool dies = seq == life.messages && life.crash.has_value();
      if (dies) disk_.CrashAt(disk_.commits() + 1, *life.crash);
      const absl::Status durable = journal->Commit();
      if (dies && absl::IsUnavailable(durable)) break;
      BANDANA_RETURN_IF_ERROR(durable);
    }
    const service::Journal::Output* const output = journal->OutputAfter(kLink, 0);
    return output == nullptr ? "" : output->body;
  }

 private:
  const StoreWrap& wrap_;
  LedgerHeader header_;
  store::Entropy entropy_;
  store::MemoryDisk disk_;
  store::Ratchet ratchet_ = store::Ratchet::InMemory();
};

std::string Encoded(NodeId client, const Report& report) {
  v1::Message message;
  service::Encode({client, client, 0, 0, Share{1, 0, report}}, message);
  return message.SerializeAsString();
}

absl::StatusOr<Report> Decoded(const std::string& body) {
  v1::Message message;
  if (!message.ParseFromString(body)) return absl::InternalError("a report cannot be read");
  BANDANA_ASSIGN_OR_RETURN(Message decoded, service::Decode(message));
  return std::get<Share>(std::move(decoded.body)).report;
}

std::string BytesOf(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

/// The parts of a process in which the trust models differ.
template <class P>
struct Process {
  P privatizer;
  MeanQuery query;
  /// Returns the messages that it takes.
  std::function<absl::StatusOr<std::vector<std::string>>(const Clients&, NoiseGen&)> messages;
  /// Makes its role.
  std::function<std::unique_ptr<ReleasingMachine>(const Clients&)> machine;
  /// Returns the sum that the adversary reads in a message.
  std::function<absl::StatusOr<std::vector<double>>(const std::string& body, NoiseGen&)> read;
};

template <class P>
Target RecoveryTarget(const std::string& name, Process<P> process, StoreWrap wrap) {
  const std::size_t size = process.query.bounds.size();
  const std::size_t count = LivesOf(1).size();
  Target target{.name = name, .claim = ClaimOf(process.privatizer), .dimension = count * size};
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<double> direction = CornerDirection(process.query);
    target.direction.insert(target.direction.end(), direction.begin(), direction.end());
  }
  target.draw = [process = std::move(process), wrap = std::move(wrap), size](
                    Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    const Clients clients = Population(process.query, neighbour);
    BANDANA_ASSIGN_OR_RETURN(std::vector<std::string> messages, process.messages(clients, noise));
    const auto lives = LivesOf(messages.size());
    messages.emplace_back();  // the phase is over
    const DpGuarantee budget = process.privatizer.guarantee();
    Deployment deployment(wrap,
                          {.deployment = "audit",
                           .configuration = "recovery",
                           .claims = process.privatizer.claims(),
                           .limits = {.per_unit = {budget.epsilon, budget.delta}}},
                          noise);
    std::fill(view.begin(), view.end(), 0.0);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const std::unique_ptr<ReleasingMachine> machine = process.machine(clients);
      BANDANA_ASSIGN_OR_RETURN(const std::string body, deployment.Live(lives[i], messages, *machine));
      if (body.empty()) continue;
      BANDANA_ASSIGN_OR_RETURN(const std::vector<double> seen, process.read(body, noise));
      std::copy(seen.begin(), seen.end(), view.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    return absl::OkStatus();
  };
  return target;
}

}  // namespace

absl::StatusOr<Target> CentralRecoveryTarget(const std::string& name, DpGuarantee nominal, StoreWrap wrap) {
  using P = CentralGaussianMean;
  BANDANA_ASSIGN_OR_RETURN(const P mean, P::Create({nominal, Calibration::kTight, Sampler::kExact}));
  const MeanQuery query = AuditQuery(kRecoveryClients);
  Process<P> server{.privatizer = mean, .query = query};
  server.messages = [=](const Clients& clients, NoiseGen& noise) -> absl::StatusOr<std::vector<std::string>> {
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> reports, ReportsOf(mean, query, clients, noise));
    std::vector<std::string> messages;
    for (NodeId client{1}; const Report& report : reports) {
      messages.push_back(Encoded(client, report));
      ++client.value;
    }
    return messages;
  };
  server.machine = [=](const Clients& clients) {
    return std::make_unique<ReleasingMachine>(
        Topology::Star(kRecoveryClients).LinksOf(kServerNode), clients.size(),
        [=](Context& context, const std::vector<std::string>& taken) -> absl::StatusOr<std::string> {
          ReportSum sum;
          for (const std::string& body : taken) {
            BANDANA_ASSIGN_OR_RETURN(const Report report, Decoded(body));
            BANDANA_RETURN_IF_ERROR(mean.Add(query, report, sum));
          }
          BANDANA_ASSIGN_OR_RETURN(const Released<Mean> released,
                                   Release::FromAnalyzer(context, mean, 1, sum));
          return BytesOf(released.value().entries);
        });
  };
  server.read = [=](const std::string& body, NoiseGen&) -> absl::StatusOr<std::vector<double>> {
    std::vector<double> entries(body.size() / sizeof(double));
    std::memcpy(entries.data(), body.data(), entries.size() * sizeof(double));
    for (double& entry : entries) entry *= static_cast<double>(query.clients);
    return entries;
  };
  return RecoveryTarget(name, std::move(server), std::move(wrap));
}

absl::StatusOr<Target> LocalRecoveryTarget(const std::string& name, DpGuarantee nominal, StoreWrap wrap) {
  using P = LocalGaussianMean;
  BANDANA_ASSIGN_OR_RETURN(const P mean, P::Create({nominal, Calibration::kTight, Sampler::kExact}));
  const MeanQuery query = AuditQuery(1);
  Process<P> agent{.privatizer = mean, .query = query};
  agent.messages = [](const Clients&, NoiseGen&) -> absl::StatusOr<std::vector<std::string>> {
    return std::vector<std::string>{"the plan"};
  };
  agent.machine = [=](const Clients& clients) {
    return std::make_unique<ReleasingMachine>(
        Topology::Star(1).LinksOf(NodeId{1}), 1,
        [=](Context& context, const std::vector<std::string>&) -> absl::StatusOr<std::string> {
          BANDANA_ASSIGN_OR_RETURN(
              const Report report,
              Release::FromClient(context, mean, 1, query, Raw<RewardSums>(RewardSums(clients.front()))));
          return Encoded(NodeId{1}, report);
        });
  };
  agent.read = [=](const std::string& body, NoiseGen& noise) -> absl::StatusOr<std::vector<double>> {
    BANDANA_ASSIGN_OR_RETURN(const Report report, Decoded(body));
    BANDANA_ASSIGN_OR_RETURN(const Mean seen, ReleaseMean(mean, query, {report}, noise));
    return seen.entries;
  };
  return RecoveryTarget(name, std::move(agent), std::move(wrap));
}

std::vector<Entry> DeployedEntries() {
  return {{"recovery-central",
           "a trusted server that is killed nine times at the worst moments, and goes on from its store",
           kSharp, kRecoveryDraws,
           [](const std::string& name, DpGuarantee nominal) { return CentralRecoveryTarget(name, nominal); }},
          {"recovery-local", "an agent that is killed in the same way while it reports for a client", kSharp,
           kRecoveryDraws,
           [](const std::string& name, DpGuarantee nominal) { return LocalRecoveryTarget(name, nominal); }}};
}

}  // namespace bandana::audit
