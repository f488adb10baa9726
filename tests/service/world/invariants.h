#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "bandana/core/sha256.h"
#include "bandana/privacy/ledger/verifier.h"
#include "bandana/store/memory_store.h"
#include "bandana/store/store_ledger.h"
#include "fmt/format.h"
#include "proto/link.pb.h"

namespace bandana::service {

/// Checks that hold at every moment in every deployment, whatever goes wrong. It knows the frames that left a
/// process, and what is durable on the disks. Each function returns what is wrong; empty if nothing is.
class Invariants {
 public:
  /// A numbered message never changes, however often it is sent. `body` is spelled so that two bodies with
  /// the same meaning are the same. Sets `is_new` if nobody has seen the number before.
  std::string OnData(const std::string& from, const std::string& to, const v1::Data& data,
                     std::string_view body, bool& is_new) {
    std::uint64_t& promised = promised_[{from, to}];
    promised = std::max(promised, data.sent());
    const std::string digest = Sha256(body);
    const auto [it, inserted] = sent_.try_emplace({from, to, data.seq()}, digest);
    is_new = inserted;
    if (inserted || it->second == digest) return "";
    return fmt::format("message {} from {} to {} has changed", data.seq(), from, to);
  }

  void OnAck(const std::string& from, const std::string& to, std::uint64_t seq) {
    std::uint64_t& acknowledged = acknowledged_[{from, to}];
    acknowledged = std::max(acknowledged, seq);
  }

  /// A process still has what it has acknowledged, and will send again what it has promised to send again.
  std::string OnOpening(const v1::Opening& opening) {
    const std::pair link{opening.self(), opening.to()};
    if (opening.run().empty() || was_put_back_.contains(opening.self())) return "";
    if (opening.taken() < acknowledged_[link]) {
      return fmt::format("{} has acknowledged {} messages of {}, and now it has {}", opening.self(),
                         acknowledged_[link], opening.to(), opening.taken());
    }
    std::uint64_t& promised = promised_[link];
    if (opening.sent() < promised) {
      return fmt::format("{} has promised {} messages to {}, and now it has {}", opening.self(), promised,
                         opening.to(), opening.sent());
    }
    promised = opening.sent();
    return "";
  }

  /// The ledger only grows, its chain holds, nothing is released twice, nobody exceeds a budget, and the
  /// accounts of the running process are the ledger added up. `live` is null if no process runs.
  std::string OnDisk(const std::string& name, const store::MemoryDisk& disk, const store::StoreLedger* live) {
    Book& book = books_.try_emplace(name, name).first->second;
    const std::vector<std::string>& lines = disk.lines();
    if (book.verifier.lines() > 0 &&
        (lines.size() < book.verifier.lines() || !lines[book.verifier.lines() - 1].ends_with(book.last))) {
      return fmt::format("the ledger of {} has lost a line", name);
    }
    if (lines.size() == book.verifier.lines()) return "";
    while (book.verifier.lines() < lines.size()) {
      const std::string& line = lines[book.verifier.lines()];
      std::string wrong;
      const absl::Status status = book.verifier.Take(line, [&](const Dated<LedgerEntry>& entry, auto) {
        wrong = book.Add(entry.record);
        return absl::OkStatus();
      });
      if (!status.ok()) return std::string(status.message());
      if (!wrong.empty()) return fmt::format("the ledger of {}: {}", name, wrong);
      book.last = line.substr(line.size() - std::min<std::size_t>(line.size(), 80));
    }
    // A process that has charged more than it has committed is ahead of its disk.
    if (live == nullptr || live->has_changes() || live->head().hash != book.verifier.head().hash) return "";
    return book.Compare(name, live->accounts());
  }

  /// Returns whether a release is in the durable ledger of a process.
  bool IsCharged(const std::string& name, NodeId node, Epoch epoch) const {
    const auto book = books_.find(name);
    return book != books_.end() && book->second.released.contains({node, epoch});
  }

  std::uint64_t ReleasesOf(const std::string& name) const {
    const auto book = books_.find(name);
    return book == books_.end() ? 0 : book->second.released.size();
  }

  /// The disk of this process was put back to an earlier moment.
  void PutBack(const std::string& name) {
    was_put_back_.insert(name);
    books_.erase(name);
  }

 private:
  struct Book {
    explicit Book(const std::string& name) : verifier(name) {}

    // Nothing here is computed by the code that it checks.
    std::string Add(const LedgerEntry& entry) {
      const Loss& most = verifier.header().record.limits.per_unit;
      if (!released.emplace(entry.key.node, entry.key.epoch).second) {
        return fmt::format("node {} has released epoch {} twice", entry.key.node.value, entry.key.epoch);
      }
      std::string wrong;
      entry.units.ForEach([&](NodeId unit) {
        auto& [amount, delta] = spent[unit];
        amount += entry.loss.amount;
        delta += entry.loss.delta;
        if (amount > most.amount * kRounding || delta > most.delta * kRounding) {
          wrong = fmt::format("unit {} has spent more than its budget", unit.value);
        }
      });
      return wrong;
    }

    std::string Compare(const std::string& name, const Accounts& accounts) const {
      const auto near = [](double a, double b) { return std::abs(a - b) <= b * (kRounding - 1); };
      bool same = accounts.units() == spent.size() &&
                  accounts.releases() == static_cast<std::int64_t>(released.size());
      for (const auto& [unit, loss] : spent) {
        const Loss known = accounts.Of(unit).spent;
        same = same && near(known.amount, loss.first) && near(known.delta, loss.second);
      }
      return same ? "" : fmt::format("the accounts of {} are not its ledger added up", name);
    }

    static constexpr double kRounding = 1 + 1e-9;
    LedgerVerifier verifier;
    std::string last;  // the end of the last line, with its hash
    std::set<std::pair<NodeId, Epoch>> released;
    std::map<NodeId, std::pair<double, double>> spent;
  };

  using Link = std::pair<std::string, std::string>;  // from, to
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::string> sent_;
  std::map<Link, std::uint64_t> acknowledged_;
  std::map<Link, std::uint64_t> promised_;
  std::map<std::string, Book> books_;
  std::set<std::string> was_put_back_;
};

}  // namespace bandana::service
