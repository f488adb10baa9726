#include <memory>
#include <string>
#include <string_view>

#include "bandana/store/memory_store.h"
#include "bandana/store/store_ledger.h"
#include "tests/fuzz/play.h"
#include "tests/fuzz/script_seeds.h"

// Saved states of machines and of the roles in them (core/archive.h). The first byte of an input says of
// which process. A process that has accepted a state can be saved, and another one that accepts this is the
// same.
namespace bandana::fuzz {
namespace {

// A process whose machine has a ledger and a secret, as its journal gives them.
class Attached {
 public:
  explicit Attached(const ProcessKind& kind) : process_(kind), store_(disk_) {
    ledger_ = store::StoreLedger::Open(store_, {.deployment = "fuzz",
                                                .configuration = "fuzz",
                                                .void_reason = "the seed is known",
                                                .limits = {.per_unit = {1e6, 1}}})
                  .value();
    process_.machine().Attach(*ledger_, secret_);
  }
  service::Machine& machine() { return process_.machine(); }

 private:
  Process process_;
  store::MemoryDisk disk_;
  store::MemoryStore store_;
  std::unique_ptr<store::StoreLedger> ledger_;
  store::Key secret_{1, 2, 3};
};

void Run(std::string_view bytes) {
  Input input(bytes);
  const ProcessKind& kind = ProcessKinds()[input.Byte() % ProcessKinds().size()];
  Attached process(kind);
  if (!process.machine().Restore(input.Rest()).ok()) return;
  const std::string saved = process.machine().Save();
  Attached next(kind);
  BANDANA_CHECK(next.machine().Restore(saved).ok());
  BANDANA_CHECK(next.machine().Save() == saved);
}

}  // namespace

Target MakeTarget() {
  Target target{.run = Run, .allocation = std::size_t{1} << 20};
  for (std::uint32_t i = 0; i < ProcessKinds().size(); ++i) {
    const ProcessKind& kind = ProcessKinds()[i];
    Play play(kind);
    const Script script = SeedOf(i);
    for (const Event& event : script.events()) {
      if (!event.has_kill()) play.Do(event);
    }
    target.seeds.push_back({kind.name, static_cast<char>(i) + play.process().machine().Save()});
  }
  return target;
}

}  // namespace bandana::fuzz
