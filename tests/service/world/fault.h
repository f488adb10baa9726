#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "rapidcheck.h"

namespace bandana::service {

/// One thing that goes wrong in a simulated deployment.
struct Fault {
  enum class Kind : std::uint8_t {
    kCrash,        ///< the process ends at once
    kCrashBefore,  ///< one of its next commits fails, and nothing of it is durable; the process ends
    kCrashAfter,   ///< one of its next commits fails, although it is durable; the process ends
    kCrashSent,    ///< the process ends right after it has sent its next message
    kCrashLost,    ///< the process ends right after it has sent its next message, which is lost
    kCut,          ///< a connection is lost, with all frames that are on its way
    kCutLate,      ///< a connection is lost; the first frames on its way arrive, and the others are lost
    kZombie,       ///< a second process starts on the same store while the first still runs
    kJump,         ///< the clock jumps ahead
    kJumpBack,     ///< the clock jumps back
    kRandomKinds,  ///< random schedules have the kinds above
    kCopy = kRandomKinds,  ///< somebody copies the disk of a process, with its ratchet
    kRestore,              ///< the process that was copied ends, and its disk is replaced by the copy
    kRestoreAll,           ///< so is its ratchet
    kRestoreSent,          ///< as kRestore, right after it has sent its next message, which is lost
    kRestoreAllSent        ///< as kRestoreAll, right after it has sent its next message, which is lost
  };
  std::uint32_t after = 0;  ///< so many operations after the fault before
  Kind kind = Kind::kCrash;
  std::uint32_t whom = 0;   ///< which process or connection
  std::uint32_t which = 0;  ///< which of its commits or frames; or how far the clock jumps
};

inline void showValue(const Fault& fault, std::ostream& out) {
  static constexpr const char* kNames[] = {"crash",
                                           "crash before a commit",
                                           "crash after a commit",
                                           "crash after a message",
                                           "crash that loses a message",
                                           "cut",
                                           "late cut",
                                           "zombie",
                                           "jump",
                                           "jump back",
                                           "copy",
                                           "restore",
                                           "restore all",
                                           "restore after a message",
                                           "restore all after a message"};
  out << "{" << fault.after << ", " << kNames[static_cast<int>(fault.kind)] << ", " << fault.whom << ", "
      << fault.which << "}";
}

/// Few faults find most of what can be found, and leave a short schedule. Numbers are not shrunk: every
/// change of a schedule makes another world anyway.
inline rc::Gen<std::vector<Fault>> SomeFaults() {
  constexpr int kKinds = static_cast<int>(Fault::Kind::kRandomKinds);
  constexpr double kFaultsForSize = 0.15;
  const auto number = [](std::uint32_t end) { return rc::gen::inRange<std::uint32_t>(0, end); };
  return rc::gen::scale(
      kFaultsForSize,
      rc::gen::container<std::vector<Fault>>(rc::gen::noShrink(rc::gen::resize(
          100, rc::gen::build<Fault>(
                   rc::gen::set(&Fault::after, number(120)),
                   rc::gen::set(&Fault::kind,
                                rc::gen::map(rc::gen::inRange(0, kKinds),
                                             [](int kind) { return static_cast<Fault::Kind>(kind); })),
                   rc::gen::set(&Fault::whom, number(20)), rc::gen::set(&Fault::which, number(100)))))));
}

}  // namespace bandana::service
