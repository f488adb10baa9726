#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "bandana/cli/commands.h"
#include "bandana/core/status.h"
#include "bandana/lab/ledger_json.h"
#include "bandana/store/anchor.h"
#include "bandana/store/backup.h"
#include "bandana/store/identity.h"
#include "bandana/store/ledger_reader.h"
#include "bandana/store/migrate.h"
#include "bandana/store/restore.h"
#include "bandana/store/schema.h"
#include "bandana/store/sqlite_store.h"
#include "bandana/store/store_name.h"
#include "fmt/format.h"

namespace bandana::cli {
namespace {

constexpr const char* kEndedByHand = "it was ended by hand (bandana store end)";

void PrintDocument(const lab::Json& json) {
  fmt::print("{}\n", json.dump(1, ' ', false, lab::Json::error_handler_t::replace));
}

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string_view StateText(store::RunState state) {
  switch (state) {
    case store::RunState::kOpen:
      return "open";
    case store::RunState::kFinished:
      return "finished";
    case store::RunState::kEnded:
      return "ended";
  }
  return "";
}

std::uintmax_t BytesOfFile(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

/// Says whether a store agrees with its anchor.
struct AnchorFinding {
  std::string file;  ///< empty if the store never had one, and none was named
  bool agrees = false;
  std::string text;
};

// A path that the store remembers was written by a process that ran in another folder, perhaps.
std::string FindAnchor(const std::string& remembered, const std::string& store) {
  std::error_code error;
  const std::string beside = (std::filesystem::path(store).parent_path() / remembered).string();
  const bool moved = !std::filesystem::exists(remembered, error) && std::filesystem::exists(beside, error);
  return moved ? beside : remembered;
}

absl::StatusOr<AnchorFinding> CompareAnchor(store::Store& opened, const std::string& named) {
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> had, opened.Meta(store::kAnchorMeta));
  AnchorFinding finding;
  finding.file = named.empty() && had ? FindAnchor(*had, opened.name()) : named;
  if (finding.file.empty()) {
    finding.text = "the store has none";
    return finding;
  }
  const absl::StatusOr<store::SignedHead> anchor = store::ReadSignedHead(finding.file);
  const absl::Status status =
      anchor.ok() ? store::CheckAnchor(finding.file, *anchor, opened) : anchor.status();
  finding.agrees = status.ok();
  finding.text = finding.agrees ? fmt::format("{} agrees: it knows line {}", finding.file, anchor->head.seq)
                                : "does not agree: " + std::string(status.message());
  return finding;
}

// The counts of messages that were taken are not shown: they can be a function of what people did.
absl::Status ShowStore(const StoreArguments& arguments, const std::string& path, const Global& global) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<store::SqliteStore> opened,
                           store::SqliteStore::OpenToRead(path));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> identity, opened->Meta("store"));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<std::string> made, opened->Meta(store::kCopyMeta));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<store::Run> runs, opened->Runs());
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, opened->Lines());
  BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> head, store::HeadOf(*opened));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<store::SignedHead> stored, store::StoredHead(*opened));
  BANDANA_ASSIGN_OR_RETURN(const AnchorFinding anchor, CompareAnchor(*opened, arguments.anchor));
  BANDANA_ASSIGN_OR_RETURN(const std::optional<store::PutSnapshot> snapshot, opened->Snapshot());
  std::uint64_t waiting = 0;
  BANDANA_RETURN_IF_ERROR(opened->ForEachOutput([&](const store::PutOutput&) {
    ++waiting;
    return absl::OkStatus();
  }));
  const std::uintmax_t bytes = BytesOfFile(path);
  const std::uintmax_t log_bytes = BytesOfFile(path + "-wal");
  const std::size_t schema = store::Migrations().size();  // OpenToRead accepts no other
  const auto time_of_end = [](const store::Run& run) {
    return run.state == store::RunState::kOpen ? std::string() : TimeText(run.ended);
  };

  if (global.json) {
    lab::Json json = {{"file", path}, {"store", identity.value_or("")}, {"schema", schema}};
    json["back_up"] = TextOrNull(made.value_or(""));
    json["runs"] = lab::Json::array();
    for (const store::Run& run : runs) {
      json["runs"].push_back({{"run", store::RunName(run.run)},
                              {"state", StateText(run.state)},
                              {"spec", TextOrNull(run.spec)},
                              {"began", TimeText(run.began)},
                              {"ended", TextOrNull(time_of_end(run))},
                              {"why", TextOrNull(run.why)}});
    }
    json["lines"] = lines;
    json["head"] = head ? lab::ToJson(*head) : lab::Json(nullptr);
    json["signed_head"] = nullptr;
    if (stored) {
      json["signed_head"] = {
          {"seq", stored->head.seq}, {"time", stored->time}, {"signed", !stored->signature.empty()}};
    }
    json["anchor"] = {{"file", TextOrNull(anchor.file)}, {"agrees", anchor.agrees}, {"text", anchor.text}};
    json["generation"] = snapshot ? lab::Json(snapshot->generation) : lab::Json(nullptr);
    json["waiting_messages"] = waiting;
    json["bytes"] = bytes;
    json["log_bytes"] = log_bytes;
    PrintDocument(json);
    return absl::OkStatus();
  }

  fmt::print("{}: the store {}, schema {}, {} bytes, {} bytes in its write-ahead log\n", path,
             identity.value_or("?"), schema, bytes, log_bytes);
  if (made) fmt::print("this is a back-up, made at {}; `bandana store restore` makes a store of it\n", *made);
  if (!runs.empty()) {
    std::vector<std::vector<std::string>> rows = {{"run", "state", "began", "ended", "why"}};
    for (const store::Run& run : runs) {
      rows.push_back({store::RunName(run.run), std::string(StateText(run.state)), TimeText(run.began),
                      time_of_end(run), run.why});
    }
    fmt::print("\n{}\n", Table(rows));
  } else {
    fmt::print("no run has begun\n");
  }
  fmt::print("messages that wait until they are acknowledged: {}\n", waiting);
  if (snapshot) fmt::print("the last snapshot is of generation {} of the ratchet\n", snapshot->generation);
  fmt::print("ledger: {} lines\n", lines);
  if (stored) {
    fmt::print("signed head: line {}, {}, {}\n", stored->head.seq, stored->time,
               stored->signature.empty() ? "without a signature" : "with a signature");
  }
  fmt::print("anchor: {}\n", anchor.text);
  if (head) fmt::print("head {} {}\n", head->seq, head->hash);
  return absl::OkStatus();
}

