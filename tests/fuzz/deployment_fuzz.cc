#include <algorithm>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/mutate_proto.h"
#include "tests/fuzz/play.h"
#include "tests/fuzz/script_seeds.h"

// Frames from processes that nobody has checked, over several connections, to every kind of process:
// tests/fuzz/play.h says what must hold.
namespace bandana::fuzz {
namespace {

void RunScript(std::string_view input) {
  Script script;
  if (!script.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  Play play(ProcessKinds()[script.process() % ProcessKinds().size()]);
  for (int i = 0; i < std::min(script.events_size(), 64); ++i) play.Do(script.events(i));
  play.Finish();
}

}  // namespace

Target MakeTarget() {
  Target target{.run = RunScript,
                .mutate = ProtoMutator::MutateBytes<Script>,
                .mutations = 2000,
                .allocation = std::size_t{1} << 20};
  for (std::uint32_t i = 0; i < ProcessKinds().size(); ++i) {
    // A seed that a process refuses would teach the fuzzer nothing.
    const Script script = SeedOf(i);
    Play play(ProcessKinds()[i]);
    for (const Event& event : script.events()) play.Do(event);
    BANDANA_CHECK(play.taken() > 0);
    target.seeds.push_back({ProcessKinds()[i].name, script.SerializeAsString()});
  }
  return target;
}

}  // namespace bandana::fuzz
