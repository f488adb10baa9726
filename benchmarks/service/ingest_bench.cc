// How fast a server takes reports: durably, over mutual TLS, into a store in a file. Beside it, in the same
// run, how fast gRPC alone carries such messages. And how large a server is that takes 10^6 reports in one
// phase, how long it needs to close the phase, and to go on after it was killed in the middle. The server is
// a process of its own. Its files are in the working folder, so that you choose the disk.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bandana/core/check.h"
#include "bandana/service/channel.h"
#include "bandana/service/credentials.h"
#include "bandana/service/key_files.h"
#include "bandana/service/protocol.h"
#include "benchmarks/service/ingest_server.h"
#include "fmt/format.h"
#include "grpcpp/grpcpp.h"
#include "proto/federation.pb.h"
#include "proto/link.grpc.pb.h"

extern char** environ;

namespace bandana::service {
namespace {

constexpr char kFolder[] = "ingest_bench.files";
constexpr std::size_t kReportBytes = 1024;
constexpr int kKilobyteCoordinates = 203;   // such a report has about 1 KiB
constexpr std::int64_t kHalf = 1 << 29;     // of the range of a reward, in units of 2^-30
constexpr std::size_t kInFlight = 8 << 20;  // bytes
constexpr absl::Duration kRawTime = absl::Seconds(1);

void PrepareFolder() {
  static bool prepared = false;
  if (!std::exchange(prepared, true)) {
    std::filesystem::remove_all(kFolder);
    std::filesystem::create_directory(kFolder);
    const std::string keys = std::string(kFolder) + "/keys";
    BANDANA_CHECK(MakeDeployment(keys).ok());
    BANDANA_CHECK(Issue(keys, "server").ok() && Issue(keys, "agent/1").ok());
  }
  for (const auto& file : std::filesystem::directory_iterator(kFolder)) {
    if (file.is_regular_file()) std::filesystem::remove(file);
  }
}

// This program, started again as a server.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    int in[2], out[2];
    BANDANA_CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    std::vector<char*> argv = {const_cast<char*>("ingest_bench")};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    BANDANA_CHECK(posix_spawn(&pid_, "/proc/self/exe", &files, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
    input_ = in[1];
    FILE* output = fdopen(out[0], "r");
    char line[256] = {};
    BANDANA_CHECK(std::fgets(line, sizeof(line), output) != nullptr);
    std::fclose(output);
    address_ = std::string(line, std::string_view(line).find('\n'));
  }
  ~Child() {
    if (pid_ > 0) Kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  const std::string& address() const { return address_; }
  std::size_t Kill() {
    kill(pid_, SIGKILL);
    return Wait();
  }
  // Waits for its end. Returns the largest amount of memory that it has used, in bytes.
  std::size_t Wait() {
    rusage usage{};
    BANDANA_CHECK(wait4(std::exchange(pid_, 0), nullptr, 0, &usage) > 0);
    close(input_);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }

 private:
  pid_t pid_ = 0;
  int input_ = -1;
  std::string address_;
};

Child StartServer(Count clients, int coordinates) {
  return Child({"ingest", kFolder, std::to_string(clients), std::to_string(coordinates)});
}

// An agent as the wire sees it. It has its answers at hand, so that what is measured is the server.
class Gateway {
 public:
  explicit Gateway(const std::string& address) {
    static const auto keys =
        KeyRing::Open({.folder = std::string(kFolder) + "/keys", .self = "agent/1"}).value();
    stub_ = v1::Links::NewStub(MakeChannel(ParseAddressFor(keys.get(), "server", address).value(),
                                           keys->ForChannel("server"), Limits()));
    context_.set_wait_for_ready(true);
    stream_ = stub_->Connect(&context_);
  }
  ~Gateway() { Leave(); }
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // It remembers this between two connections.
  struct Position {
    std::string run;
    std::uint64_t taken = 0;  // of the server's messages
    std::uint64_t sent = 0;   // of its own
    std::uint64_t acknowledged = 0;
    std::uint64_t promised = 0;
    Count asked = 0;  // clients
    bool stopped = false;
  };

  // Opens the link. Returns after which of its messages it has to go on.
  std::uint64_t Open(Position& at) {
    at_ = &at;
    v1::Frame frame;
    v1::Opening& opening = *frame.mutable_opening();
    opening.set_protocol_version(kProtocolVersion);
    opening.set_self("agent/1");
    opening.set_to("server");
    opening.set_digest(kIngestDigest);
    opening.set_run(at.run);
    opening.set_knows(at.run);
    opening.set_process("12345678");
    opening.set_taken(at.taken);
    opening.set_sent(at.sent);
    opening.set_promised(at.promised);
    Write(frame);
    BANDANA_CHECK(stream_->Read(&frame) && frame.has_opening());
    at.run = frame.opening().run();
    at.acknowledged = at.sent = frame.opening().taken();
    reader_ = std::thread([this] { ReadLink(); });
    return at.sent;
  }

  void Join(Count clients) {
    v1::FromAgent join;
    join.mutable_join()->set_first_client(1);
    join.mutable_join()->set_client_count(static_cast<std::uint64_t>(clients));
    Send(join.SerializeAsString());
    Until([&] { return at_->asked == clients; });
  }

  // Sends a message as soon as not too many bytes are on their way.
  void Send(std::string body) {
    v1::Frame frame;
    {
      std::unique_lock lock(mutex_);
      const std::uint64_t most =
          std::max<std::uint64_t>(16, kInFlight / std::max<std::size_t>(1, body.size()));
      changed_.wait(lock, [&] { return at_->sent - at_->acknowledged < most; });
      frame.mutable_data()->set_seq(++at_->sent);
      frame.mutable_data()->set_sent(at_->sent);
      sent_at_.push_back(absl::Now());
    }
    frame.mutable_data()->set_body(std::move(body));
    Write(frame);
  }

  template <class Condition>
  void Until(Condition condition) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, condition);
  }
  void UntilAcknowledged() {
    Until([this] { return at_->acknowledged == at_->sent; });
  }

