#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/ledger_json.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/store/identity.h"
#include "bandana/store/ledger_mirror.h"
#include "bandana/store/ledger_reader.h"
#include "bandana/store/signed_head.h"
#include "bandana/store/sqlite_store.h"
#include "bandana/store/store_name.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr std::int64_t kMostClients = 0xffffffff;

absl::Status IgnoreCharge(const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); }

void Print(const lab::Json& json) {
  fmt::print("{}\n", json.dump(1, ' ', false, lab::Json::error_handler_t::replace));
}

/// A ledger in a file of its own, or that of a store.
class Source {
 public:
  static absl::StatusOr<Source> Open(const std::string& name) {
    Source source;
    source.file_ = name;
    if (!store::NamesStore(name)) return source;
    BANDANA_ASSIGN_OR_RETURN(source.file_, store::FileOfStore(name));
    BANDANA_ASSIGN_OR_RETURN(source.store_, store::SqliteStore::OpenToRead(source.file_));
    return source;
  }

  const std::string& file() const { return file_; }
  /// Returns null if the ledger is not that of a store.
  store::Store* store() const { return store_.get(); }

  absl::StatusOr<LedgerState> Read(const ReadOptions& options, LedgerVerifier::Visit visit) const {
    return store_ == nullptr ? ReadLedger(file_, options, visit)
                             : store::ReadStoreLedger(*store_, options, visit);
  }

  /// Returns the files that an export must not replace.
  std::vector<std::string> Files() const {
    if (store_ == nullptr) return {file_, HeadPath(file_)};
    return {file_, file_ + "-wal", file_ + "-shm"};
  }

 private:
  std::string file_;
  std::unique_ptr<store::SqliteStore> store_;
};

int Show(const LedgerArguments& arguments, const Source& source, const Global& global) {
  std::vector<Dated<LedgerEntry>> of_client;
  lab::Json charges = lab::Json::array();
  const std::optional<NodeId> client =
      arguments.client ? std::optional(NodeId{static_cast<std::uint32_t>(*arguments.client)}) : std::nullopt;
  const auto collect = [&](const Dated<LedgerEntry>& entry, std::string_view) {
    if (client && entry.record.units.Contains(*client)) of_client.push_back(entry);
    return absl::OkStatus();
  };
  const absl::StatusOr<LedgerState> state = source.Read({}, collect);
  if (!state.ok()) return Fail(state.status(), global);

  const Accounts& accounts = state->accounts;
  const Limits& limits = accounts.limits();
  const std::optional<NodeId> largest = accounts.LargestSpender();
  const bool never_charged = client && of_client.empty();
  std::vector<std::string> notes = lab::LedgerNotes(*state);
  if (never_charged) {
    notes.insert(notes.begin(), fmt::format("this ledger has no charge to client {}", client->value));
  }
  if (global.json) {
    lab::Json json = lab::HeaderJson(state->header);
    json["file"] = source.file();
    json["last_charge"] = accounts.releases() > 0 ? lab::Json(state->last_time) : lab::Json(nullptr);
    json["releases"] = accounts.releases();
    json["clients"] = accounts.units();
    json["largest"] = largest ? lab::LedgerAccountJson(*largest, accounts) : lab::Json(nullptr);
    json["total"] = lab::ToJson(accounts.total(), limits.measure);
    json["head"] = lab::ToJson(state->head);
    json["notes"] = notes;
    if (client) {
      json["client"] = lab::LedgerAccountJson(*client, accounts);
      for (const Dated<LedgerEntry>& entry : of_client) {
        lab::Json charge = lab::ChargeJson(entry, limits.measure, "");
        for (const char* of_others : {"units", "hash"}) charge.erase(of_others);
        charges.push_back(std::move(charge));
      }
      json["client"]["charges"] = std::move(charges);
    }
    Print(json);
    return 0;
  }

  const LedgerHeader& header = state->header.record;
  fmt::print("{}: the ledger of '{}', configuration {}\n", source.file(), header.deployment,
             header.configuration);
  for (const Claim& claim : header.claims) {
    fmt::print("claim: {} ({} neighbours); proof: {}\n", ToText(claim), claim.neighbours, claim.proof);
  }
  if (header.claims.empty()) fmt::print("no privacy is claimed\n");
  if (!header.void_reason.empty()) fmt::print("VOID: {}\n", header.void_reason);
  fmt::print("{} releases, {} clients charged, from {} to {}\n\n", accounts.releases(), accounts.units(),
             state->header.time, state->last_time);
  const auto row = [](std::string name, const Loss& loss) -> std::vector<std::string> {
    return {std::move(name), fmt::format("{}", loss.amount), fmt::format("{}", loss.delta)};
  };
  std::vector<std::vector<std::string>> rows = {{"", std::string(AmountOf(limits.measure)), "delta"}};
  rows.push_back(row("budget of a client", limits.per_unit));
  if (const std::optional<NodeId> who = client ? client : largest; who && !never_charged) {
    const Accounts::Account account = accounts.Of(*who);
    rows.push_back(row(fmt::format("spent by client {}{}", who->value, client ? "" : ", the most of all"),
                       account.spent));
    rows.push_back(row("left to this client", lab::LeftOf(limits.per_unit, account.spent)));
  }
  if (limits.deployment) {
    rows.push_back(row("all releases together", accounts.total()));
    rows.push_back(row("budget of all releases", *limits.deployment));
    rows.push_back(row("left", lab::LeftOf(*limits.deployment, accounts.total())));
  }
  fmt::print("{}\n", Table(rows));
  for (const Dated<LedgerEntry>& entry : of_client) {
    const std::string run = entry.record.run.empty() ? "" : fmt::format("run {}, ", entry.record.run);
    fmt::print("charge {}  {}  {}node {}, epoch {}: {} {}, delta {}, with {} other client{}\n", entry.seq,
               entry.time, run, entry.record.key.node.value, entry.record.key.epoch, AmountOf(limits.measure),
               entry.record.loss.amount, entry.record.loss.delta, entry.record.units.count() - 1,
               entry.record.units.count() == 2 ? "" : "s");
  }
  fmt::print("head {} {}\n", state->head.seq, state->head.hash);
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
  return 0;
}

