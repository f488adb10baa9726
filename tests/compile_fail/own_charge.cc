// error: is private within this context
#include "bandana/federation/context.h"

absl::StatusOr<bandana::Report> Free(bandana::Context& context) {
  return context.ReleaseOnce({{1}, 1}, bandana::Charge(),
                             [](bandana::NoiseGen&) { return bandana::Report(); });
}