  // Ends the connection.
  void Leave() {
    if (stream_ == nullptr) return;
    context_.TryCancel();
    if (reader_.joinable()) reader_.join();
    stream_->Finish();
    stream_.reset();
  }

  // Returns how many messages like this the other end answers in a second, if it is RawAnswer.
  double MeasureRaw(std::size_t bytes) {
    v1::Frame frame;
    frame.mutable_data()->set_body(std::string(bytes, 'x'));
    std::uint64_t answered = 0;
    reader_ = std::thread([&] {
      for (v1::Frame answer; stream_->Read(&answer);) {
        const std::lock_guard lock(mutex_);
        ++answered;
        changed_.notify_one();
      }
    });
    const std::uint64_t most = kInFlight / bytes;
    const absl::Time began = absl::Now();
    for (std::uint64_t sent = 0; absl::Now() < began + kRawTime; ++sent) {
      Until([&] { return sent - answered < most; });
      frame.mutable_data()->set_seq(sent);
      Write(frame);
    }
    const double seconds = absl::ToDoubleSeconds(absl::Now() - began);
    std::uint64_t done = 0;
    Until([&] { return (done = answered) > 0; });
    Leave();
    return static_cast<double>(done) / seconds;
  }

  // Returns the time between sending and acknowledgement that 99 % of the messages stay below.
  absl::Duration SlowReceipt() {
    const std::lock_guard lock(mutex_);
    if (receipts_.empty()) return absl::ZeroDuration();
    const auto at = receipts_.begin() + static_cast<std::ptrdiff_t>(receipts_.size() * 99 / 100);
    std::nth_element(receipts_.begin(), at, receipts_.end());
    return *at;
  }

 private:
  void Write(const v1::Frame& frame) {
    const std::lock_guard lock(writing_);
    stream_->Write(frame);
  }

  void ReadLink() {
    v1::Frame answer;
    for (v1::Frame frame; stream_->Read(&frame);) {
      std::uint64_t taken = 0;
      {
        const std::lock_guard lock(mutex_);
        if (frame.has_ack()) {
          for (; at_->acknowledged < frame.ack().seq(); ++at_->acknowledged) {
            if (receipts_.size() < sent_at_.size()) {
              receipts_.push_back(absl::Now() - sent_at_[receipts_.size()]);
            }
          }
        } else if (frame.has_data()) {
          v1::ToAgent message;
          BANDANA_CHECK(message.ParseFromString(frame.data().body()));
          taken = at_->taken = frame.data().seq();
          at_->promised = frame.data().sent();
          at_->asked += message.delivery().to_size();
          at_->stopped = message.has_stop();
          BANDANA_CHECK(!at_->stopped || message.stop().finished());
        }
        changed_.notify_one();
      }
      if (taken == 0) continue;
      answer.mutable_ack()->set_seq(taken);
      Write(answer);
    }
  }

  std::unique_ptr<v1::Links::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Frame, v1::Frame>> stream_;
  std::thread reader_;
  std::mutex writing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Position* at_ = nullptr;
  std::vector<absl::Time> sent_at_;
  std::vector<absl::Duration> receipts_;
};

// The answers of clients, `batch` in a message.
class Answers {
 public:
  Answers(Count clients, int coordinates, Count batch) : clients_(clients), batch_(batch) {
    for (Count i = 0; i < batch; ++i) {
      v1::Message& message = *message_.mutable_shares()->add_messages();
      message.mutable_share()->set_epoch(1);
      for (int j = 0; j < coordinates; ++j) message.mutable_share()->add_report(kHalf + j);
    }
  }

  Count messages() const { return (clients_ + batch_ - 1) / batch_; }
  // Returns message 0, 1, ....
  std::string Message(Count index) {
    const Count first = 1 + index * batch_, count = std::min(batch_, clients_ - first + 1);
    auto& messages = *message_.mutable_shares()->mutable_messages();
    while (messages.size() > count) messages.RemoveLast();
    for (int i = 0; i < messages.size(); ++i) {
      const auto client = static_cast<std::uint32_t>(first + i);
      messages[i].set_from(client);
      messages[i].set_origin(client);
      messages[i].set_seq(client);
    }
    return message_.SerializeAsString();
  }