/// The files behind --anchor and --key.
struct Evidence {
  std::optional<store::SignedHead> head;  ///< the anchor's, or else the store's own
  std::string file;                       ///< where the head is
  std::optional<store::PublicKey> key;    ///< the key that has signed it
};

absl::StatusOr<Evidence> ReadEvidence(const LedgerArguments& arguments, const Source& source) {
  Evidence evidence;
  if (!arguments.key.empty()) {
    BANDANA_ASSIGN_OR_RETURN(evidence.key, store::PublicKey::Open(arguments.key));
  }
  if (!arguments.anchor.empty()) {
    evidence.file = arguments.anchor;
    BANDANA_ASSIGN_OR_RETURN(evidence.head, store::ReadSignedHead(arguments.anchor));
    std::optional<std::string> identity;
    if (source.store() != nullptr) {
      BANDANA_ASSIGN_OR_RETURN(identity, source.store()->Meta("store"));
    }
    if (identity && *identity != evidence.head->store) {
      return FileError(absl::StatusCode::kDataLoss, arguments.anchor,
                       fmt::format("this is the head of the store {}, but {} is the store {}",
                                   evidence.head->store, source.file(), *identity));
    }
  } else if (source.store() != nullptr) {
    evidence.file = source.file();
    BANDANA_ASSIGN_OR_RETURN(evidence.head, store::StoredHead(*source.store()));
  }
  if (!evidence.key) return evidence;
  if (source.store() == nullptr && arguments.anchor.empty()) {
    return InvalidInput({.message = "a ledger's file has no signed head",
                         .key = "--key",
                         .accepted = "only with a store, or with --anchor"});
  }
  if (!evidence.head) {
    return FileError(absl::StatusCode::kDataLoss, source.file(),
                     "this store has no signed head: no process has written its ledger with a key");
  }
  BANDANA_RETURN_IF_ERROR(store::CheckSignature(*evidence.head, *evidence.key, evidence.file));
  return evidence;
}

// The head's line must be in the ledger at its place, and the ledger must be that of the head's
// configuration.
absl::Status CheckEvidence(const Evidence& evidence, const Source& source, const LedgerState& state,
                           const LedgerArguments& arguments) {
  if (!evidence.head) return absl::OkStatus();
  const store::SignedHead& head = *evidence.head;
  const std::string& configuration = state.header.record.configuration;
  // The store's own head moves with each line. An anchor may be older than the ledger.
  if (evidence.key && arguments.anchor.empty() && head.head.seq < state.head.seq) {
    return FileError(
        absl::StatusCode::kDataLoss, source.file(),
        fmt::format("nobody has signed the lines after line {}, which the signed head names. If the "
                    "store was just restored, start its process once; otherwise the ledger was "
                    "altered",
                    head.head.seq));
  }
  const bool at_its_place = arguments.anchor.empty() || state.noted_seq == head.head.seq;
  if (head.configuration == configuration && at_its_place) return absl::OkStatus();
  return FileError(
      absl::StatusCode::kDataLoss, evidence.file,
      fmt::format("this is the head of the configuration {}, line {}, and not one of the ledger in {}, "
                  "whose configuration is {}",
                  head.configuration, head.head.seq, source.file(), configuration));
}

