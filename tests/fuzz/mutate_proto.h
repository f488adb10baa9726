#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "tests/fuzz/fuzz.h"

/// Changes one field of a message of protobuf, at random, so that the result is again a message.
namespace bandana::fuzz {

class ProtoMutator {
 public:
  explicit ProtoMutator(Random& random) : random_(random) {}

  void Mutate(google::protobuf::Message& message) {
    const google::protobuf::Reflection& fields = *message.GetReflection();
    std::vector<const Field*> set;
    fields.ListFields(message, &set);
    // Fields that are set matter more than those that are not.
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    if (type.field_count() == 0) return;
    const bool among_set = !set.empty() && Below(4, random_) != 0;
    const Field& field =
        among_set
            ? *OneOf(set, random_)
            : *type.field(static_cast<int>(Below(static_cast<std::size_t>(type.field_count()), random_)));
    if (field.is_repeated()) return MutateList(message, field);
    if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
      if (fields.HasField(message, &field) && Below(8, random_) == 0)
        return fields.ClearField(&message, &field);
      return Mutate(*fields.MutableMessage(&message, &field));
    }
    SetScalar(message, field, -1);
  }

  /// Parses `input` as this kind of message, changes it a few times and returns its bytes.
  template <class Proto>
  static std::string MutateBytes(std::string_view input, Random& random) {
    Proto message;
    (void)message.ParseFromArray(input.data(), static_cast<int>(input.size()));
    ProtoMutator mutator(random);
    const std::size_t times = 1 + Below(3, random);
    for (std::size_t i = 0; i < times; ++i) mutator.Mutate(message);
    return message.SerializeAsString();
  }

 private:
  using Field = google::protobuf::FieldDescriptor;

  void MutateList(google::protobuf::Message& message, const Field& field) {
    const google::protobuf::Reflection& fields = *message.GetReflection();
    const int size = fields.FieldSize(message, &field);
    const auto at = static_cast<int>(Below(static_cast<std::size_t>(size), random_));
    const std::size_t what = size == 0 ? 0 : Below(8, random_);
    if (what == 0) {
      if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
        google::protobuf::Message& added = *fields.AddMessage(&message, &field);
        if (size > 0 && Below(2, random_) == 0)
          added.CopyFrom(fields.GetRepeatedMessage(message, &field, at));
        return Mutate(added);
      }
      return AddScalar(message, field);
    }
    if (what == 1) {
      fields.SwapElements(&message, &field, at, size - 1);
      return fields.RemoveLast(&message, &field);
    }
    if (what == 2) {
      return fields.SwapElements(&message, &field, at,
                                 static_cast<int>(Below(static_cast<std::size_t>(size), random_)));
    }
    if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
      return Mutate(*fields.MutableRepeatedMessage(&message, &field, at));
    }
    SetScalar(message, field, at);
  }

  template <class T>
  T Whole() {
    using Limits = std::numeric_limits<T>;
    static constexpr T kSome[] = {0,
                                  1,
                                  2,
                                  3,
                                  5,
                                  8,
                                  64,
                                  static_cast<T>(-1),
                                  Limits::max(),
                                  static_cast<T>(Limits::max() - 1),
                                  Limits::min(),
                                  static_cast<T>(Limits::max() / 2 + 1)};
    return Below(8, random_) == 0 ? static_cast<T>(random_()) : OneOf(kSome, random_);
  }
  double Real() {
    using Limits = std::numeric_limits<double>;
    static const double kSome[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   Limits::max(),
                                   -Limits::max(),
                                   Limits::infinity(),
                                   -Limits::infinity(),
                                   Limits::quiet_NaN(),
                                   Limits::denorm_min(),
                                   1e-300,
                                   1e18};
    return OneOf(kSome, random_);
  }
  std::string Text(std::string text) {
    if (text.empty() || Below(3, random_) == 0) text += static_cast<char>(random_());
    switch (Below(4, random_)) {
      case 0:
        text[Below(text.size(), random_)] = static_cast<char>(random_());
        break;
      case 1:
        text.resize(Below(text.size() + 1, random_));
        break;
      case 2:
        text += text.substr(0, 64);
        break;
      default:
        text[Below(text.size(), random_)] ^= static_cast<char>(1 << Below(8, random_));
    }
    return text;
  }

  void AddScalar(google::protobuf::Message& message, const Field& field) {
    const google::protobuf::Reflection& fields = *message.GetReflection();
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return fields.AddInt32(&message, &field, Whole<std::int32_t>());
      case Field::CPPTYPE_INT64:
        return fields.AddInt64(&message, &field, Whole<std::int64_t>());
      case Field::CPPTYPE_UINT32:
        return fields.AddUInt32(&message, &field, Whole<std::uint32_t>());
      case Field::CPPTYPE_UINT64:
        return fields.AddUInt64(&message, &field, Whole<std::uint64_t>());
      case Field::CPPTYPE_DOUBLE:
        return fields.AddDouble(&message, &field, Real());
      case Field::CPPTYPE_BOOL:
        return fields.AddBool(&message, &field, Below(2, random_) == 0);
      case Field::CPPTYPE_STRING:
        return fields.AddString(&message, &field, Text(""));
      default:
        BANDANA_CHECK(false);  // no message of this project has such a field
    }
  }

  // Sets a field, or entry `at` of a list.
  void SetScalar(google::protobuf::Message& message, const Field& field, int at) {
    const google::protobuf::Reflection& fields = *message.GetReflection();
    const bool listed = at >= 0;
    const auto set = [&](auto set_field, auto set_entry, auto value) {
      listed ? (fields.*set_entry)(&message, &field, at, value)
             : (fields.*set_field)(&message, &field, value);
    };
    using R = google::protobuf::Reflection;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return set(&R::SetInt32, &R::SetRepeatedInt32, Whole<std::int32_t>());
      case Field::CPPTYPE_INT64:
        return set(&R::SetInt64, &R::SetRepeatedInt64, Whole<std::int64_t>());
      case Field::CPPTYPE_UINT32:
        return set(&R::SetUInt32, &R::SetRepeatedUInt32, Whole<std::uint32_t>());
      case Field::CPPTYPE_UINT64:
        return set(&R::SetUInt64, &R::SetRepeatedUInt64, Whole<std::uint64_t>());
      case Field::CPPTYPE_DOUBLE:
        return set(&R::SetDouble, &R::SetRepeatedDouble, Real());
      case Field::CPPTYPE_BOOL:
        return set(&R::SetBool, &R::SetRepeatedBool, Below(2, random_) == 0);
      case Field::CPPTYPE_STRING:
        return set(
            &R::SetString, &R::SetRepeatedString,
            Text(listed ? fields.GetRepeatedString(message, &field, at) : fields.GetString(message, &field)));
      default:
        BANDANA_CHECK(false);
    }
  }

  Random& random_;
};

}  // namespace bandana::fuzz