 private:
  Count clients_;
  Count batch_;
  v1::FromAgent message_;
};

double Seconds(absl::Time since) { return absl::ToDoubleSeconds(absl::Now() - since); }

struct Ingested {
  double rate = 0;  // reports a second, until the last one was acknowledged
  absl::Duration slow_receipt;
};

// Sends reports of 1 KiB, `batch` in a message; so many a second if `pace` is given.
Ingested Ingest(Count clients, Count batch, std::optional<double> pace) {
  PrepareFolder();
  Child server = StartServer(clients, kKilobyteCoordinates);
  Gateway::Position at;
  Gateway gateway(server.address());
  gateway.Open(at);
  gateway.Join(clients);
  Answers answers(clients, kKilobyteCoordinates, batch);
  const absl::Time began = absl::Now();
  for (Count i = 0; i < answers.messages(); ++i) {
    if (pace) absl::SleepFor(began + absl::Seconds(static_cast<double>(i * batch) / *pace) - absl::Now());
    gateway.Send(answers.Message(i));
  }
  gateway.UntilAcknowledged();
  const double rate = static_cast<double>(clients) / Seconds(began);
  gateway.Until([&] { return at.stopped; });
  const absl::Duration slow_receipt = gateway.SlowReceipt();
  server.Wait();
  return {rate, slow_receipt};
}

double MeasureRaw(const char* role) {
  PrepareFolder();
  const Child server({role, kFolder});
  return Gateway(server.address()).MeasureRaw(kReportBytes);
}

// Reports a second, and their ratio to the messages of the same size that gRPC alone carries there and back.
// And how long a report waits for its receipt at half of that speed.
void BM_Ingest(benchmark::State& state) {
  const Count batch = state.range(0), clients = state.range(1);
  for (auto _ : state) {
    const double echo = MeasureRaw("echo"), acknowledge = MeasureRaw("acknowledge");
    const Ingested full = Ingest(clients, batch, std::nullopt);
    const Ingested half = Ingest(clients, batch, full.rate / 2);
    state.SetIterationTime(static_cast<double>(clients) / full.rate);
    state.counters["reports/s"] = full.rate;
    state.counters["echo/s"] = echo;
    state.counters["acks/s"] = acknowledge;
    state.counters["ratio"] = full.rate / echo;
    state.counters["receipt_p99_ms"] = absl::ToDoubleMilliseconds(half.slow_receipt);
  }
}
BENCHMARK(BM_Ingest)
    ->Args({512, 200'000})
    ->Args({64, 200'000})
    ->Args({1, 100'000})
    ->ArgNames({"batch", "reports"})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

// One phase of 10^6 reports. The server is killed after half of them.
void BM_MillionReports(benchmark::State& state) {
  constexpr Count kClients = 1'000'000;
  constexpr int kCoordinates = 20;
  for (auto _ : state) {
    PrepareFolder();
    Answers answers(kClients, kCoordinates, 512);
    const Count half = answers.messages() / 2;
    Gateway::Position at;
    std::size_t bytes = 0;
    const absl::Time began = absl::Now();
    {
      Child server = StartServer(kClients, kCoordinates);
      Gateway gateway(server.address());
      gateway.Open(at);
      gateway.Join(kClients);
      for (Count i = 0; i < half; ++i) gateway.Send(answers.Message(i));
      gateway.UntilAcknowledged();
      bytes = server.Kill();
    }
    const absl::Time killed = absl::Now();
    Child server = StartServer(kClients, kCoordinates);
    Gateway gateway(server.address());
    // Its first message was to join.
    Count next = static_cast<Count>(gateway.Open(at)) - 1;
    state.counters["recovery_s"] = Seconds(killed);
    BANDANA_CHECK(next == half);
    for (; next + 1 < answers.messages(); ++next) gateway.Send(answers.Message(next));
    gateway.UntilAcknowledged();
    const absl::Time last = absl::Now();
    gateway.Send(answers.Message(next));
    gateway.Until([&] { return at.stopped; });
    state.counters["close_s"] = Seconds(last);
    state.SetIterationTime(Seconds(began));
    bytes = std::max(bytes, server.Wait());
    state.counters["MB"] = static_cast<double>(bytes) * 1e-6;
  }
}
BENCHMARK(BM_MillionReports)->Iterations(1)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace bandana::service

int main(int argc, char** argv) {
  using bandana::service::RawAnswer;
  const std::string role = argc > 2 ? argv[1] : "";
  if (role == "echo") return bandana::service::ServeRaw(argv[2], RawAnswer::kEcho);
  if (role == "acknowledge") return bandana::service::ServeRaw(argv[2], RawAnswer::kAcknowledge);
  if (role == "ingest")
    return bandana::service::ServeIngest({argv[2], std::stoll(argv[3]), std::stoi(argv[4])});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(bandana::service::kFolder);
}
