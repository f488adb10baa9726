#include "bandana/core/archive.h"

namespace bandana {

void StateWriter::Text(const std::string& text) {
  Word(text.size(), 8);
  bytes_ += text;
}

void StateReader::Check(bool holds, std::string_view otherwise) {
  if (holds || !status_.ok()) return;
  status_ = absl::DataLossError(
      fmt::format("the saved state is damaged at byte {} of {}: {}", at_, bytes_.size(), otherwise));
}

absl::Status StateReader::Finish() {
  Check(at_ == bytes_.size(), "it has more bytes than expected");
  return status_;
}

void StateReader::Word(std::uint64_t& word, int width) {
  word = 0;
  Check(Fits(1, static_cast<std::size_t>(width)), "it ends too early");
  if (!status_.ok()) return;
  for (int byte = 0; byte < width; ++byte) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_++])) << (8 * byte);
  }
}

void StateReader::Text(std::string& text) {
  text.clear();
  std::uint64_t size = 0;
  Word(size, 8);
  Check(Fits(size, 1), fmt::format("it announces a text of {} bytes, which is longer than the rest", size));
  if (!status_.ok()) return;
  text = bytes_.substr(at_, static_cast<std::size_t>(size));
  at_ += text.size();
}

void StateReader::Differs(std::string_view name, std::string_view saved, std::string_view here) {
  if (!status_.ok()) return;
  status_ = absl::FailedPreconditionError(
      saved.empty() && here.empty()
          ? fmt::format("the saved state has another {}", name)
          : fmt::format("the saved state has another {}: {}, not {}", name, saved, here));
}

}  // namespace bandana
