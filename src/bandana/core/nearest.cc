#include "bandana/core/nearest.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace bandana {
namespace {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

// Measures the distance to the whole word, or to what follows its last dot. A word that was cut short is
// near.
std::size_t Distance(std::string_view word, const std::string& known) {
  if (word.size() >= 3 && word.size() < known.size() && known.starts_with(word)) return 1;
  return std::min(EditDistance(word, known), EditDistance(word, known.substr(known.rfind('.') + 1)));
}

}  // namespace

std::string Nearest(std::string_view word, std::span<const std::string> known) {
  const auto rank = [&](const std::string& each) {
    return std::tuple(Distance(word, each), !each.starts_with(word), each.size());
  };
  const auto it =
      std::min_element(known.begin(), known.end(),
                       [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return it == known.end() ? "" : *it;
}

std::string NearestIfNear(std::string_view word, std::span<const std::string> known) {
  std::string nearest = Nearest(word, known);
  return Distance(word, nearest) > (word.size() + 1) / 2 ? "" : nearest;
}

}  // namespace bandana
