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

/// Saving a policy and reading it back, so that it goes on as if it had never stopped. One member says what
/// a class holds, for both ways, in one order:
///
///   template <class Archive>
///   void State(Archive& a) {
///     a.Same(horizon_, "horizon");           // a parameter: written, and on reading it must be the same
///     a(rounds_, gram_, history_);           // what has become of it since
///     a.Check(rounds_ <= horizon_, "more rounds than the horizon has");  // nothing read is trusted
///   }
///   std::string Save() const override { return SaveState(*this); }
///   absl::Status Restore(std::string_view saved) override { return RestoreState(saved, *this); }
///
/// What follows from parameters (designs, calibrations, pointers to what roles share) is not saved: Restore
/// is called on an object made with the same ones.
namespace bandana {

class StateWriter;
class StateReader;

/// A class whose State is private, since it is sealed (privacy/access.h), makes this its friend.
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

/// What writer and reader share: how each type is made of whole numbers of 1, 2, 4 or 8 bytes. Doubles travel
/// as their bits, integers and enums little-endian in their own width; what is shared is written by value.
template <class Self>
class BasicArchive {
 public:
  template <class... Ts>
  void operator()(Ts&... values) {
    (One(values), ...);
  }

  /// A parameter of the object, which the saved one had too.
  template <class T>
  void Same(const T& value, std::string_view name) {
    T saved = value;
    One(saved);
    if (self().ok() && !(saved == value)) self().Differs(name, Shown(saved), Shown(value));
  }

  /// Lists and matrices that keep the size that they were made with.
  template <class... Ts>
  void Sized(Ts&... values) {
    (OneSized(values), ...);
  }

  /// Objects that were made with their owner, and are as many.
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
    self().Check(SizeOf(value) == size, "something of another size");
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
      self().Check(byte <= 1, "neither true nor false");
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
    self().Check(code >= 0 && code <= 16 && (code != 0 || message.empty()), "an error that there is not");
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
                   fmt::format("a matrix of {} x {}", rows, columns));
      if (!self().ok()) return;
      matrix.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    }
    for (Eigen::Index i = 0; i < matrix.size(); ++i) One(matrix.data()[i]);
  }

  // Reads no more than is there: a list grows as its entries come.
  template <class Container>
  void List(Container& list) {
    using T = typename Container::value_type;
    static_assert(!std::same_as<T, bool>);
    auto size = static_cast<std::uint64_t>(list.size());
    One(size);
    if constexpr (Self::kReads) {
      constexpr std::size_t least = std::is_arithmetic_v<T> ? sizeof(T) : 1;
      self().Check(self().Fits(size, least), fmt::format("a list of {}", size));
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

  // In the order of keys, which are all different.
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
        self().Check(key(entries[i - 1]) < key(entries[i]), "keys that are not in order");
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

/// Makes bytes of objects.
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

/// Makes objects of bytes that may be anybody's. After the first error it reads zeros and empty lists, which
/// nobody may look at.
class StateReader : public BasicArchive<StateReader> {
 public:
  static constexpr bool kReads = true;

  /// `bytes` must outlive it.
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return status_.ok(); }

  /// The first of these that does not hold is the error. A function is asked only if all has been well so
  /// far.
  void Check(bool holds, std::string_view otherwise);
  template <std::invocable Holds>
  void Check(const Holds& holds, std::string_view otherwise) {
    if (ok()) Check(static_cast<bool>(holds()), otherwise);
  }

  /// kDataLoss of bytes that nobody wrote, kFailedPrecondition of an object with other parameters. All of
  /// them must have been read.
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

/// An object's State as bytes.
template <class T>
std::string SaveState(const T& object) {
  StateWriter writer;
  writer(const_cast<T&>(object));  // a writer changes nothing
  return writer.Take();
}

/// The other way, to an object that was made with the same parameters. After an error it is good for nothing.
template <class T>
absl::Status RestoreState(std::string_view bytes, T& object) {
  StateReader reader(bytes);
  reader(object);
  return reader.Finish();
}

}  // namespace bandana
