#pragma once

namespace bandana {

/// Marks a place where protected data may be used unprotected, and gives the reason as a string literal
/// (script/lint checks it). An object that is made with a Declassify claims no privacy, and its reports say
/// so.
class Declassify {
 public:
  explicit Declassify(const char* reason) : reason_(reason) {}
  const char* reason() const { return reason_; }

 private:
  const char* reason_;
};

}  // namespace bandana
