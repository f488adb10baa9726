#include "bandana/service/role_world.h"

#include "bandana/core/status.h"
#include "fmt/format.h"

namespace bandana::service {

std::unique_ptr<BitSource> RoleWorld::Coins(NodeId node, Epoch epoch) const {
  if (insecure_seed_) return MakeBits(*insecure_seed_, node, epoch, Stream::kExploration);
  return std::make_unique<SecureSource>(
      store::DeriveKey(*secret_, fmt::format("coins {} {}", node.value, epoch)));
}

std::unique_ptr<BitSource> RoleWorld::Noise(const ReleaseKey& key, const store::Key& seed) const {
  if (insecure_seed_) return MakeBits(*insecure_seed_, key.node, key.epoch, Stream::kPrivacy);
  return std::make_unique<SecureSource>(seed);
}

absl::StatusOr<Report> RoleWorld::Once(const ReleaseKey& key, const Charge& charge,
                                       absl::FunctionRef<absl::StatusOr<Report>(NoiseGen&)> draw) {
  // A release that costs nobody anything is not in the ledger: it may be raw, and nobody counts it.
  const bool is_free = charge.units.empty();
  store::Key seed;
  if (is_free) {
    seed = store::DeriveKey(*secret_, "free " + store::DrawKey("", key));
  } else {
    BANDANA_ASSIGN_OR_RETURN(seed, ledger_->SeedOf(key));
  }
  const std::unique_ptr<BitSource> bits = Noise(key, seed);
  NoiseGen noise = NoiseDoor::Open(*bits);
  if (is_free) return draw(noise);
  const Loss loss{charge.guarantee.epsilon, charge.guarantee.delta};
  UnitRanges units = charge.units;
  if (units_of_) {
    BANDANA_ASSIGN_OR_RETURN(units, units_of_(charge.units));
  }
  return ledger_->Once(key, {charge.guarantee, loss}, units, [&] { return draw(noise); });
}

}  // namespace bandana::service
