#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/service/live_desk.h"

namespace bandana::service {

/// Serves an application's back end over HTTP with JSON (docs/clients.md). Posts need the application's key,
/// "Authorization: Bearer KEY"; what is public needs none. It has threads of its own.
class LiveHttp {
 public:
  struct Params {
    std::string listen;       ///< host:port; port 0 means any
    std::string certificate;  ///< files in PEM; empty: plain text, which does not leave this machine
    std::string private_key;
    std::string key;                 ///< the application's; empty only in plain text: nobody needs one
    std::vector<std::string> names;  ///< of the actions
    std::function<std::string()> deployment;  ///< JSON: what is public about the deployment
  };

  /// Opens the port. `desk` must outlive the result. Fails with kUnavailable if the port is taken, and with
  /// kInvalidArgument if the address or a file is wrong.
  static absl::StatusOr<std::unique_ptr<LiveHttp>> Open(Params params, LiveDesk& desk);
  /// Close the desk before.
  ~LiveHttp();

  const std::string& address() const;

 private:
  class Server;
  explicit LiveHttp(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace bandana::service
