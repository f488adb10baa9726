#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bandana/cli/output.h"
#include "bandana/lab/typed_flags.h"

namespace CLI {
class App;
}

/// One function per command. Each returns the exit code.
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
  std::vector<std::string> exhibits;  ///< names, or paths that end with .toml
  bool all = false;
  bool list = false;
  std::string scale = "quick";
  std::string out;
  int threads = 0;
  bool resume = false;
  std::vector<std::string> set;
};
int ReproduceCommand(const ReproduceArguments& arguments, const Global& global);

int ListCommand(const std::string& what, const std::string& name, const Global& global);

struct CalibrateArguments {
  std::string mechanism;
  lab::FlagValues flags;
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
  bool insecure_seed = false;  ///< whether noise is drawn from the spec's seed
  std::string events;          ///< the file for events, one JSON object per line; "-" is stdout
};
int ServerCommand(const RoleArguments& arguments, const Global& global);
int ShufflerCommand(const RoleArguments& arguments, const Global& global);
int AgentCommand(const RoleArguments& arguments, const Global& global);
int PeerCommand(const RoleArguments& arguments, const Global& global);

struct DemoArguments {
  std::string out;
  std::string model = "central";
  std::string transport = "counts";  ///< privacy.transport; only for the shuffle model
  double epsilon = 1;
  int agents = 3;
  std::optional<std::uint64_t> insecure_seed;
};
/// `program` is the path of this binary. The demo starts it again for each role.
int DemoCommand(const DemoArguments& arguments, const std::string& program, const Global& global);

struct LedgerArguments {
  std::string action;  ///< show, verify or export
  std::string file;
  std::optional<std::int64_t> client;
  std::optional<std::string> head;
  std::string key;     ///< the file of a public key
  std::string anchor;  ///< a file with a signed head
  std::string format;
  std::string out;
};
int LedgerCommand(const LedgerArguments& arguments, const Global& global);

struct KeysArguments {
  std::string action;       ///< init, issue, rotate, revoke or show
  std::string subject;      ///< for init a folder, else a party or, for revoke, a serial
  std::string keys;         ///< the folder of the CA; empty: keys/
  std::optional<int> days;  ///< how long a new certificate is valid
  std::string out;          ///< a folder to carry to another machine
  std::string deployment;   ///< for init: the deployment's name
};
int KeysCommand(const KeysArguments& arguments, const Global& global);

struct StoreArguments {
  std::string action;  ///< show, backup, restore, migrate or end
  std::string file;
  std::string copy;
  std::string mirror;
  std::string anchor;
  std::string key;
  bool anchor_is_lost = false;
};
/// Adds `store` with its actions. `arguments` must outlive the parse.
CLI::App* AddStore(CLI::App& app, StoreArguments& arguments);
int StoreCommand(const StoreArguments& arguments, const Global& global);

struct AuditArguments {
  std::string target;
  std::string model;  ///< the trust model; only for a target that is an algorithm
  bool all = false;
  bool list = false;
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::optional<std::int64_t> draws;
  double confidence = 0.999999;  ///< the confidence of all verdicts together
  std::uint64_t seed = 1;
  bool secure = false;  ///< whether noise comes from the service's generator instead of the seed
  int threads = 0;
};
int AuditCommand(const AuditArguments& arguments, const Global& global);

}  // namespace bandana::cli
