#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "bandana/core/linear_algebra.h"
#include "fmt/format.h"

/// Saves a policy and reads it back, so that it continues as if it had never stopped. A class has one member,
/// State, which names what the class holds. Writing and reading both use it, in the same order:
///
///   template <class Archive>
///   void State(Archive& a) {
///     a.Same(horizon_, "horizon");  // a parameter: it is written, and reading fails if it differs
///     a(rounds_, gram_, history_);  // what has changed since the object was made
///     a.Check(rounds_ <= horizon_, "it has more rounds than the horizon");  // do not trust what is read
///   }
///   std::string Save() const override { return SaveState(*this); }
///   absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
///
/// Values that follow from the parameters (designs, calibrations, pointers to objects that roles share) are
/// not saved: Restore is called on an object that was made with the same parameters.
namespace bandana {

class StateWriter;
class StateReader;

/// A class with a private State makes this class its friend. State is private in the sealed classes
/// (privacy/access.h).
class StateAccess {
  template <class Self>
  friend class BasicArchive;

  template <class T, class Archive>
  static void Visit(T& value, Archive& archive) {
    value.State(archive);
  }
  template <class T>
  static T Make() {
    return T();
  }
};

/// The part that writer and reader share: how each type is composed of integers of 1, 2, 4 or 8 bytes. A
/// double is stored as its bits. Integers and enums are stored little-endian, in their own width. A shared
/// object is stored by value.
template <class Self>
class BasicArchive {
 public:
  template <class... Ts>
  void operator()(Ts&... values) {
    (One(values), ...);
  }

  /// Writes a parameter of the object. On reading, it is an error if the saved object had another value.
  template <class T>
  void Same(const T& value, std::string_view name) {
    T saved = value;
    One(saved);
    if (self().ok() && !(saved == value)) self().Differs(name, Shown(saved), Shown(value));
  }

  /// Handles lists and matrices whose size never changes. On reading, another size is an error.
  template <class... Ts>
  void Sized(Ts&... values) {
    (OneSized(values), ...);
  }

  /// Handles the elements of a list that its owner makes in full. On reading, another number of them is an
  /// error.
  template <class List>
  void Each(List& list) {
    Same(static_cast<std::uint64_t>(list.size()), "number of parts");
    for (auto& value : list) {
      if (!self().ok()) return;
      One(value);
    }
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }

  template <class T>
  void OneSized(T& value) {
    const auto size = SizeOf(value);
    One(value);
    self().Check(SizeOf(value) == size, "a list or matrix has the wrong size");
  }
  template <class T>
  static auto SizeOf(const T& value) {
    if constexpr (requires { value.cols(); }) {
      return std::pair(value.rows(), value.cols());
    } else {
      return value.size();
    }
  }

