#pragma once

#include <utility>
#include <vector>

#include "bandana/federation/context.h"
#include "bandana/federation/releases.h"
#include "tests/support.h"

namespace bandana::test {

/// A minimal driver that hands messages to roles one by one.
class HandContext final : public Context {
 public:
  HandContext(const Topology& topology, NodeId self, DpGuarantee budget = {1e30, 1})
      : releases(budget), links_(topology.LinksOf(self)), coins_(self.value + 1), noise_(self.value + 2) {}

  const Links& links() const override { return links_; }
  void Send(NodeId to, Payload payload) override { sent.push_back({to, std::move(payload)}); }
  void Play(std::span<const Pull>) override {}
  CoinGen& coin(Epoch) override { return coins_.gen; }

  static Message From(NodeId origin, Payload body) { return {origin, origin, 0, 0, std::move(body)}; }

  std::vector<std::pair<NodeId, Payload>> sent;
  Releases releases;

 private:
  absl::StatusOr<Report> ReleaseOnce(const ReleaseKey& key, const Charge& charge,
                                     absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) override {
    return releases.Once(key, charge, noise_.gen, draw);
  }

  Links links_;
  Coins coins_;
  Noise noise_;
};

}  // namespace bandana::test
