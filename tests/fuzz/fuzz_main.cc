#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "google/protobuf/stubs/logging.h"
#include "tests/fuzz/fuzz.h"

#if defined(__SANITIZE_ADDRESS__)
#define BANDANA_SEES_ALLOCATIONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BANDANA_SEES_ALLOCATIONS 1
#endif
#endif

#ifdef BANDANA_SEES_ALLOCATIONS
extern "C" void __sanitizer_set_death_callback(void (*callback)());  // NOLINT(bugprone-reserved-identifier)
extern "C" int __sanitizer_install_malloc_and_free_hooks(            // NOLINT(bugprone-reserved-identifier)
    void (*on_malloc)(const volatile void*, std::size_t), void (*on_free)(const volatile void*));
#endif

#ifdef BANDANA_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
#endif

namespace bandana::fuzz {
namespace {

thread_local std::size_t largest_allocation = 0;

void Prepare() {
  google::protobuf::SetLogHandler(nullptr);  // it would write a line for every invalid text
#ifdef BANDANA_SEES_ALLOCATIONS
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, std::size_t size) { largest_allocation = std::max(largest_allocation, size); },
      [](const volatile void*) {});
#endif
}

const Target& TheTarget() {
  static const Target& target = *new Target(MakeTarget());
  return target;
}

void Run(std::string_view input) {
  const Target& target = TheTarget();
  // A copy of its own size, so that the address sanitizer sees a read past the end.
  const std::vector<char> copy(input.begin(), input.end());
  largest_allocation = 0;
  target.run({copy.data(), copy.size()});
  if (largest_allocation <= target.allocation + 64 * input.size()) return;
  std::fprintf(stderr, "an input of %zu bytes caused an allocation of %zu bytes\n", input.size(),
               largest_allocation);
  BANDANA_CHECK(false);
}

std::string InsertWord(std::string_view input, Random& random) {
  std::string changed(input);
  const std::string& word = OneOf(TheTarget().words, random);
  const std::size_t at = Below(changed.size() + 1, random);
  const bool replaces = Below(2, random) == 0;
  changed.replace(at, replaces ? std::min(word.size(), changed.size() - at) : 0, word);
  return changed;
}

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  BANDANA_CHECK(file.flush().good());
}

// Writes the seeds to a folder, where libFuzzer finds them.
int WriteSeeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Seed& seed : TheTarget().seeds) WriteFile(folder / seed.name, seed.bytes);
  return 0;
}

#ifndef BANDANA_LIBFUZZER

std::string MutateBytes(std::string_view input, Random& random) {
  std::string changed(input);
  const std::size_t times = 1 + Below(4, random);
  for (std::size_t i = 0; i < times; ++i) {
    const std::size_t at = Below(changed.size(), random);
    const std::size_t length = std::min(1 + Below(8, random), changed.size() - at);
    switch (Below(6, random)) {
      case 0:
        changed.insert(at, 1 + Below(8, random), static_cast<char>(random()));
        break;
      case 1:
        changed.erase(at, length);
        break;
      case 2:
        changed.insert(Below(changed.size() + 1, random), changed.substr(at, length));
        break;
      case 3:
        changed.resize(Below(changed.size() + 1, random));
        break;
      default:
        if (!changed.empty()) changed[at] = static_cast<char>(changed[at] ^ (1 << Below(8, random)));
    }
  }
  return changed;
}

std::string Mutate(std::string_view input, Random& random) {
  const Target& target = TheTarget();
  if (target.mutate && Below(4, random) != 0) return target.mutate(input, random);
  if (!target.words.empty() && Below(4, random) == 0) return InsertWord(input, random);
  return MutateBytes(input, random);
}

constexpr unsigned kMostSeconds = 300;  // for one input

const char* finding_path = nullptr;
std::string_view running;

// Leaves the input that runs in a file, for a person to look at.
void LeaveFinding() {
  const int file = open(finding_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = file >= 0 && write(file, running.data(), running.size()) >= 0;
  if (written) std::fprintf(stderr, "the input is in %s\n", finding_path);
}

void OnSignal(int number) {
  LeaveFinding();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void CatchFindings(const char* path) {
  finding_path = path;
  for (const int number : {SIGABRT, SIGALRM}) std::signal(number, OnSignal);
#ifdef BANDANA_SEES_ALLOCATIONS
  __sanitizer_set_death_callback(LeaveFinding);
#else
  for (const int number : {SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(number, OnSignal);
#endif
}

void Replay(const std::string& input) {
  running = input;
  alarm(kMostSeconds);
  Run(input);
  alarm(0);
}

int Main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--write-seeds") == 0) return WriteSeeds(argv[2]);
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: %s FINDING CORPUS\n"
                 "Runs the seeds, the files of the folder CORPUS if there is one, and mutations of both. An "
                 "input that crashes stays in the file FINDING.\n",
                 argv[0]);
    return 2;
  }
  Prepare();
  CatchFindings(argv[1]);
  const Target& target = TheTarget();
  std::vector<std::string> inputs = {""};
  for (const Seed& seed : target.seeds) inputs.push_back(seed.bytes);
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(argv[2])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (const std::string& input : inputs) Replay(input);
  Random random(20261115);
  for (int i = 0; i < target.mutations; ++i) {
    std::string input = OneOf(inputs, random);
    const std::size_t times = 1 + Below(5, random);
    for (std::size_t j = 0; j < times; ++j) input = Mutate(input, random);
    Replay(input);
  }
  std::printf("%zu inputs and %d mutations\n", inputs.size(), target.mutations);
  return 0;
}

#endif

}  // namespace
}  // namespace bandana::fuzz

#ifdef BANDANA_LIBFUZZER

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--write-seeds") == 0) {
    std::exit(bandana::fuzz::WriteSeeds((*argv)[2]));
  }
  bandana::fuzz::TheTarget();
  bandana::fuzz::Prepare();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bandana::fuzz::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  using namespace bandana::fuzz;  // NOLINT(google-build-using-namespace)
  const Target& target = TheTarget();
  Random random(seed);
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string changed;
  if (target.mutate && Below(4, random) != 0) {
    changed = target.mutate(input, random);
  } else if (!target.words.empty() && Below(4, random) == 0) {
    changed = InsertWord(input, random);
  } else {
    return LLVMFuzzerMutate(data, size, most);
  }
  changed.resize(std::min(changed.size(), most));
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}

#else

int main(int argc, char** argv) { return bandana::fuzz::Main(argc, argv); }

#endif
