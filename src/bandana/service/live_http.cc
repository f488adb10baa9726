#include "bandana/service/live_http.h"

#include <httplib.h>
#include <openssl/crypto.h>

#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "bandana/core/status.h"
#include "bandana/service/address.h"
#include "bandana/service/only_tls13.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace bandana::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kThreads = 256;
constexpr std::size_t kMostBody = 1 << 20;
constexpr std::size_t kMostPosts = 1000;
constexpr int kSecondsToSend = 10;
constexpr int kSecondsIdle = 60;

int HttpCodeOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

const char* NameOf(LiveOutcome outcome) {
  switch (outcome) {
    case LiveOutcome::kTaken:
      return "taken";
    case LiveOutcome::kRepeat:
      return "repeat";
    case LiveOutcome::kConflict:
      return "conflict";
    case LiveOutcome::kLate:
      break;
  }
  return "late";
}

std::string HttpTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

absl::Status BadBody(const std::string& what) { return absl::InvalidArgumentError(what); }

void Fill(httplib::Response& response, const Json& json) {
  response.set_content(json.dump(), "application/json");
}

void Refuse(httplib::Response& response, const absl::Status& why) {
  response.status = HttpCodeOf(why.code());
  if (response.status == 429 || response.status == 503) response.set_header("Retry-After", "1");
  Fill(
      response,
      {{"error", {{"code", absl::StatusCodeToString(why.code())}, {"message", std::string(why.message())}}}});
}

// Whether two texts are equal, in a time that does not tell where they differ.
bool SameSecret(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

absl::StatusOr<Json> ParseJson(const std::string& body) {
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) return BadBody("the body is not JSON");
  return json;
}

}  // namespace

