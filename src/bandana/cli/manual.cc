#include "bandana/cli/manual.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_replace.h"
#include "bandana/cli/value_kind.h"
#include "bandana/config.h"
#include "bandana/core/nearest.h"
#include "bandana/core/status.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace bandana::cli {
namespace {

struct Note {
  std::string text;      ///< a file's path, a command line or a number
  std::string sentence;  ///< what it is or does
};

/// Notes say what the flags of a command cannot.
struct Notes {
  std::string command;
  std::vector<Note> examples;
  std::vector<Note> files;
};

const std::vector<Notes>& AllNotes() {
  static const auto& notes = *new std::vector<Notes>{
      {"demo",
       {{"bandana demo", "Runs a federation with a trusted server."},
        {"bandana demo --model local --epsilon 2 --out mine",
         "Clients trust nobody and have a budget of 2."}},
       {{"results/demo/report.html", "The report. It opens offline in every browser."},
        {"results/demo/demo.toml", "The configuration of the deployment."}}},
      {"run",
       {{"bandana run experiment.toml", "Writes the results into results/experiment."},
        {"bandana run experiment.toml --set privacy.epsilon=2 --out two",
         "Runs the same experiment with another epsilon."},
        {"bandana run experiment.toml --resume", "Continues a run that was interrupted."}},
       {{"results/NAME/report.html", "Charts and tables, on one page that opens offline."},
        {"results/NAME/summary.json", "The metrics and the privacy statement of each point."},
        {"results/NAME/results.csv", "One row per point, replicate and checkpoint."},
        {"results/NAME/spec.toml", "The experiment with every default written out."}}},
      {"reproduce",
       {{"bandana reproduce --list", "Prints the exhibits."},
        {"bandana reproduce p1-fig2a", "Runs one figure in less than a minute."},
        {"bandana reproduce p1-fig2a --scale paper --out full", "Runs it at the size that the paper has."}},
       {{"results/EXHIBIT/report.html", "The figure, and the verdict on each claim."},
        {"results/EXHIBIT/summary.json", "The same for programs."}}},
      {"calibrate",
       {{"bandana calibrate gaussian --epsilon 1 --delta 1e-6 --sensitivity 1",
         "Prints the standard deviation that a guarantee needs."}},
       {}},
      {"account",
       {{"bandana account releases.json", "Prints what the releases promise together."},
        {"bandana account releases.json --delta 1e-7", "Prints the epsilon at another delta."}},
       {}},
      {"list",
       {{"bandana list algorithms", "Prints one line per algorithm."},
        {"bandana list algorithms dp-dpe", "Prints the options of one algorithm."},
        {"bandana list tables service", "Prints the keys of [service] in a deployment's file."}},
       {}},
      {"ledger",
       {{"bandana ledger show deployment.ledger", "Prints what was spent."},
        {"bandana ledger verify deployment.ledger", "Checks that the record was not altered."},
        {"bandana ledger export deployment.ledger --format json --out charges.json",
         "Writes every charge to a file."},
        {"bandana ledger verify store.db --key identity.pub",
         "Checks the ledger of a store, and that the store's owner has signed its head."}},
       {}},
      {"keys",
       {{"bandana keys init keys", "Makes the CA of a deployment."},
        {"bandana keys issue agent/3 --out for-agent-3",
         "Makes the keys of an agent, to be carried to its machine."},
        {"bandana keys rotate server", "Gives the server a new key; it need not be restarted."},
        {"bandana keys revoke agent/3",
         "Refuses the agent from now on, where the list of revoked keys is copied."},
        {"bandana keys show", "Prints all certificates, and when they end."}},
       {{"keys/ca.key", "The private key of the CA. Whoever has it can be any party."},
        {"keys/ca.pem", "The certificate of the CA. Every party has a copy."},
        {"keys/revoked", "The serials of revoked certificates. Every party has a copy."},
        {"keys/agent-3.pem", "The certificate of agent/3; the private key is agent-3.key."}}},
      {"store",
       {{"bandana store show store.db", "Prints what the store holds and whether it agrees with its anchor."},
        {"bandana store backup store.db nightly.db", "Copies the store while a process uses it."},
        {"bandana store restore nightly.db store.db --mirror deployment.ledger --anchor anchor",
         "Makes a store of the back-up, and adds what was paid since."},
        {"bandana store end store.db", "Ends the open run, so that another run can begin."}},
       {{"store.db", "The store. SQLite keeps store.db-wal and store.db-shm beside it."},
        {"store.db.schema-N", "The back-up that migrate makes of a store of schema N."}}},
      {"audit",
       {{"bandana audit --list", "Prints the targets."},
        {"bandana audit central-gaussian", "Attacks one mechanism."},
        {"bandana audit dp-dpe --model local", "Attacks a whole algorithm."}},
       {}},
      {"server",
       {{"bandana server deployment.toml", "Waits for the agents, and runs until all phases are over."}},
       {}},
      {"shuffler", {{"bandana shuffler deployment.toml", "Joins the server and waits for the agents."}}, {}},
      {"agent",
       {{"bandana agent deployment.toml --set service.clients=501-1000", "Joins with clients 501 to 1000."}},
       {}},
      {"peer",
       {{"bandana peer deployment.toml --set service.node=1", "Joins as the first of the peers."}},
       {}},
  };
  return notes;
}

const std::vector<Note>& ExitStatuses() {
  static const auto& statuses = *new std::vector<Note>{
      {"0", "The command has done its work."},
      {"1", "A check failed: a claim of a paper, a ledger, an audit."},
      {"2", "The input is wrong. The message names the file, the key, the value and what is accepted."},
      {"3", "A privacy budget would be exceeded."},
      {"4", "Something outside failed: another process, the network, or a processor that is too old."},
      {"130", "The command was interrupted (Ctrl-C). What it has written can be continued with --resume."},
  };
  return statuses;
}

const Notes& NotesOf(const std::string& command) {
  static const auto& none = *new Notes();
  for (const Notes& notes : AllNotes()) {
    if (notes.command == command) return notes;
  }
  return none;
}

// Returns the text as roff prints it verbatim: a plain "-" would become a hyphen, and a line that begins with
// a dot would be a request.
std::string Escaped(const std::string& text) {
  std::string escaped = absl::StrReplaceAll(
      text, {{"\\", "\\e"}, {"-", "\\-"}, {"^", "\\(ha"}, {"~", "\\(ti"}, {"`", "\\(ga"}, {"'", "\\(aq"}});
  if (escaped.starts_with('.')) escaped.insert(0, "\\&");
  return absl::StrReplaceAll(escaped, {{"\n.", "\n\\&."}});
}

std::string Bold(const std::string& text) { return "\\fB" + Escaped(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Escaped(text) + "\\fR"; }

// Each sentence begins a line, as roff wants it.
std::string Paragraph(const std::string& text) {
  std::string lines = Escaped(text);
  for (std::size_t at = 0; (at = lines.find(". ", at)) != std::string::npos; ++at) {
    const bool sentence =
        at + 2 < lines.size() && std::isupper(static_cast<unsigned char>(lines[at + 2])) != 0;
    if (sentence) lines[at + 1] = '\n';
  }
  return lines + "\n";
}

std::string Section(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string Entry(const std::string& head, const std::string& text) {
  return fmt::format(".TP\n{}\n{}", head, text);
}

// "--out DIR", "FILE..."
std::string Head(const CLI::Option& option) {
  const ValueKind kind = KindOfValue(option);
  if (option.get_positional()) return Italic(kind.name) + (option.get_items_expected_max() > 1 ? "..." : "");
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back(Bold("-" + name));
  for (const std::string& name : option.get_lnames()) names.push_back(Bold("--" + name));
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  if (kind.takes_value) head += " " + Italic(kind.name);
  return head;
}

std::string Describe(const CLI::Option& option) {
  const ValueKind kind = KindOfValue(option);
  std::string text = option.get_description();
  if (!kind.range.empty()) text += fmt::format(" Accepted: {}.", kind.range);
  const bool said = std::all_of(kind.choices.begin(), kind.choices.end(),
                                [&](const std::string& choice) { return text.find(choice) != text.npos; });
  if (!said) text += fmt::format(" One of {}.", fmt::join(kind.choices, ", "));
  if (option.get_required()) text += " It is required.";
  return Paragraph(text);
}

bool IsShown(const CLI::Option& option) { return !option.get_group().empty(); }

std::string Options(const CLI::App& command) {
  std::string arguments;
  std::string flags;
  for (const CLI::Option* option : command.get_options()) {
    if (!IsShown(*option)) continue;
    (option->get_positional() ? arguments : flags) += Entry(Head(*option), Describe(*option));
  }
  return arguments + flags;
}

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    commands.push_back(command);
  }
  return commands;
}

// "bandana run [OPTIONS] FILE"
std::string Synopsis(const CLI::App& command, const std::string& words) {
  std::string line = Bold(words);
  if (!Commands(command).empty()) line += " " + Italic("COMMAND");
  line += " [" + Italic("OPTIONS") + "]";
  for (const CLI::Option* option : command.get_options()) {
    if (!IsShown(*option) || !option->get_positional()) continue;
    line += option->get_required() ? " " + Head(*option) : " [" + Head(*option) + "]";
  }
  return line + "\n";
}

// The first sentence as man's index wants it: "runs an experiment"
std::string Summary(const CLI::App& command) {
  std::string text = command.get_description();
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.pop_back();
  const bool word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (word && !text.starts_with("Bandana") && !text.starts_with("Gaussian")) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string NotesSection(std::string_view title, const std::vector<Note>& notes) {
  if (notes.empty()) return "";
  std::string text = Section(title);
  for (const Note& note : notes) text += Entry(Bold(note.text), Paragraph(note.sentence));
  return text;
}

std::string Header(const std::string& page) {
  std::string upper = page;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(
      ".\\\" Made by `bandana manual`.\n.TH {} 1 \"\" \"bandana {}\" \"Bandana\"\n.nh\n.ad l\n",
      absl::StrReplaceAll(upper, {{"-", "\\-"}}), BANDANA_VERSION);
}

std::string SeeAlso(const std::vector<const CLI::App*>& commands, const std::string& but) {
  std::vector<std::string> pages;
  if (!but.empty()) pages.push_back(Bold("bandana") + "(1)");
  for (const CLI::App* command : commands) {
    if (command->get_name() != but) pages.push_back(Bold("bandana-" + command->get_name()) + "(1)");
  }
  return Section("SEE ALSO") + fmt::format("{}\n", fmt::join(pages, ",\n")) + ".PP\n" +
         Paragraph("The documentation is in /usr/share/doc/bandana, or in docs/ of the source.");
}

std::string PageOfProgram(const CLI::App& app) {
  const std::vector<const CLI::App*> commands = Commands(app);
  std::string page = Header("bandana");
  page += Section("NAME") + "bandana \\- bandits with differential privacy\n";
  page += Section("SYNOPSIS") + Synopsis(app, "bandana");
  page += Section("DESCRIPTION") + Paragraph(app.get_description());
  page += Section("COMMANDS");
  for (const CLI::App* command : commands) {
    page += Entry(Bold(command->get_name()), Paragraph(command->get_description()));
  }
  page += ".PP\n" + Paragraph("Each command has a page of its own: man bandana-run.");
  page += Section("OPTIONS") + Options(app);
  page += NotesSection("EXIT STATUS", ExitStatuses());
  page +=
      NotesSection("FILES", {{"results/", "Each run has a folder here, unless --out names another one."}});
  page += NotesSection("EXAMPLES", {NotesOf("demo").examples.front(), NotesOf("run").examples.front(),
                                    NotesOf("reproduce").examples[1]});
  return page + SeeAlso(commands, "");
}

std::string PageOfCommand(const CLI::App& app, const CLI::App& command) {
  const std::string& name = command.get_name();
  const Notes& notes = NotesOf(name);
  std::string page = Header("bandana-" + name);
  page += Section("NAME") + fmt::format("{} \\- {}\n", Escaped("bandana-" + name), Escaped(Summary(command)));
  page += Section("SYNOPSIS") + Synopsis(command, "bandana " + name);
  page += Section("DESCRIPTION") + Paragraph(command.get_description());
  page += ".PP\n" + Paragraph(command.get_footer().substr(ExamplesInHelp(name).size()));
  page += Section("OPTIONS") + Options(command);
  for (const CLI::App* below : Commands(command)) {
    page +=
        ".SS " + Escaped(below->get_name()) + "\n" + Paragraph(below->get_description()) + Options(*below);
    if (!below->get_footer().empty()) page += ".PP\n" + Paragraph(below->get_footer());
  }
  page += NotesSection("EXIT STATUS", ExitStatuses());
  page += NotesSection("FILES", notes.files);
  page += NotesSection("EXAMPLES", notes.examples);
  return page + SeeAlso(Commands(app), name);
}

absl::Status Write(const std::filesystem::path& folder, const std::map<std::string, std::string>& pages) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& [name, text] : pages) {
    const std::filesystem::path path = folder / (name + ".1");
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) {
      return InvalidInput({.message = "cannot be written", .key = "file", .value = path.string()});
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string ExamplesInHelp(const std::string& command) {
  std::string text;
  for (const Note& example : NotesOf(command).examples) text += "  " + example.text + "\n";
  return text.empty() ? "" : "Examples:\n" + text + "\n";
}

std::map<std::string, std::string> ManualPages(const CLI::App& app) {
  std::map<std::string, std::string> pages = {{"bandana", PageOfProgram(app)}};
  for (const CLI::App* command : Commands(app)) {
    pages["bandana-" + command->get_name()] = PageOfCommand(app, *command);
  }
  return pages;
}

int ManualCommand(const CLI::App& app, const std::string& page, const std::string& folder,
                  const Global& global) {
  const std::map<std::string, std::string> pages = ManualPages(app);
  if (!folder.empty()) {
    const absl::Status status = Write(folder, pages);
    return status.ok() ? 0 : Fail(status, global);
  }
  const auto found = pages.find(page.empty() ? "bandana" : page);
  if (found != pages.end()) {
    fmt::print("{}", found->second);
    return 0;
  }
  std::vector<std::string> names;
  for (const auto& [name, text] : pages) names.push_back(name);
  return Fail(InvalidInput({.message = "there is no such page",
                            .key = "page",
                            .value = page,
                            .accepted = "nearest: " + Nearest(page, names)}),
              global);
}

}  // namespace bandana::cli
