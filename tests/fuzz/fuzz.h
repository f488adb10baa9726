#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bandana/core/check.h"

/// A fuzz target feeds bytes that nobody has checked to code that reads bytes from outside, and states what
/// must hold afterwards with BANDANA_CHECK. Each file NAME_fuzz.cc is one target and defines MakeTarget.
/// tests/fuzz/fuzz_main.cc runs it: under libFuzzer, or as a unit test that replays seeds, earlier findings
/// and a few thousand mutations.
namespace bandana::fuzz {

using Random = std::mt19937_64;

/// Returns a number from 0 to n - 1; 0 if n is 0.
inline std::size_t Below(std::size_t n, Random& random) { return n == 0 ? 0 : random() % n; }

/// Returns one of the entries.
template <class List>
const auto& OneOf(const List& list, Random& random) {
  return *(std::begin(list) + Below(std::size(list), random));
}

struct Seed {
  std::string name;
  std::string bytes;
};

struct Target {
  /// Valid inputs. They are made by code, so that they change with the format.
  std::vector<Seed> seeds;

  /// Must return, whatever the input is.
  std::function<void(std::string_view input)> run;

  /// Texts of the format, which mutations insert.
  std::vector<std::string> words = {};

  /// Changes an input in a way that keeps its structure. If it is empty, only bytes are changed.
  std::function<std::string(std::string_view input, Random& random)> mutate = nullptr;

  /// How many mutations the unit test runs.
  int mutations = 4000;

  /// An input of n bytes may cause no single allocation above `allocation` + 64 n bytes.
  std::size_t allocation = std::size_t{1} << 18;
};

/// Every target defines it.
Target MakeTarget();

/// Reads values from an input from left to right; zeros after its end.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view Rest() { return std::exchange(rest_, {}); }

 private:
  std::string_view rest_;
};

}  // namespace bandana::fuzz
