#pragma once

#include <concepts>

#include "bandana/core/generators.h"
#include "bandana/core/ids.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/local_record.h"

namespace bandana {

/// A mechanism that users run on their own devices, because nobody is trusted with their data, and a question
/// that it answers. A learner asks questions; only federation/release.h has the answers drawn:
/// - users() is how many users' data the answer holds: one, except in a simulator.
/// - Answer draws the noise and writes the message. `counts`, if there are any, count records outside their
///   bounds.
/// - guarantee() is what one message costs each of its users.
/// - bare() is true for a mechanism without noise, which promises nothing and charges nobody.
template <class P, class Question>
concept LocalMechanism = requires(const P& mechanism, const Question& question, NoiseGen& noise,
                                  LocalMessage& message, RangeCounts* counts) {
  { question.users() } -> std::same_as<Count>;
  { mechanism.Answer(question, noise, message, counts) } -> std::same_as<void>;
  { mechanism.guarantee() } -> std::same_as<DpGuarantee>;
  { mechanism.bare() } -> std::same_as<bool>;
};

}  // namespace bandana