absl::Status MakeBackUp(const StoreArguments& arguments, const std::string& path, const Global& global) {
  BANDANA_ASSIGN_OR_RETURN(const std::string copy, store::FileOfStore(arguments.copy));
  BANDANA_RETURN_IF_ERROR(store::BackUp(path, copy, absl::Now()));
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<store::SqliteStore> made,
                           store::SqliteStore::OpenToRead(copy));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, made->Lines());
  BANDANA_ASSIGN_OR_RETURN(const std::optional<LedgerHead> head, store::HeadOf(*made));
  if (global.json) {
    PrintDocument({{"file", path},
                   {"copy", copy},
                   {"bytes", BytesOfFile(copy)},
                   {"lines", lines},
                   {"head", head ? lab::ToJson(*head) : lab::Json(nullptr)}});
    return absl::OkStatus();
  }
  fmt::print("{}: backed up to {}: {} lines of the ledger, verified, {} bytes\n", path, copy, lines,
             BytesOfFile(copy));
  if (head) fmt::print("head {} {}\n", head->seq, head->hash);
  return absl::OkStatus();
}

absl::Status RestoreStore(const StoreArguments& arguments, const std::string& path, const Global& global) {
  store::RestoreParams params{.store = path,
                              .mirror = arguments.mirror,
                              .anchor = arguments.anchor,
                              .anchor_is_lost = arguments.anchor_is_lost};
  BANDANA_ASSIGN_OR_RETURN(params.copy, store::FileOfStore(arguments.copy));
  if (arguments.anchor_is_lost && !arguments.anchor.empty()) {
    return InvalidInput(
        {.message = "cannot be used with --anchor", .key = "--anchor-is-lost", .accepted = "one of the two"});
  }
  std::optional<store::PublicKey> key;
  if (!arguments.key.empty()) {
    if (arguments.anchor.empty()) {
      return InvalidInput({.message = "has nothing to check", .key = "--key", .accepted = "with --anchor"});
    }
    BANDANA_ASSIGN_OR_RETURN(key, store::PublicKey::Open(arguments.key));
    params.key = &*key;
  }
  BANDANA_ASSIGN_OR_RETURN(const store::Restored restored, store::Restore(params, absl::Now()));
  if (global.json) {
    PrintDocument({{"file", path},
                   {"copy", params.copy},
                   {"made", TextOrNull(restored.made)},
                   {"copied_lines", restored.copied_lines},
                   {"added_lines", restored.added_lines},
                   {"ended_run", TextOrNull(restored.ended_run)},
                   {"learned_runs", restored.learned},
                   {"all_spent", TextOrNull(restored.all_spent)},
                   {"head", restored.head ? lab::ToJson(*restored.head) : lab::Json(nullptr)}});
    return absl::OkStatus();
  }
  fmt::print("{}: restored from {}{}\n", path, params.copy,
             restored.made.empty() ? "" : ", a back-up made at " + restored.made);
  fmt::print("lines of the ledger: {} from the copy, {} from the mirror\n", restored.copied_lines,
             restored.added_lines);
  if (!restored.ended_run.empty()) {
    fmt::print("the run {} has ended: what was paid stays paid, and what it had not released is lost\n",
               restored.ended_run);
  }
  for (const std::string& run : restored.learned) {
    fmt::print("the run {} began after the copy; only its charges are known\n", run);
  }
  if (restored.all_spent.empty()) {
    fmt::print("the ledger has the anchor's line: the accounts are complete\n");
  } else {
    fmt::print("EVERY BUDGET COUNTS AS SPENT: {}. The store can charge nobody any more\n",
               restored.all_spent);
  }
  if (restored.head) fmt::print("head {} {}\n", restored.head->seq, restored.head->hash);
  return absl::OkStatus();
}

