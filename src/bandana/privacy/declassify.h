#pragma once

namespace bandana {

/// Written wherever protected data may be used unprotected, with the reason as a literal (script/lint looks).
/// Whatever is made with one claims no privacy, and its reports say so.
class Declassify {
 public:
  explicit Declassify(const char* reason) : reason_(reason) {}
  const char* reason() const { return reason_; }

 private:
  const char* reason_;
};

}  // namespace bandana
