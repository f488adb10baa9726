#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/service/channel.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// A stream to a host that this process joins. One thread reads; any thread may write.
class Uplink {
 public:
  /// Connects to a host, "server" or "shuffler"; the option service.HOST names its address. `stop` ends the
  /// stream at once. Fails with kUnavailable if nobody listens there within connect_timeout, or with
  /// kCancelled on `stop`.
  static absl::StatusOr<std::unique_ptr<Uplink>> Connect(const Destination& to);
  ~Uplink();

  /// Sends the Hello and waits for the Welcome. `hello` has no version yet.
  absl::StatusOr<v1::Welcome> Greet(v1::Hello hello);

  /// Return false if the stream is over.
  bool Read(v1::ToAgent& message);
  bool Write(const v1::FromAgent& message);
  void Leave(const std::string& reason);

  /// Ends writing. The host may still send.
  void HalfClose();

  /// Calls HalfClose and waits until the host ends the stream. If the end was unexpected, returns the reason:
  /// the host's refusal with its code, or kUnavailable.
  absl::Status Close();

  void Cancel();

  bool over() const;
  std::uint64_t bytes_in() const;
  std::uint64_t bytes_out() const;

 private:
  struct Streaming;
  explicit Uplink(std::unique_ptr<Streaming> streaming);
  std::unique_ptr<Streaming> streaming_;
};

}  // namespace bandana::service
