#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/summary.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr std::int64_t kMostClients = 0xffffffff;

absl::Status IgnoreCharge(const Dated<LedgerEntry>&, std::string_view) { return absl::OkStatus(); }

// Returns what is left of a budget, rounded down.
Loss Left(const Loss& budget, const Loss& spent) {
  return {0.0 - SumUp(spent.amount, -budget.amount), 0.0 - SumUp(spent.delta, -budget.delta)};
}

lab::Json ToJson(const Loss& loss, Measure measure) {
  return {{std::string(AmountOf(measure)), loss.amount}, {"delta", loss.delta}};
}

lab::Json ToJson(const LedgerHead& head) { return {{"seq", head.seq}, {"hash", head.hash}}; }

lab::Json HeaderJson(const Dated<LedgerHeader>& header) {
  const LedgerHeader& record = header.record;
  const Measure measure = record.limits.measure;
  lab::Json claims = lab::Json::array();
  for (const Claim& claim : record.claims) claims.push_back(lab::ToJson(claim));
  return {{"deployment", record.deployment},
          {"configuration", record.configuration},
          {"claims", claims},
          {"void", record.void_reason.empty() ? lab::Json(nullptr) : lab::Json(record.void_reason)},
          {"began", header.time},
          {"measure", NameOf(measure)},
          {"budget", ToJson(record.limits.per_unit, measure)},
          {"deployment_budget",
           record.limits.deployment ? ToJson(*record.limits.deployment, measure) : lab::Json(nullptr)}};
}

// Returns a charge without its draw, which only roles may see.
lab::Json ChargeJson(const Dated<LedgerEntry>& entry, Measure measure, std::string_view hash) {
  const LedgerEntry& record = entry.record;
  return {{"seq", entry.seq},
          {"time", entry.time},
          {"node", record.key.node.value},
          {"epoch", record.key.epoch},
          {"guarantee", {{"epsilon", record.guarantee.epsilon}, {"delta", record.guarantee.delta}}},
          {"loss", ToJson(record.loss, measure)},
          {"clients", record.units.count()},
          {"units", record.units.ToText()},
          {"hash", hash}};
}

lab::Json AccountJson(NodeId client, const Accounts& accounts) {
  const Accounts::Account account = accounts.Of(client);
  const Limits& limits = accounts.limits();
  return {{"client", client.value},
          {"releases", account.releases},
          {"spent", ToJson(account.spent, limits.measure)},
          {"left", ToJson(Left(limits.per_unit, account.spent), limits.measure)}};
}

void Print(const lab::Json& json) {
  fmt::print("{}\n", json.dump(1, ' ', false, lab::Json::error_handler_t::replace));
}

std::vector<std::string> Notes(const LedgerState& state) {
  std::vector<std::string> notes;
  if (state.torn_bytes > 0) {
    notes.push_back(
        fmt::format("the last {} bytes are an incomplete line. It is being written now, or its writer "
                    "stopped too early. Its release was not sent, and the next start removes the line",
                    state.torn_bytes));
  }
  if (state.written_head && state.written_head->seq < state.head.seq) {
    notes.push_back(
        fmt::format("the head file names line {}, which is not the last: charges are being written now, or "
                    "the writer crashed. The next start repairs the head file",
                    state.written_head->seq + 1));
  }
  if (!state.written_head && state.noted_seq && *state.noted_seq < state.head.seq) {
    notes.emplace_back(
        "there is no head file, so nobody can tell whether lines after the noted one were removed");
  }
  return notes;
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
  std::vector<std::string> notes = Notes(*state);
  if (never_charged) {
    notes.insert(notes.begin(), fmt::format("this ledger has no charge to client {}", client->value));
  }
  if (global.json) {
    lab::Json json = HeaderJson(state->header);
    json["file"] = arguments.file;
    json["last_charge"] = accounts.releases() > 0 ? lab::Json(state->last_time) : lab::Json(nullptr);
    json["releases"] = accounts.releases();
    json["clients"] = accounts.units();
    json["largest"] = largest ? AccountJson(*largest, accounts) : lab::Json(nullptr);
    json["total"] = ToJson(accounts.total(), limits.measure);
    json["head"] = ToJson(state->head);
    json["notes"] = notes;
    if (client) {
      json["client"] = AccountJson(*client, accounts);
      for (const Dated<LedgerEntry>& entry : of_client) {
        lab::Json charge = ChargeJson(entry, limits.measure, "");
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
    rows.push_back(row("left to this client", Left(limits.per_unit, account.spent)));
  }
  if (limits.deployment) {
    rows.push_back(row("all releases together", accounts.total()));
    rows.push_back(row("budget of all releases", *limits.deployment));
    rows.push_back(row("left", Left(*limits.deployment, accounts.total())));
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
           {"head", ToJson(state->head)},
           {"noted_seq", state->noted_seq ? lab::Json(*state->noted_seq) : lab::Json(nullptr)},
           {"notes", Notes(*state)}});
    return 0;
  }
  fmt::print("{}: verified: {} releases, {} clients, within budget\nhead {} {}\n", arguments.file,
             state->accounts.releases(), state->accounts.units(), state->head.seq, state->head.hash);
  if (state->noted_seq) {
    fmt::print("the noted head belongs to charge {}: nothing up to this charge was altered\n",
               *state->noted_seq);
  }
  for (const std::string& note : Notes(*state)) fmt::print("note: {}\n", note);
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
    lab::Json json = HeaderJson(state->header);
    lab::Json charges = lab::Json::array();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      charges.push_back(ChargeJson(entries[i], measure, hashes[i]));
    }
    lab::Json clients = lab::Json::array();
    for (const auto& [client, account] : state->accounts.All()) {
      clients.push_back(AccountJson(client, state->accounts));
    }
    json["charges"] = std::move(charges);
    json["clients"] = std::move(clients);
    json["head"] = ToJson(state->head);
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
    Print({{"out", arguments.out}, {"charges", entries.size()}, {"head", ToJson(state->head)}});
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
