#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "bandana/service/certificate.h"
#include "bandana/service/key_files.h"
#include "bandana/service/party.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

// Certificates in PEM. One that was read is the same after it was written and read again; and no CA's own
// certificate vouches for one that says something else than the CA has signed.
namespace bandana::fuzz {
namespace {

using service::Authorities;
using service::Certificate;

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----\n";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";

struct Deployment {
  Deployment() {
    const std::string keys = folder / "keys";
    BANDANA_CHECK(service::MakeDeployment(keys).ok());
    for (const char* party : {"server", "agent/3"}) {
      BANDANA_CHECK(service::Issue(keys, party).ok());
      issued.push_back(Contents(keys + "/" + service::FileNameOf(party) + ".pem"));
    }
    authority = keys + "/ca.pem";
    authorities.emplace(Authorities::Open(authority).value());
  }
  Folder folder;
  std::string authority;
  std::vector<std::string> issued;
  std::optional<Authorities> authorities;
};

const Deployment& Known() {
  static const Deployment& deployment = *new Deployment();
  return deployment;
}

bool SaysTheSame(const Certificate& a, const Certificate& b) {
  return a.uris() == b.uris() && a.id() == b.id() && a.serial() == b.serial() &&
         a.not_before() == b.not_before() && a.not_after() == b.not_after();
}

void Run(std::string_view pem) {
  const auto certificates = Certificate::FromPem(pem, "x.pem");
  if (!certificates.ok()) return;
  for (const Certificate& each : *certificates) {
    BANDANA_CHECK(service::ParseSerial(each.serial()) == each.serial());
    if (each.id()) {
      BANDANA_CHECK(service::PartyFromUri(service::ToUri(*each.id())) == each.id());
      BANDANA_CHECK(std::count(each.uris().begin(), each.uris().end(), service::ToUri(*each.id())) == 1);
    }
    const auto again = Certificate::FromPem(each.pem());
    BANDANA_CHECK(again.ok() && again->size() == 1 && SaysTheSame(again->front(), each));
    for (const Authorities::Use use :
         {Authorities::Use::kAny, Authorities::Use::kClient, Authorities::Use::kServer}) {
      if (!Known().authorities->Check(each, *certificates, use).ok()) continue;
      const bool is_issued = std::any_of(
          Known().issued.begin(), Known().issued.end(),
          [&](const std::string& text) { return SaysTheSame(Certificate::FromPem(text)->front(), each); });
      BANDANA_CHECK(is_issued || SaysTheSame(Known().authorities->certificates().front(), each));
    }
  }
}

// Changes the bytes that a certificate's text stands for.
std::string Mutate(std::string_view input, Random& random) {
  const std::size_t begin = input.find(kBegin);
  const std::size_t end = begin == std::string_view::npos ? begin : input.find(kEnd, begin);
  std::string bytes;
  if (end == std::string_view::npos ||
      !absl::Base64Unescape(
          absl::string_view(input.data() + begin + kBegin.size(), end - begin - kBegin.size()), &bytes) ||
      bytes.empty()) {
    return OneOf(Known().issued, random);
  }
  for (std::size_t i = Below(3, random) + 1; i > 0; --i) {
    const std::size_t at = Below(bytes.size(), random);
    switch (Below(4, random)) {
      case 0:
        bytes.erase(at, Below(4, random));
        break;
      case 1:
        bytes.insert(at, 1, static_cast<char>(random()));
        break;
      case 2:
        bytes[at] = static_cast<char>(random());
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8, random)));
    }
    if (bytes.empty()) break;
  }
  std::string text = absl::Base64Escape(bytes);
  for (std::size_t at = 64; at < text.size(); at += 65) text.insert(at, "\n");
  return std::string(kBegin) + text + "\n" + std::string(kEnd);
}

}  // namespace

Target MakeTarget() {
  Target target{.run = Run,
                .words = {std::string(kBegin), std::string(kEnd), "-----BEGIN X509 CRL-----\n", "\n", "="},
                .mutate = Mutate,
                .mutations = 1500};
  target.seeds = {{"server", Known().issued[0]},
                  {"agent", Known().issued[1]},
                  {"authority", Contents(Known().authority)},
                  {"two", Known().issued[0] + Known().issued[1]},
                  {"none", "no certificate"}};
  return target;
}

}  // namespace bandana::fuzz
