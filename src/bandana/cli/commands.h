#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bandana/cli/output.h"
#include "bandana/cli/typed_flags.h"

namespace CLI {
class App;
}

/// One function a command; each returns the exit code.
namespace bandana::cli {

struct RunArguments {
  std::string spec;
  std::string out;
  std::string trace;
  int threads = 0;
  bool resume = false;
  std::vector<std::string> set;
};
int RunCommand(const RunArguments& arguments, const Global& global);

struct ReproduceArguments {
  std::vector<std::string> exhibits;
  bool all = false;
  bool list = false;
  std::string scale = "quick";
  std::string out;
  int threads = 0;
  bool resume = false;
  std::vector<std::string> set;
};
int ReproduceCommand(const ReproduceArguments& arguments, const Global& global);

int ListCommand(const std::string& what, const Global& global);

struct CalibrateArguments {
  std::string mechanism;
  FlagValues flags;
};
/// Adds `calibrate` with its mechanisms and their flags. `arguments` must outlive the parse.
CLI::App* AddCalibrate(CLI::App& app, CalibrateArguments& arguments);
int CalibrateCommand(const CalibrateArguments& arguments, const Global& global);

struct AccountArguments {
  std::string file;
  std::optional<double> delta;
  std::optional<double> epsilon;
};
int AccountCommand(const AccountArguments& arguments, const Global& global);

struct RoleArguments {
  std::string config;
  std::vector<std::string> set;
  bool insecure_seed = false;  ///< take noise from the spec's seed
  std::string events;          ///< a file, or "-" for stdout: one JSON object a line as the run goes
};
int ServerCommand(const RoleArguments& arguments, const Global& global);
int ShufflerCommand(const RoleArguments& arguments, const Global& global);
int AgentCommand(const RoleArguments& arguments, const Global& global);
int PeerCommand(const RoleArguments& arguments, const Global& global);

struct DemoArguments {
  std::string out;
  std::string model = "central";
  std::string transport = "counts";  ///< of the shuffle model
  double epsilon = 1;
  int agents = 3;
  std::optional<std::uint64_t> insecure_seed;
};
/// `program` is the path of this binary: the roles are its children.
int DemoCommand(const DemoArguments& arguments, const std::string& program, const Global& global);

struct LedgerArguments {
  std::string action;  ///< show, verify or export
  std::string file;
  std::optional<std::int64_t> client;
  std::optional<std::string> head;
  std::string format;
  std::string out;
};
int LedgerCommand(const LedgerArguments& arguments, const Global& global);

struct AuditArguments {
  std::string target;
  std::string model;  ///< of a target that is an algorithm
  bool all = false;
  bool list = false;
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::optional<std::int64_t> draws;
  double confidence = 0.999999;  ///< of everything that is audited together
  std::uint64_t seed = 1;
  bool secure = false;  ///< bits from the service's generator instead
  int threads = 0;
};
int AuditCommand(const AuditArguments& arguments, const Global& global);

}  // namespace bandana::cli