absl::StatusOr<ReadOptions> NotedHead(const LedgerArguments& arguments, const Evidence& evidence) {
  ReadOptions options;
  if (arguments.head && !IsHash(*arguments.head)) {
    return InvalidOption("--head", *arguments.head, "64 digits 0-9a-f, as ledger show prints them");
  }
  if (arguments.head && !arguments.anchor.empty()) {
    return InvalidInput(
        {.message = "cannot be used with --anchor", .key = "--head", .accepted = "one of the two"});
  }
  options.noted_head = arguments.head;
  if (!arguments.anchor.empty()) options.noted_head = evidence.head->head.hash;
  return options;
}

int VerifyLedger(const LedgerArguments& arguments, const Source& source, const Global& global) {
  const absl::StatusOr<Evidence> evidence = ReadEvidence(arguments, source);
  if (!evidence.ok()) return Fail(evidence.status(), global);
  const absl::StatusOr<ReadOptions> options = NotedHead(arguments, *evidence);
  if (!options.ok()) return Fail(options.status(), global);
  const absl::StatusOr<LedgerState> state = source.Read(*options, IgnoreCharge);
  if (!state.ok()) return Fail(state.status(), global);
  if (const absl::Status fits = CheckEvidence(*evidence, source, *state, arguments); !fits.ok()) {
    return Fail(fits, global);
  }
  std::vector<std::string> notes = lab::LedgerNotes(*state);
  const std::optional<store::SignedHead>& head = evidence->head;
  if (head && head->head.seq < state->head.seq) {
    notes.push_back(fmt::format("the signed head is that of line {}: nobody has signed the lines after it",
                                head->head.seq));
  }
  if (global.json) {
    lab::Json signed_by = nullptr;
    if (evidence->key) {
      signed_by = {{"key", evidence->key->name()}, {"seq", head->head.seq}, {"time", head->time}};
    }
    Print({{"file", source.file()},
           {"verified", true},
           {"releases", state->accounts.releases()},
           {"clients", state->accounts.units()},
           {"head", lab::ToJson(state->head)},
           {"noted_seq", state->noted_seq ? lab::Json(*state->noted_seq) : lab::Json(nullptr)},
           {"signed_by", std::move(signed_by)},
           {"notes", notes}});
    return 0;
  }
  fmt::print("{}: verified: {} releases, {} clients, within budget\nhead {} {}\n", source.file(),
             state->accounts.releases(), state->accounts.units(), state->head.seq, state->head.hash);
  if (state->noted_seq) {
    fmt::print("the noted head belongs to charge {}: nothing up to this charge was altered\n",
               *state->noted_seq);
  }
  if (evidence->key) {
    fmt::print("the head of line {} was signed at {} by the key {}\n", head->head.seq, head->time,
               evidence->key->name());
  }
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
  return 0;
}

absl::Status CheckOut(const std::string& path, const Source& source) {
  std::error_code error;
  for (const std::string& kept : source.Files()) {
    if (std::filesystem::equivalent(path, kept, error)) {
      return InvalidInput(
          {.message = "an export must not replace the ledger", .key = "--out", .value = path});
    }
  }
  return absl::OkStatus();
}

absl::Status WriteExport(const std::string& path, const Source& source, const std::string& text) {
  BANDANA_RETURN_IF_ERROR(CheckOut(path, source));
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (file) return absl::OkStatus();
  return InvalidInput({.message = "cannot be written",
                       .key = "--out",
                       .value = path,
                       .accepted = "a file that can be written"});
}

// Copies the lines of a store's ledger as they are, or adds the lines that an earlier copy lacks.
int ExportMirror(const LedgerArguments& arguments, const Source& source, const Global& global) {
  if (source.store() == nullptr) {
    return Fail(InvalidOption("--format", "mirror", "csv, json; a mirror is made of a store's ledger"),
                global);
  }
  if (arguments.out.empty()) {
    return Fail(InvalidInput({.message = "missing", .key = "--out", .accepted = "the file of the mirror"}),
                global);
  }
  // A ledger that does not verify is not copied.
  const absl::StatusOr<LedgerState> state = source.Read({}, IgnoreCharge);
  if (!state.ok()) return Fail(state.status(), global);
  if (const absl::Status status = CheckOut(arguments.out, source); !status.ok()) return Fail(status, global);
  const auto mirror = store::LedgerMirror::Open(arguments.out, *source.store());
  if (!mirror.ok()) return Fail(mirror.status(), global);
  if (global.json) {
    Print({{"out", arguments.out}, {"lines", state->head.seq + 1}, {"head", lab::ToJson(state->head)}});
  } else if (!global.quiet) {
    fmt::print(stderr, "{} lines are in {}, with the head in {}\n", state->head.seq + 1, arguments.out,
               HeadPath(arguments.out));
  }
  return 0;
}