absl::Status MigrateStore(const StoreArguments&, const std::string& path, const Global& global) {
  BANDANA_ASSIGN_OR_RETURN(const store::Migrated migrated, store::MigrateFile(path, absl::Now()));
  if (global.json) {
    PrintDocument({{"file", path},
                   {"from", migrated.from},
                   {"to", migrated.to},
                   {"back_up", TextOrNull(migrated.copy)}});
  } else if (migrated.copy.empty()) {
    fmt::print("{}: it has schema {}, which is this program's: nothing to do\n", path, migrated.to);
  } else {
    fmt::print("{}: migrated from schema {} to schema {}; the back-up is {}\n", path, migrated.from,
               migrated.to, migrated.copy);
  }
  return absl::OkStatus();
}

absl::Status EndOpenRun(const StoreArguments&, const std::string& path, const Global& global) {
  BANDANA_ASSIGN_OR_RETURN(const std::unique_ptr<store::SqliteStore> opened,
                           store::SqliteStore::Open(path, store::SqliteStore::Missing::kRefuse));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<store::Run> runs, opened->Runs());
  if (runs.empty() || runs.back().state != store::RunState::kOpen) {
    return InvalidInput({.message = "no run of this store is open: another run can begin", .file = path});
  }
  const store::Change changes[] = {
      store::EndRun{.state = store::RunState::kEnded, .why = kEndedByHand, .time = absl::Now()}};
  BANDANA_RETURN_IF_ERROR(opened->Commit(changes));
  BANDANA_ASSIGN_OR_RETURN(const std::uint64_t lines, opened->Lines());
  const std::string run = store::RunName(runs.back().run);
  if (global.json) {
    PrintDocument({{"file", path}, {"run", run}, {"state", "ended"}, {"lines", lines}});
    return absl::OkStatus();
  }
  fmt::print(
      "{}: the run {} has ended, and another run can begin\n"
      "What was paid stays paid: the ledger keeps its {} lines. Another run draws new noise and pays anew. "
      "Messages that nobody had acknowledged are erased.\n",
      path, run, lines);
  return absl::OkStatus();
}

}  // namespace

