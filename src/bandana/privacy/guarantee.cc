#include "bandana/privacy/guarantee.h"

#include <cmath>
#include <cstdlib>

#include "fmt/format.h"

namespace bandana {

std::string RoundedUp(double value, int digits) {
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (!(value > 0) || !std::isfinite(value) || std::strtod(text.c_str(), nullptr) >= value) return text;
  const double last = std::pow(10, std::floor(std::log10(value)) - digits + 1);
  return fmt::format("{:.{}g}", value + last / 2, digits);
}

std::string ToText(const DpGuarantee& guarantee) {
  return fmt::format("({}, {})", RoundedUp(guarantee.epsilon, 4), RoundedUp(guarantee.delta, 3));
}

}  // namespace bandana
