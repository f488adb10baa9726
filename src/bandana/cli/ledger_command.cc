#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/ledger_json.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/ledger/reader.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr std::int64_t kMostClients = 0xffffffff;

absl::Status IgnoreCharge(const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); }

void Print(const lab::Json& json) {
  fmt::print("{}\n", json.dump(1, ' ', false, lab::Json::error_handler_t::replace));
}

int Show(const LedgerArguments& arguments, const Global& global) {
  std::vector<Dated<LedgerEntry>> of_client;
  lab::Json charges = lab::Json::array();
  const std::optional<NodeId> client =
      arguments.client ? std::optional(NodeId{static_cast<std::uint32_t>(*arguments.client)}) : std::nullopt;
  const auto collect = [&](const Dated<LedgerEntry>& entry, std::string_view) {
    if (client && entry.record.units.Contains(*client)) of_client.push_back(entry);
    return absl::OkStatus();
  };
  const absl::StatusOr<LedgerState> state = ReadLedger(arguments.file, {}, collect);
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
    json["file"] = arguments.file;
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
  fmt::print("{}: the ledger of '{}', configuration {}\n", arguments.file, header.deployment,
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
    fmt::print("charge {}  {}  node {}, epoch {}: {} {}, delta {}, with {} other client{}\n", entry.seq,
               entry.time, entry.record.key.node.value, entry.record.key.epoch, AmountOf(limits.measure),
               entry.record.loss.amount, entry.record.loss.delta, entry.record.units.count() - 1,
               entry.record.units.count() == 2 ? "" : "s");
  }
  fmt::print("head {} {}\n", state->head.seq, state->head.hash);
  for (const std::string& note : notes) fmt::print("note: {}\n", note);
  return 0;
}

int VerifyLedger(const LedgerArguments& arguments, const Global& global) {
  ReadOptions options;
  if (arguments.head) {
    if (!IsHash(*arguments.head)) {
      return Fail(InvalidOption("--head", *arguments.head, "64 digits 0-9a-f, as ledger show prints them"),
                  global);
    }
    options.noted_head = arguments.head;
  }
  const absl::StatusOr<LedgerState> state = ReadLedger(arguments.file, options, IgnoreCharge);
  if (!state.ok()) return Fail(state.status(), global);
  if (global.json) {
    Print({{"file", arguments.file},
           {"verified", true},
           {"releases", state->accounts.releases()},
           {"clients", state->accounts.units()},
           {"head", lab::ToJson(state->head)},
           {"noted_seq", state->noted_seq ? lab::Json(*state->noted_seq) : lab::Json(nullptr)},
           {"notes", lab::LedgerNotes(*state)}});
    return 0;
  }
  fmt::print("{}: verified: {} releases, {} clients, within budget\nhead {} {}\n", arguments.file,
             state->accounts.releases(), state->accounts.units(), state->head.seq, state->head.hash);
  if (state->noted_seq) {
    fmt::print("the noted head belongs to charge {}: nothing up to this charge was altered\n",
               *state->noted_seq);
  }
  for (const std::string& note : lab::LedgerNotes(*state)) fmt::print("note: {}\n", note);
  return 0;
}

absl::Status WriteExport(const std::string& path, const std::string& ledger, const std::string& text) {
  std::error_code error;
  for (const std::string& kept : {ledger, HeadPath(ledger)}) {
    if (std::filesystem::equivalent(path, kept, error)) {
      return InvalidInput(
          {.message = "an export must not replace the ledger", .key = "--out", .value = path});
    }
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (file) return absl::OkStatus();
  return InvalidInput({.message = "cannot be written",
                       .key = "--out",
                       .value = path,
                       .accepted = "a file that can be written"});
}

int Export(const LedgerArguments& arguments, const Global& global) {
  const bool as_json = arguments.format == "json" || (arguments.format.empty() && global.json);
  if (!as_json && global.json && arguments.out.empty()) {
    return Fail(InvalidOption("--format", "csv", "json, with --json and without --out"), global);
  }
  std::vector<Dated<LedgerEntry>> entries;
  std::vector<std::string> hashes;
  const absl::StatusOr<LedgerState> state =
      ReadLedger(arguments.file, {}, [&](const Dated<LedgerEntry>& entry, std::string_view hash) {
        entries.push_back(entry);
        hashes.emplace_back(hash);
        return absl::OkStatus();
      });
  if (!state.ok()) return Fail(state.status(), global);

  const Measure measure = state->accounts.limits().measure;
  std::string text;
  if (as_json) {
    const lab::Json json = lab::LedgerJson(*state, entries, hashes);
    text = json.dump(1, ' ', false, lab::Json::error_handler_t::replace) + "\n";
  } else {
    text = fmt::format("seq,time,node,epoch,epsilon,delta,loss_{},loss_delta,clients,units,hash\n",
                       AmountOf(measure));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const LedgerEntry& record = entries[i].record;
      text += fmt::format("{},{},{},{},{},{},{},{},{},\"{}\",{}\n", entries[i].seq, entries[i].time,
                          record.key.node.value, record.key.epoch, record.guarantee.epsilon,
                          record.guarantee.delta, record.loss.amount, record.loss.delta, record.units.count(),
                          record.units.ToText(), hashes[i]);
    }
  }
  if (arguments.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (const absl::Status status = WriteExport(arguments.out, arguments.file, text); !status.ok()) {
    return Fail(status, global);
  }
  if (global.json) {
    Print({{"out", arguments.out}, {"charges", entries.size()}, {"head", lab::ToJson(state->head)}});
  } else if (!global.quiet) {
    fmt::print(stderr, "{} charges written to {}\n", entries.size(), arguments.out);
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
  BANDANA_RETURN_IF_ERROR(only(!arguments.format.empty(), "--format", "export"));
  BANDANA_RETURN_IF_ERROR(only(!arguments.out.empty(), "--out", "export"));
  if (arguments.client && !(*arguments.client >= 1 && *arguments.client <= kMostClients)) {
    return InvalidOption("--client", fmt::format("{}", *arguments.client),
                         fmt::format("a whole number from 1 to {}", kMostClients));
  }
  if (!arguments.format.empty() && arguments.format != "csv" && arguments.format != "json") {
    return InvalidOption("--format", arguments.format, "csv, json");
  }
  return absl::OkStatus();
}

}  // namespace

int LedgerCommand(const LedgerArguments& arguments, const Global& global) {
  const bool known =
      arguments.action == "show" || arguments.action == "verify" || arguments.action == "export";
  if (!known) return Fail(InvalidOption("ledger", arguments.action, "show, verify, export"), global);
  if (const absl::Status status = CheckFlags(arguments); !status.ok()) return Fail(status, global);
  if (arguments.action == "show") return Show(arguments, global);
  if (arguments.action == "verify") return VerifyLedger(arguments, global);
  return Export(arguments, global);
}

}  // namespace bandana::cli
