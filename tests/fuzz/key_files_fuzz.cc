#include <string>
#include <string_view>

#include "bandana/service/certificate.h"
#include "bandana/service/key_files.h"
#include "bandana/service/revoked.h"
#include "bandana/store/identity.h"
#include "bandana/store/seal.h"
#include "bandana/store/signed_head.h"
#include "bandana/store/store_name.h"
#include "tests/fuzz/files.h"
#include "tests/fuzz/fuzz.h"

// Small files that a process keeps beside its store: keys, identities, the ratchet, the list of revoked
// certificates, an anchor. A key that was read signs and verifies; a ratchet that was read goes on.
namespace bandana::fuzz {
namespace {

const Folder& TheFolder() {
  static const Folder& folder = *new Folder();
  return folder;
}

void Run(std::string_view input) {
  const std::string path = TheFolder() / "file";
  Write(path, input);
  if (const auto identity = store::IdentityKey::Open(path); identity.ok()) {
    const std::string signature = identity->Sign("a text");
    BANDANA_CHECK(signature.size() == 64 && identity->public_key().HasSigned("a text", signature));
    BANDANA_CHECK(!identity->public_key().HasSigned("another", signature));
  }
  if (const auto key = store::PublicKey::Open(path); key.ok()) {
    BANDANA_CHECK(key->name().size() == 64 && !key->HasSigned("a text", input));
    Write(path, key->pem());
    BANDANA_CHECK(store::PublicKey::Open(path)->name() == key->name());
    Write(path, input);
  }
  (void)service::ReadPrivateKey(path);
  if (auto ratchet = store::Ratchet::Open(path); ratchet.ok()) {
    const std::uint64_t generation = ratchet->generation();
    BANDANA_CHECK(ratchet->Advance().ok() && ratchet->generation() == generation + 1);
    const auto next = store::Ratchet::Open(path);
    BANDANA_CHECK(next.ok() && next->generation() == generation + 1 &&
                  next->KeyFor("x") == ratchet->KeyFor("x"));
    Write(path, input);
  }
  const auto revoked = service::ReadRevoked(path);
  BANDANA_CHECK(revoked.ok());
  for (const std::string& serial : revoked->serials) BANDANA_CHECK(service::ParseSerial(serial) == serial);
  if (const auto head = store::ReadSignedHead(path); head.ok()) {
    BANDANA_CHECK(store::FormatSignedHead(*head) == input);
  }
  (void)store::NamesStore(path);
}

}  // namespace

Target MakeTarget() {
  const Folder& folder = TheFolder();
  const std::string identity = folder / "identity";
  const std::string ratchet = folder / "ratchet";
  const std::string public_key = store::IdentityKey::Create(identity)->public_key().pem();
  BANDANA_CHECK(store::Ratchet::Open(ratchet).ok());
  const std::string keys = folder / "keys";
  BANDANA_CHECK(service::MakeDeployment(keys).ok());
  return {.seeds = {{"identity", Contents(identity)},
                    {"identity.pub", public_key},
                    {"ratchet", Contents(ratchet)},
                    {"ca.key", Contents(keys + "/ca.key")},
                    {"revoked", "0a:0B  # agent/3\n\n12\n# a remark\nnot a serial\n"},
                    {"anchor", store::FormatSignedHead({.configuration = "c",
                                                        .store = std::string(32, '0'),
                                                        .head = {7, std::string(64, 'a')},
                                                        .time = "2026-11-19T18:00:00.000Z",
                                                        .signature = std::string(64, 's')})},
                    {"sqlite", std::string("SQLite format 3\0", 16)}},
          .run = Run,
          .words = {"-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n",
                    "-----END PRIVATE KEY-----\n", "bandana-ratchet-1 ", "18446744073709551615 ", "#", "\n"},
          .mutations = 500};
}

}  // namespace bandana::fuzz
