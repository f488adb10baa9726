#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bandana/service/channel.h"
#include "proto/federation.pb.h"

namespace bandana::service {

/// A peer's stream to a host that it joins. One thread reads; any may write.
class Uplink {
 public:
  /// Its host is "server" or "shuffler": service.HOST names its address. `stop` ends the stream at once.
  /// kUnavailable: nobody listens there within connect_timeout. kCancelled: `stop`.
  static absl::StatusOr<std::unique_ptr<Uplink>> Connect(const Destination& to);
  ~Uplink();

  /// Says hello and waits for the welcome. `hello` without version.
  absl::StatusOr<v1::Welcome> Greet(v1::Hello hello);

  /// False: the stream is over.
  bool Read(v1::ToAgent& message);
  bool Write(const v1::FromAgent& message);
  void Leave(const std::string& reason);

  /// No more is written. The host may still speak.
  void HalfClose();

  /// HalfClose, and waits for the host to end the stream. Why it did, where that was not to be expected: its
  /// refusal, with its code, or kUnavailable.
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
