#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "bandana/core/sha256.h"
#include "bandana/service/journal.h"
#include "bandana/service/party.h"
#include "bandana/service/protocol.h"
#include "bandana/service/runtime.h"
#include "bandana/store/memory_store.h"
#include "script.pb.h"
#include "tests/fuzz/processes.h"

/// A process of a deployment, with its journal and its links, to which the events of a script happen.
/// Whatever comes:
///   - nobody is connected, and nothing is taken from anybody, without a valid Opening;
///   - nobody ends the process who has not opened a connection, or whom it has not dialed itself;
///   - a process that was killed goes on with the same state.
namespace bandana::fuzz {

inline constexpr std::uint32_t kConnections = 4;
inline constexpr char kDigest[] = "seed=0123456789abcdef horizon=fedcba9876543210";
inline const std::string kRun(16, 'r');

// Nothing is sent: a script says what the others do.
class NoCarrier final : public service::Carrier {
 public:
  void Send(service::ConnectionId, v1::Frame) override {}
  void Close(service::ConnectionId id, v1::Frame) override { closed.insert(id); }
  std::set<service::ConnectionId> closed;
};

class Play {
 public:
  explicit Play(const ProcessKind& kind) : kind_(kind) { Start(); }

  void Do(const Event& event) {
    if (ended_) return;
    const std::uint32_t connection = event.connection() % kConnections;
    switch (event.what_case()) {
      case Event::kFrame:
        Receive(connection, event.frame());
        break;
      case Event::kFromAgent:
        Send(connection, event.from_agent().SerializeAsString());
        break;
      case Event::kToAgent:
        Send(connection, event.to_agent().SerializeAsString());
        break;
      case Event::kToPeer:
        Send(connection, event.to_peer().SerializeAsString());
        break;
      case Event::kOpen:
        Open(connection, kind_.partners[event.open() % kind_.partners.size()]);
        break;
      case Event::kWait:
        now_ += absl::Milliseconds(event.wait() % 20'000);
        break;
      case Event::kDrop:
        Drop(connection);
        break;
      case Event::kKill:
        Kill();
        break;
      case Event::WHAT_NOT_SET:
        break;
    }
    if (!ended_) Work();
  }

  Process& process() { return *process_; }

  // Returns how many messages were taken, over all links that are not lost.
  std::uint64_t taken() const {
    std::uint64_t taken = 0;
    for (const auto& [link, count] : TakenByLink()) taken += journal_->IsLost(link) ? 0 : count;
    return taken;
  }

  // Makes everything durable, and compares the process with the one that goes on after it.
  void Finish() {
    if (ended_ || journal_->run().empty()) return;
    now_ += absl::Seconds(1);
    Work();
    if (ended_ || process_->machine().over() || journal_->has_changes()) return;
    const std::string before = process_->machine().Save();
    Kill();
    BANDANA_CHECK(process_->machine().Save() == before);
  }

 private:
  // One end of a connection, as this process sees it.
  struct Other {
    service::ConnectionId id = 0;  // 0: there is no connection
    std::string dialed;            // this process has opened the connection to this partner
    std::string name;              // as a valid Opening says
    std::uint64_t sent = 0;
  };

  void Start() {
    others_ = {};
    carrier_.closed.clear();
    runtime_ = nullptr;
    journal_ = nullptr;
    process_ = std::make_unique<Process>(kind_);
    store_ = std::make_unique<store::MemoryStore>(disk_);
    const LedgerHeader header{.deployment = "fuzz",
                              .configuration = Sha256(kDigest),
                              .void_reason = "the seed is known",
                              .limits = {.per_unit = {1e6, 1}}};
    absl::StatusOr<std::unique_ptr<service::Journal>> journal =
        service::Journal::Open({.storage = {store_.get(), &ratchet_},
                                .header = header,
                                .spec = kDigest,
                                .program = "fuzz",
                                .sends_early = process_->runs_differ()},
                               process_->machine());
    if (!journal.ok()) std::fprintf(stderr, "%s\n", journal.status().ToString().c_str());
    BANDANA_CHECK(journal.ok());
    journal_ = *std::move(journal);
    service::Runtime::Params params{
        .self = kind_.self, .digest = kDigest, .runs_differ = process_->runs_differ()};
    const bool is_star = !process_->runs_differ();
    for (const std::string& partner : kind_.partners) {
      if (process_->Dials(partner) || !is_star)
        params.partners[partner] = {.dialed = process_->Dials(partner)};
    }
    if (is_star && kind_.self != service::kServerName) params.run_of = service::kServerName;
    params_ = params;
    runtime_ = std::make_unique<service::Runtime>(params, *journal_, process_->machine(), carrier_);
    After(runtime_->Start(now_), true);
  }

  void Kill() {
    const std::vector<store::Run> runs = *store_->Runs();
    if (!runs.empty() && runs.back().state != store::RunState::kOpen) {
      ended_ = true;
      return;
    }
    Start();
  }

  Other& OtherOn(std::uint32_t connection) {
    Other& other = others_[connection];
    if (carrier_.closed.contains(other.id)) other = {};
    if (other.id != 0) return other;
    other.id = ++last_connection_;
    const std::string& partner = kind_.partners[connection % kind_.partners.size()];
    if (process_->Dials(partner)) {
      other.dialed = partner;
      runtime_->Dialed(other.id, partner, now_);
    } else {
      runtime_->Accepted(other.id, now_);
    }
    return other;
  }

  void Drop(std::uint32_t connection) {
    Other& other = others_[connection];
    if (other.id != 0 && !carrier_.closed.contains(other.id)) runtime_->Disconnected(other.id, "lost", now_);
    other = {};
  }

  void Open(std::uint32_t connection, const std::string& name) {
    const Other& other = OtherOn(connection);
    v1::Frame frame;
    v1::Opening& opening = *frame.mutable_opening();
    opening.set_protocol_version(service::kProtocolVersion);
    opening.set_self(other.dialed.empty() ? name : other.dialed);
    opening.set_to(kind_.self);
    opening.set_digest(kDigest);
    const bool is_new = journal_->Taken(opening.self()) == 0 && !process_->runs_differ();
    opening.set_run(other.dialed.empty() && is_new ? ""
                    : process_->runs_differ()      ? kRun
                    : journal_->run().empty()      ? kRun
                                                   : journal_->run());
    opening.set_process("12345678");
    if (!opening.run().empty()) {
      opening.set_taken(journal_->Acknowledged(opening.self()));
      opening.set_sent(journal_->DurablyTaken(opening.self()));
    }
    Receive(connection, frame);
  }

  void Send(std::uint32_t connection, std::string body) {
    v1::Frame frame;
    Other& other = OtherOn(connection);
    v1::Data& data = *frame.mutable_data();
    data.set_seq(journal_->Taken(other.name) + 1);
    data.set_sent(data.seq());
    data.set_body(std::move(body));
    Receive(connection, frame);
  }

  // Returns whether an Opening may be accepted, as docs/service.md puts it.
  bool MayOpen(const Other& other, const v1::Opening& opening) const {
    const bool is_partner =
        params_.partners.contains(opening.self()) || process_->machine().Admits(opening.self()).ok();
    const bool has_numbers = opening.taken() > 0 || opening.sent() > 0 || opening.promised() > 0;
    if (opening.run().empty() && has_numbers) return false;
    return opening.protocol_version() == service::kProtocolVersion && opening.digest() == kDigest &&
           opening.to() == kind_.self && is_partner && service::IsParty(opening.self()) &&
           (other.dialed.empty() || other.dialed == opening.self());
  }

  void Receive(std::uint32_t connection, const v1::Frame& frame) {
    Other& other = OtherOn(connection);
    if (frame.has_opening() && MayOpen(other, frame.opening())) other.name = frame.opening().self();
    absl::StatusOr<std::unique_ptr<service::Machine::Input>> read =
        std::unique_ptr<service::Machine::Input>();
    if (frame.has_data()) read = process_->machine().Read(other.name, frame.data().body());
    const std::map<std::string, std::uint64_t> before = TakenByLink();
    const bool may_end = !other.dialed.empty() || !other.name.empty();
    const std::string name = other.name;
    After(runtime_->Receive(other.id, frame, "", std::move(read), now_), may_end);
    for (const auto& [link, taken] : TakenByLink()) {
      const auto found = before.find(link);
      if (taken > (found == before.end() ? 0 : found->second)) BANDANA_CHECK(link == name);
    }
    for (const std::string& link : runtime_->connected()) {
      BANDANA_CHECK(std::any_of(others_.begin(), others_.end(),
                                [&](const Other& each) { return each.name == link || each.dialed == link; }));
    }
  }

  std::map<std::string, std::uint64_t> TakenByLink() const {
    std::map<std::string, std::uint64_t> taken;
    for (const std::string& link : journal_->links()) taken[link] = journal_->Taken(link);
    return taken;
  }

  void Work() {
    for (int i = 0; i < 64 && !ended_ && runtime_->NextWake(now_) <= now_; ++i) {
      After(runtime_->Step(now_), true);
      if (!ended_ && runtime_->done()) ended_ = true;
    }
  }

  void After(const absl::Status& status, bool may_end) {
    if (status.ok()) return;
    if (!may_end) std::fprintf(stderr, "%s\n", status.ToString().c_str());
    BANDANA_CHECK(may_end);
    ended_ = true;
  }

  const ProcessKind& kind_;
  store::MemoryDisk disk_;
  store::Ratchet ratchet_ = store::Ratchet::InMemory();
  NoCarrier carrier_;
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1'000'000);
  std::unique_ptr<Process> process_;
  std::unique_ptr<store::MemoryStore> store_;
  std::unique_ptr<service::Journal> journal_;
  service::Runtime::Params params_;
  std::unique_ptr<service::Runtime> runtime_;
  std::array<Other, kConnections> others_;
  service::ConnectionId last_connection_ = 0;
  bool ended_ = false;
};

}  // namespace bandana::fuzz