  template <class T>
  static std::string Shown(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return fmt::format("{}", static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (fmt::is_formattable<T>::value) {
      return fmt::format("{}", value);
    } else {
      return "";
    }
  }

  template <class T>
  void One(T& value) {
    if constexpr (std::same_as<T, bool>) {
      auto byte = static_cast<std::uint8_t>(value ? 1 : 0);
      One(byte);
      self().Check(byte <= 1, "a flag is neither true nor false");
      value = byte == 1;
    } else if constexpr (std::is_enum_v<T>) {
      auto number = static_cast<std::underlying_type_t<T>>(value);
      One(number);
      value = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      auto word = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
      self().Word(word, sizeof(T));
      value = static_cast<T>(word);
    } else if constexpr (std::same_as<T, double>) {
      auto bits = std::bit_cast<std::uint64_t>(value);
      One(bits);
      value = std::bit_cast<double>(bits);
    } else if constexpr (std::same_as<T, float>) {
      auto bits = std::bit_cast<std::uint32_t>(value);
      One(bits);
      value = std::bit_cast<float>(bits);
    } else {
      StateAccess::Visit(value, self());
    }
  }

  void One(std::monostate&) {}
  void One(std::string& text) { self().Text(text); }

  void One(absl::Status& status) {
    auto code = static_cast<std::int32_t>(status.code());
    std::string message(status.message());
    One(code);
    One(message);
    self().Check(code >= 0 && code <= 16 && (code != 0 || message.empty()),
                 "a saved error has an invalid code or text");
    if constexpr (Self::kReads) status = absl::Status(static_cast<absl::StatusCode>(code), message);
  }

  template <class T, class U>
  void One(std::pair<T, U>& pair) {
    One(pair.first);
    One(pair.second);
  }
  template <class... Ts>
  void One(std::tuple<Ts...>& tuple) {
    std::apply([this](Ts&... values) { (One(values), ...); }, tuple);
  }
  template <class T, std::size_t n>
  void One(std::array<T, n>& array) {
    for (T& value : array) One(value);
  }

  template <class T>
  void One(std::optional<T>& optional) {
    bool there = optional.has_value();
    One(there);
    if constexpr (Self::kReads) {
      optional.reset();
      if (there && self().ok()) optional.emplace(StateAccess::Make<T>());
    }
    if (there && optional.has_value()) One(*optional);
  }
  template <class T>
  void One(std::shared_ptr<const T>& shared) {
    bool there = shared != nullptr;
    One(there);
    if constexpr (Self::kReads) {
      shared = nullptr;
      if (!there || !self().ok()) return;
      T value = StateAccess::Make<T>();
      One(value);
      shared = std::make_shared<const T>(std::move(value));
    } else {
      if (there) One(const_cast<T&>(*shared));  // a writer changes nothing
    }
  }

  template <class T>
  void One(std::vector<T>& list) {
    List(list);
  }
  template <class T, std::size_t n>
  void One(absl::InlinedVector<T, n>& list) {
    List(list);
  }
  template <class K, class V, class Order>
  void One(std::map<K, V, Order>& map) {
    Sorted<std::pair<K, V>>(map);
  }
  template <class K, class Order>
  void One(std::set<K, Order>& set) {
    Sorted<K>(set);
  }
  template <class K, class V>
  void One(absl::flat_hash_map<K, V>& map) {
    Sorted<std::pair<K, V>>(map);
  }
  template <class K>
  void One(absl::flat_hash_set<K>& set) {
    Sorted<K>(set);
  }

  template <class T, int R, int C, int O, int MR, int MC>
  void One(Eigen::Matrix<T, R, C, O, MR, MC>& matrix) {
    auto rows = static_cast<std::uint64_t>(matrix.rows());
    auto columns = static_cast<std::uint64_t>(matrix.cols());
    One(rows);
    One(columns);
    if constexpr (Self::kReads) {
      const bool shape = (R == Eigen::Dynamic || rows == static_cast<std::uint64_t>(R)) &&
                         (C == Eigen::Dynamic || columns == static_cast<std::uint64_t>(C));
      self().Check(shape && rows >> 31 == 0 && columns >> 31 == 0 && self().Fits(rows * columns, sizeof(T)),
                   fmt::format("it announces a matrix of {} x {}, which does not fit", rows, columns));
      if (!self().ok()) return;
      matrix.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    }
    for (Eigen::Index i = 0; i < matrix.size(); ++i) One(matrix.data()[i]);
  }

  // Never reads beyond the input. A list grows entry by entry, so that a false length cannot exhaust the
  // memory.
  template <class Container>
  void List(Container& list) {
    using T = typename Container::value_type;
    static_assert(!std::same_as<T, bool>);
    auto size = static_cast<std::uint64_t>(list.size());
    One(size);
    if constexpr (Self::kReads) {
      constexpr std::size_t least = std::is_arithmetic_v<T> ? sizeof(T) : 1;
      self().Check(self().Fits(size, least),
                   fmt::format("it announces a list of {} entries, which is longer than the rest", size));
      list.clear();
      if (!self().ok()) return;
      if constexpr (std::is_arithmetic_v<T>) list.reserve(static_cast<std::size_t>(size));
      for (std::uint64_t i = 0; i < size && self().ok(); ++i) {
        if constexpr (std::is_default_constructible_v<T>) {
          list.emplace_back();
        } else {
          list.push_back(StateAccess::Make<T>());
        }
        One(list.back());
      }
    } else {
      for (T& value : list) One(value);
    }
  }

  // Stores the entries in ascending order of their keys. On reading, keys must be strictly ascending.
  template <class Entry, class Container>
  void Sorted(Container& container) {
    const auto key = [](const Entry& entry) -> const auto& {
      if constexpr (std::same_as<Entry, typename Container::key_type>) {
        return entry;
      } else {
        return entry.first;
      }
    };
    if constexpr (Self::kReads) {
      std::vector<Entry> entries;
      List(entries);
      container.clear();
      if (!self().ok()) return;
      for (std::size_t i = 1; i < entries.size(); ++i) {
        self().Check(key(entries[i - 1]) < key(entries[i]), "the keys of a set or map are not in order");
      }
      if (!self().ok()) return;
      for (Entry& entry : entries) container.insert(std::move(entry));
    } else {
      std::vector<Entry> entries(container.begin(), container.end());
      std::sort(entries.begin(), entries.end(),
                [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
      List(entries);
    }
  }
};

/// Turns objects into bytes.
class StateWriter : public BasicArchive<StateWriter> {
 public:
  static constexpr bool kReads = false;

  static constexpr bool ok() { return true; }
  template <class Holds>
  void Check(const Holds&, std::string_view) {}
  std::string Take() { return std::move(bytes_); }

 private:
  friend class BasicArchive<StateWriter>;
  void Word(std::uint64_t word, int width) {
    for (int byte = 0; byte < width; ++byte) bytes_ += static_cast<char>(word >> (8 * byte));
  }
  void Text(const std::string& text);
  void Differs(std::string_view, std::string_view, std::string_view) {}

  std::string bytes_;
};

/// Turns bytes into objects. The bytes are not trusted. After the first error it reads zeros and empty lists,
/// and the caller must not use them.
class StateReader : public BasicArchive<StateReader> {
 public:
  static constexpr bool kReads = true;

  /// `bytes` must outlive the reader.
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return status_.ok(); }

  /// Records an error with the text `otherwise` if `holds` is false, unless there was an error before. The
  /// overload for functions calls `holds` only if there was no error before.
  void Check(bool holds, std::string_view otherwise);
  template <std::invocable Holds>
  void Check(const Holds& holds, std::string_view otherwise) {
    if (ok()) Check(static_cast<bool>(holds()), otherwise);
  }

  /// Returns the first error. It is kDataLoss if the bytes are damaged, or if some of them have not been
  /// read. It is kFailedPrecondition if the saved object had other parameters.
  absl::Status Finish();

 private:
  friend class BasicArchive<StateReader>;
  void Word(std::uint64_t& word, int width);
  void Text(std::string& text);
  void Differs(std::string_view name, std::string_view saved, std::string_view here);
  bool Fits(std::uint64_t count, std::size_t each) const { return count <= (bytes_.size() - at_) / each; }

  std::string_view bytes_;
  std::size_t at_ = 0;
  absl::Status status_;
};

/// Returns the object's State as bytes.
template <class T>
std::string SaveState(const T& object) {
  StateWriter writer;
  writer(const_cast<T&>(object));  // a writer changes nothing
  return writer.Take();
}

/// Reads the State of `object`, which must have been made with the same parameters. After an error `object`
/// must not be used.
template <class T>
absl::Status RestoreState(std::string_view bytes, T& object) {
  StateReader reader(bytes);
  reader(object);
  return reader.Finish();
}

}  // namespace bandana