CLI::App* AddStore(CLI::App& app, StoreArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "store", "Shows, backs up, restores, migrates or ends what a process of a deployment keeps on disk.");
  command->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& help) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->callback([&arguments, name] { arguments.action = name; });
    return sub;
  };
  const auto add_file = [&](CLI::App& sub, const std::string& help) {
    sub.add_option("store", arguments.file, help)->type_name("STORE")->required();
  };
  const auto add_copy = [&](CLI::App& sub, const std::string& help) {
    sub.add_option("copy", arguments.copy, help)->type_name("COPY")->required();
  };
  const std::string any_store = "The store, such as store.db or sqlite:store.db. A process may be using it.";
  const std::string unused = "The store. No process may be using it.";

  CLI::App* show = add("show",
                       "Prints a store's identity, its runs, how far its ledger goes, and whether it agrees "
                       "with its anchor.");
  add_file(*show, any_store);
  show->add_option("--anchor", arguments.anchor, "The anchor (default: the file that the store remembers).")
      ->type_name("ANCHOR");

  CLI::App* back_up =
      add("backup",
          "Copies a store, also while a process uses it. The copy has the runs and the ledger, "
          "but no messages and no keys, and only restore makes a store of it.");
  add_file(*back_up, any_store);
  add_copy(*back_up, "The file of the back-up. It must not exist.");

  CLI::App* restore =
      add("restore",
          "Makes a store of a back-up. Ends the open run and adds the lines of the ledger that "
          "the back-up lacks. If lines are still missing, every budget counts as spent.");
  add_copy(*restore, "The back-up.");
  add_file(*restore, "The store that is made. It must not exist.");
  restore
      ->add_option("--mirror", arguments.mirror,
                   "The mirror of the ledger. Its lines that the back-up lacks are added.")
      ->type_name("LEDGER");
  restore
      ->add_option("--anchor", arguments.anchor,
                   "The anchor, or another file with a head of this store. It says how far the ledger went.")
      ->type_name("ANCHOR");
  restore
      ->add_option("--key", arguments.key,
                   "The public key in PEM that must have signed the anchor (default: signatures are not "
                   "checked).")
      ->type_name("PEM");
  restore->add_flag("--anchor-is-lost", arguments.anchor_is_lost,
                    "Nobody has the anchor any more. Every budget then counts as spent.");

  CLI::App* migrate =
      add("migrate",
          "Brings a store of an older program to the form that this program uses. A back-up is "
          "made beside it first.");
  add_file(*migrate, unused);

  CLI::App* end =
      add("end", "Ends the open run of a store, so that another run can begin. What was paid stays paid.");
  add_file(*end, unused);
  return command;
}

int StoreCommand(const StoreArguments& arguments, const Global& global) {
  absl::StatusOr<std::string> path = store::FileOfStore(arguments.file);
  if (!path.ok()) return Fail(path.status(), global);
  using Action = absl::Status (*)(const StoreArguments&, const std::string&, const Global&);
  static const auto& actions = *new std::map<std::string, Action>{{"show", ShowStore},
                                                                  {"backup", MakeBackUp},
                                                                  {"restore", RestoreStore},
                                                                  {"migrate", MigrateStore},
                                                                  {"end", EndOpenRun}};
  const absl::Status status = actions.at(arguments.action)(arguments, *path, global);
  return status.ok() ? 0 : Fail(status, global);
}

}  // namespace bandana::cli