int Export(const LedgerArguments& arguments, const Source& source, const Global& global) {
  if (arguments.format == "mirror") return ExportMirror(arguments, source, global);
  const bool as_json = arguments.format == "json" || (arguments.format.empty() && global.json);
  if (!as_json && global.json && arguments.out.empty()) {
    return Fail(InvalidOption("--format", "csv", "json, with --json and without --out"), global);
  }
  std::vector<Dated<LedgerEntry>> entries;
  std::vector<std::string> hashes;
  const absl::StatusOr<LedgerState> state =
      source.Read({}, [&](const Dated<LedgerEntry>& entry, std::string_view hash) {
        entries.push_back(entry);
        hashes.emplace_back(hash);
        return absl::OkStatus();
      });
  if (!state.ok()) return Fail(state.status(), global);

  const Measure measure = state->accounts.limits().measure;
  const std::int64_t charges = state->accounts.releases();
  std::string text;
  if (as_json) {
    const lab::Json json = lab::LedgerJson(*state, entries, hashes);
    text = json.dump(1, ' ', false, lab::Json::error_handler_t::replace) + "\n";
  } else {
    text = fmt::format("seq,time,run,node,epoch,epsilon,delta,loss_{},loss_delta,clients,units,hash\n",
                       AmountOf(measure));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const LedgerEntry& record = entries[i].record;
      if (!record.all_spent.empty()) continue;  // it is no charge; a note says it
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},\"{}\",{}\n", entries[i].seq, entries[i].time,
                          record.run, record.key.node.value, record.key.epoch, record.guarantee.epsilon,
                          record.guarantee.delta, record.loss.amount, record.loss.delta, record.units.count(),
                          record.units.ToText(), hashes[i]);
    }
  }
  if (!as_json && state->accounts.all_spent() && !global.quiet) {
    for (const std::string& note : lab::LedgerNotes(*state)) fmt::print(stderr, "note: {}\n", note);
  }
  if (arguments.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (const absl::Status status = WriteExport(arguments.out, source, text); !status.ok()) {
    return Fail(status, global);
  }
  if (global.json) {
    Print({{"out", arguments.out}, {"charges", charges}, {"head", lab::ToJson(state->head)}});
  } else if (!global.quiet) {
    fmt::print(stderr, "{} charges written to {}\n", charges, arguments.out);
  }
  return 0;
}

absl::Status CheckFlags(const LedgerArguments& arguments) {
  const auto only = [&](bool given, const std::string& flag, const std::string& action) {
    if (!given || arguments.action == action) return absl::OkStatus();
    return InvalidInput({.message = fmt::format("cannot be used with ledger {}", arguments.action),
                         .key = flag,
                         .accepted = "only with ledger " + action});
  };
  BANDANA_RETURN_IF_ERROR(only(arguments.client.has_value(), "--client", "show"));
  BANDANA_RETURN_IF_ERROR(only(arguments.head.has_value(), "--head", "verify"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.key.empty(), "--key", "verify"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.anchor.empty(), "--anchor", "verify"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.format.empty(), "--format", "export"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.out.empty(), "--out", "export"));
  if (arguments.client && !(*arguments.client >= 1 && *arguments.client <= kMostClients)) {
    return InvalidOption("--client", fmt::format("{}", *arguments.client),
                         fmt::format("a whole number from 1 to {}", kMostClients));
  }
  const bool known_format = arguments.format.empty() || arguments.format == "csv" ||
                            arguments.format == "json" || arguments.format == "mirror";
  if (!known_format) return InvalidOption("--format", arguments.format, "csv, json, mirror");
  return absl::OkStatus();
}

}  // namespace

int LedgerCommand(const LedgerArguments& arguments, const Global& global) {
  const bool known =
      arguments.action == "show" || arguments.action == "verify" || arguments.action == "export";
  if (!known) return Fail(InvalidOption("ledger", arguments.action, "show, verify, export"), global);
  if (const absl::Status status = CheckFlags(arguments); !status.ok()) return Fail(status, global);
  const absl::StatusOr<Source> source = Source::Open(arguments.file);
  if (!source.ok()) return Fail(source.status(), global);
  if (arguments.action == "show") return Show(arguments, *source, global);
  if (arguments.action == "verify") return VerifyLedger(arguments, *source, global);
  return Export(arguments, *source, global);
}

}  // namespace bandana::cli