class LiveHttp::Server {
 public:
  Server(Params params, LiveDesk& desk) : params_(std::move(params)), desk_(desk) {}
  ~Server() {
    if (http_ != nullptr) http_->stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Open() {
    BANDANA_ASSIGN_OR_RETURN(const Address where, params_.certificate.empty()
                                                      ? ParseLoopback("http", params_.listen)
                                                      : ParseAddress("http", params_.listen));
    if (params_.certificate.empty()) {
      http_ = std::make_unique<httplib::Server>();
    } else {
      BANDANA_RETURN_IF_ERROR(RequireTls13());
      http_ = std::make_unique<httplib::SSLServer>(params_.certificate.c_str(), params_.private_key.c_str());
    }
    if (!http_->is_valid()) {
      return absl::InvalidArgumentError(fmt::format("{}, {}: the certificate and its key cannot be used",
                                                    params_.certificate, params_.private_key));
    }
    http_->set_tcp_nodelay(true);
    http_->set_payload_max_length(kMostBody);
    http_->set_read_timeout(kSecondsToSend, 0);
    http_->set_keep_alive_timeout(kSecondsIdle);
    http_->set_keep_alive_max_count(1'000'000);
    http_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    http_->set_socket_options([](socket_t socket) {  // without SO_REUSEPORT: a port in use is an error
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    Route();
    Address bound = where;
    if (where.port == 0) {
      bound.port = http_->bind_to_any_port(where.host);
    } else if (!http_->bind_to_port(where.host, where.port)) {
      bound.port = -1;
    }
    if (bound.port <= 0) {
      return absl::UnavailableError(
          fmt::format("cannot listen on {}: the port may be in use", params_.listen));
    }
    address_ = bound.ToString();
    thread_ = std::thread([this] { http_->listen_after_bind(); });
    return absl::OkStatus();
  }

  const std::string& address() const { return address_; }

 private:
  using Request = httplib::Request;
  using Response = httplib::Response;

  void Route() {
    http_->Post("/v1/decide", [this](const Request& in, Response& out) { Handle(in, out, &Server::Decide); });
    http_->Post("/v1/rewards",
                [this](const Request& in, Response& out) { Handle(in, out, &Server::Rewards); });
    http_->Get("/v1/deployment", [this](const Request&, Response& out) {
      out.set_content(params_.deployment(), "application/json");
    });
    http_->Get("/v1/policy", [this](const Request& in, Response& out) { Policy(in, out); });
    http_->Get("/healthz", [](const Request&, Response& out) { out.set_content("ok\n", "text/plain"); });
    http_->set_error_handler([](const Request& in, Response& out) {
      if (!out.body.empty()) return;
      const int status = out.status;
      Refuse(out, status == 404 ? absl::NotFoundError(fmt::format("{} {} does not exist", in.method, in.path))
                  : status == 413 ? absl::InvalidArgumentError("the body is larger than 1 MiB")
                                  : absl::InvalidArgumentError("the request is malformed"));
      out.status = status;
    });
  }

  void Handle(const Request& in, Response& out, absl::StatusOr<Json> (Server::*answer)(const Json&)) {
    if (!params_.key.empty() && !SameSecret(in.get_header_value("Authorization"), "Bearer " + params_.key)) {
      return Refuse(out, absl::UnauthenticatedError("the application's key is missing or wrong"));
    }
    const absl::StatusOr<Json> body = ParseJson(in.body);
    if (!body.ok()) return Refuse(out, body.status());
    const absl::StatusOr<Json> done = (this->*answer)(*body);
    if (!done.ok()) return Refuse(out, done.status());
    Fill(out, *done);
  }

  absl::StatusOr<Json> Decide(const Json& body) {
    const auto subjects = body.is_object() ? body.find("subjects") : body.end();
    if (!body.is_object() || body.size() != 1 || subjects == body.end() || !subjects->is_array() ||
        subjects->empty() || subjects->size() > kMostPosts) {
      return BadBody(R"(the body must be {"subjects": [...]} with 1 to 1000 subjects)");
    }
    v1::LiveEvent event;
    for (const Json& each : *subjects) {
      const std::string text = each.is_string() ? each.get<std::string>() : "";
      const bool hex = text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
      if (!hex)
        return BadBody(fmt::format("{} is no subject: it must have 32 hexadecimal digits", each.dump()));
      event.mutable_decide()->add_subject(absl::HexStringToBytes(text));
    }
    BANDANA_ASSIGN_OR_RETURN(const LiveReply reply, desk_.Ask(std::move(event)));
    const std::string run = desk_.status().run;
    Json answers = Json::array();
    for (std::size_t i = 0; i < reply.decisions.size(); ++i) {
      const LiveDecision& decision = reply.decisions[i];
      Json answer = {
          {"subject", (*subjects)[i]},   {"decision", nullptr},
          {"action", decision.arm},      {"name", params_.names[static_cast<std::size_t>(decision.arm)]},
          {"counted", decision.id != 0}, {"window_ends", nullptr}};
      if (decision.id != 0) {
        answer["decision"] = fmt::format("{}-{}", run, decision.id);
        answer["window_ends"] = HttpTime(decision.window_ends);
      }
      answers.push_back(std::move(answer));
    }
    return answers;
  }

  // Returns the number of a decision; 0 for one of another run.
  absl::StatusOr<std::uint64_t> NumberOf(const Json& decision, const std::string& run) const {
    const std::string text = decision.is_string() ? decision.get<std::string>() : "";
    const std::size_t dash = text.find('-');
    std::uint64_t number = 0;
    if (dash == std::string::npos || !absl::SimpleAtoi(text.substr(dash + 1), &number) || number == 0) {
      return BadBody(fmt::format("{} is no decision", decision.dump()));
    }
    return text.substr(0, dash) == run ? number : 0;
  }

  absl::StatusOr<Json> Rewards(const Json& body) {
    if (!body.is_array() || body.empty() || body.size() > kMostPosts) {
      return BadBody("the body must be an array of 1 to 1000 rewards");
    }
    v1::LiveEvent event;
    const std::string run = desk_.status().run;
    for (const Json& each : body) {
      const bool has_decision = each.is_object() && each.size() == 2 && each.contains("decision");
      const bool is_void = has_decision && each.contains("void") && each["void"] == true;
      if (!is_void && !(has_decision && each.contains("reward") && each["reward"].is_number())) {
        return BadBody(fmt::format(
            R"({} must be {{"decision": ..., "reward": number}} or {{"decision": ..., "void": true}})",
            each.dump()));
      }
      BANDANA_ASSIGN_OR_RETURN(const std::uint64_t number, NumberOf(each["decision"], run));
      v1::Post& post = *event.mutable_rewards()->add_posts();
      post.set_decision(number);
      post.set_void_(is_void);
      if (!is_void) post.set_reward(each["reward"].get<double>());
    }
    BANDANA_ASSIGN_OR_RETURN(const LiveReply reply, desk_.Ask(std::move(event)));
    Json outcomes = Json::array();
    for (const LiveOutcome outcome : reply.outcomes) outcomes.push_back(NameOf(outcome));
    return outcomes;
  }

  void Policy(const Request& in, Response& out) {
    const LiveStatus status = desk_.status();
    Json json = {{"epoch", status.epoch}, {"best", nullptr}, {"left", Json::array()}};
    if (status.is_known) json["best"] = params_.names[static_cast<std::size_t>(status.best)];
    if (status.learned != nullptr) {
      for (const ArmId arm : status.learned->active) {
        json["left"].push_back(params_.names[static_cast<std::size_t>(arm)]);
      }
    }
    const std::string version = fmt::format("\"{}-{}\"", status.run, status.epoch);
    out.set_header("ETag", version);
    if (in.get_header_value("If-None-Match") == version) {
      out.status = 304;
      return;
    }
    Fill(out, json);
  }

  Params params_;
  LiveDesk& desk_;
  std::unique_ptr<httplib::Server> http_;
  std::string address_;
  std::thread thread_;
};

LiveHttp::LiveHttp(std::unique_ptr<Server> server) : server_(std::move(server)) {}
LiveHttp::~LiveHttp() = default;
const std::string& LiveHttp::address() const { return server_->address(); }

absl::StatusOr<std::unique_ptr<LiveHttp>> LiveHttp::Open(Params params, LiveDesk& desk) {
  auto server = std::make_unique<Server>(std::move(params), desk);
  BANDANA_RETURN_IF_ERROR(server->Open());
  return std::unique_ptr<LiveHttp>(new LiveHttp(std::move(server)));
}

}  // namespace bandana::service
