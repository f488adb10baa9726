#include "bandana/service/key_files.h"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "bandana/core/check.h"
#include "bandana/core/status.h"
#include "bandana/privacy/ledger/file_error.h"
#include "bandana/service/certificate.h"
#include "bandana/service/names.h"
#include "bandana/service/party.h"
#include "bandana/service/revoked.h"
#include "bandana/service/signer.h"
#include "bandana/service/whole_file.h"
#include "bandana/store/identity.h"
#include "bandana/store/seal.h"
#include "bandana/store/store.h"
#include "fmt/format.h"

namespace bandana::service {
namespace {

constexpr absl::Duration kDay = absl::Hours(24);
constexpr absl::Duration kClocksMayDiffer = absl::Minutes(5);
constexpr int kDaysOfAuthority = 3652;  // ten years

constexpr const char* kAuthority = "ca.pem";
constexpr const char* kAuthorityKey = "ca.key";
constexpr const char* kRevoked = "revoked";
constexpr const char* kIssued = "issued";  // a copy of every certificate, by its serial

// Makes a folder that only its owner can read, if it is not there.
absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).lexically_normal().parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (mkdir(folder.c_str(), 0700) == 0 || std::filesystem::is_directory(folder, error))
    return absl::OkStatus();
  return FileError(absl::StatusCode::kUnavailable, folder,
                   fmt::format("the folder cannot be made: {}", std::strerror(errno)));
}

// While one command changes a folder of keys, others wait.
class FolderLock {
 public:
  static absl::StatusOr<FolderLock> Take(const std::string& folder) {
    const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_EX) == 0) return FolderLock(file);
    const int why = errno;
    if (file >= 0) close(file);
    return FileError(why == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable, folder,
                     fmt::format("the folder of keys cannot be opened: {}; bandana keys init makes one",
                                 std::strerror(why)));
  }
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

absl::Status CheckPartyName(const std::string& party) {
  return IsParty(party) ? absl::OkStatus() : InvalidOption("party", party, std::string(kPartyNames));
}

absl::StatusOr<KeyPair> OpenAuthority(const std::string& folder) {
  BANDANA_ASSIGN_OR_RETURN(const std::shared_ptr<evp_pkey_st> key,
                           ReadPrivateKey(PathIn(folder, kAuthorityKey)));
  BANDANA_ASSIGN_OR_RETURN(const Authorities authorities, Authorities::Open(PathIn(folder, kAuthority)));
  for (const Certificate& each : authorities.certificates()) {
    if (each.Matches(*key)) return KeyPair{.certificate = each, .key = key};
  }
  return FileError(absl::StatusCode::kFailedPrecondition, PathIn(folder, kAuthority),
                   "none of its CAs has the private key " + PathIn(folder, kAuthorityKey));
}

absl::StatusOr<std::string> DeploymentIn(const std::vector<Certificate>& authorities,
                                         const std::string& folder) {
  for (const Certificate& each : authorities) {
    if (std::optional<std::string> deployment = DeploymentOfAuthority(each)) return *std::move(deployment);
  }
  return FileError(absl::StatusCode::kFailedPrecondition, PathIn(folder, kAuthority),
                   "this CA was not made by bandana keys init: it names no deployment");
}

IssuedCertificate Summary(const Certificate& certificate, const RevokedSerials& revoked) {
  return {.party = certificate.id()->party,
          .serial = certificate.serial(),
          .not_before = certificate.not_before(),
          .not_after = certificate.not_after(),
          .revoked = revoked.serials.contains(certificate.serial())};
}

// Adds the certificates of parties that lie in a folder, by their serials.
absl::Status Collect(const std::string& folder, std::map<std::string, Certificate>& found) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".pem" || entry.path().filename() == "ca.pem") continue;
    BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path));
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Certificate> read, Certificate::FromPem(text, path));
    if (read.front().id()) found.emplace(read.front().serial(), read.front());
  }
  return absl::OkStatus();
}

absl::StatusOr<RevokedSerials> ReadRevokedIn(const std::string& folder) {
  BANDANA_ASSIGN_OR_RETURN(RevokedSerials revoked, ReadRevoked(PathIn(folder, kRevoked)));
  BANDANA_RETURN_IF_ERROR(revoked.problem);
  return revoked;
}

// "agent/3" comes before "agent/10".
bool ComesBefore(const IssuedCertificate& a, const IssuedCertificate& b) {
  const auto key = [](const IssuedCertificate& each) {
    return std::tuple(each.party.substr(0, each.party.find('/')), each.party.size(), each.party,
                      each.not_before, each.serial);
  };
  return key(a) < key(b);
}

bool IsValid(const IssuedCertificate& certificate, absl::Time now) {
  return !certificate.revoked && now < certificate.not_after;
}

absl::StatusOr<KeyPair> Make(const std::string& folder, const std::string& party,
                             const IssueOptions& options) {
  BANDANA_ASSIGN_OR_RETURN(const KeyPair authority, OpenAuthority(folder));
  BANDANA_ASSIGN_OR_RETURN(std::string deployment, DeploymentIn({authority.certificate}, folder));
  const Validity validity{.not_before = options.now - kClocksMayDiffer,
                          .not_after = options.now + options.days * kDay};
  if (validity.not_after > authority.certificate.not_after()) {
    return InvalidOption("days", absl::StrCat(options.days),
                         fmt::format("an end before that of the CA, which is valid until {}",
                                     TimeText(authority.certificate.not_after())));
  }
  KeyPair pair = MakePair(authority, {.deployment = std::move(deployment), .party = party}, validity);
  BANDANA_RETURN_IF_ERROR(MakeFolder(PathIn(folder, kIssued)));
  BANDANA_RETURN_IF_ERROR(WriteNewFile(PathIn(PathIn(folder, kIssued), pair.certificate.serial() + ".pem"),
                                       pair.certificate.pem(), Secrecy::kPublic));
  return pair;
}

// Makes the identity of a party, unless `target` has it.
absl::Status ProvideIdentity(const std::string& folder, const std::string& target, const std::string& name) {
  const std::string path = PathIn(target, name + ".identity");
  const std::string known = PathIn(folder, name + ".identity.pub");
  absl::StatusOr<store::IdentityKey> identity = store::IdentityKey::Open(path);
  if (absl::IsNotFound(identity.status())) {
    if (std::filesystem::exists(known)) {
      return FileError(
          absl::StatusCode::kAlreadyExists, known,
          fmt::format("this party has an identity, whose private half should be {}. Copy it there; "
                      "if it is lost or stolen, move {} away",
                      path, known));
    }
    const std::string temporary = path + ".new";
    unlink(temporary.c_str());
    identity = store::IdentityKey::Create(temporary);
    if (identity.ok()) BANDANA_RETURN_IF_ERROR(GiveNewName(temporary, path));
  }
  if (!identity.ok()) return identity.status();
  const std::string pem = identity->public_key().pem();
  for (const std::string& where : {folder, target}) {
    const std::string public_path = PathIn(where, name + ".identity.pub");
    const absl::StatusOr<std::string> there = ReadWhole(public_path);
    if (absl::IsNotFound(there.status())) {
      BANDANA_RETURN_IF_ERROR(WriteNewFile(public_path, pem, Secrecy::kPublic));
    } else if (!there.ok()) {
      return there.status();
    } else if (*there != pem) {
      return FileError(absl::StatusCode::kAlreadyExists, public_path,
                       fmt::format("this is not the public half of {}; move one of them away", path));
    }
  }
  return absl::OkStatus();
}

// Brings a folder that is carried to another machine up to date with the CA's.
absl::Status CopyShared(const std::string& folder, const std::string& target) {
  for (const char* name : {kAuthority, kRevoked}) {
    BANDANA_ASSIGN_OR_RETURN(const std::string text, ReadWhole(PathIn(folder, name)));
    BANDANA_RETURN_IF_ERROR(WriteOverFile(PathIn(target, name), text, Secrecy::kPublic));
  }
  return absl::OkStatus();
}

// Fails if `target` is a folder of another deployment, whose CA must not be replaced.
absl::Status CheckTarget(const std::string& folder, const std::string& target) {
  if (std::filesystem::exists(PathIn(target, kAuthorityKey))) {
    return FileError(absl::StatusCode::kAlreadyExists, target,
                     "this is the folder of a CA, and the files of a party are to be carried away from it");
  }
  if (!std::filesystem::exists(PathIn(target, kAuthority))) return absl::OkStatus();
  BANDANA_ASSIGN_OR_RETURN(const std::string theirs, DeploymentOf(target));
  BANDANA_ASSIGN_OR_RETURN(const std::string ours, DeploymentOf(folder));
  if (theirs == ours) return absl::OkStatus();
  return FileError(
      absl::StatusCode::kAlreadyExists, target,
      fmt::format("this folder has keys of the deployment {}, and the CA is that of {}", theirs, ours));
}

absl::Status CheckIssue(const std::string& party, const IssueOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckPartyName(party));
  constexpr int kMostDays = 3650;
  if (options.days >= 1 && options.days <= kMostDays) return absl::OkStatus();
  return InvalidOption("days", absl::StrCat(options.days),
                       fmt::format("a whole number from 1 to {}", kMostDays));
}

// Makes the text that an application shows to the server, unless `target` has one.
absl::Status ProvideApplicationKey(const std::string& target) {
  const std::string path = PathIn(target, "application.key");
  if (std::filesystem::exists(path)) return absl::OkStatus();
  const store::Key key = store::RandomKey();
  const std::string text = absl::BytesToHexString(std::string(key.begin(), key.end()));
  return WriteNewFile(path, text + "\n", Secrecy::kPrivate);
}

}  // namespace

absl::StatusOr<std::string> MakeDeployment(const std::string& folder, const DeploymentOptions& options) {
  std::string deployment = options.deployment;
  if (deployment.empty()) {
    std::array<unsigned char, 16> bytes{};
    BANDANA_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
    deployment = store::RunName(std::string(bytes.begin(), bytes.end()));
  }
  if (!IsDeployment(deployment)) {
    return InvalidOption("deployment", deployment, "32 digits 0-9a-f, which name the deployment");
  }
  BANDANA_RETURN_IF_ERROR(MakeFolder(folder));
  BANDANA_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  for (const char* name : {kAuthority, kAuthorityKey, kRevoked}) {
    if (!std::filesystem::exists(PathIn(folder, name))) continue;
    return FileError(absl::StatusCode::kAlreadyExists, PathIn(folder, name),
                     "the file is there already, and nothing is overwritten; choose another folder");
  }
  const KeyPair authority = MakeAuthority(deployment, {.not_before = options.now - kClocksMayDiffer,
                                                       .not_after = options.now + kDaysOfAuthority * kDay});
  BANDANA_RETURN_IF_ERROR(
      WriteNewFile(PathIn(folder, kAuthorityKey), authority.key_pem(), Secrecy::kPrivate));
  BANDANA_RETURN_IF_ERROR(WriteNewFile(PathIn(folder, kRevoked), "", Secrecy::kPublic));
  BANDANA_RETURN_IF_ERROR(
      WriteNewFile(PathIn(folder, kAuthority), authority.certificate.pem(), Secrecy::kPublic));
  return deployment;
}

absl::StatusOr<IssuedCertificate> Issue(const std::string& folder, const std::string& party,
                                        const IssueOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckIssue(party, options));
  BANDANA_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> issued, Show(folder));
  for (const IssuedCertificate& each : issued) {
    if (each.party != party || !IsValid(each, options.now)) continue;
    return FileError(
        absl::StatusCode::kAlreadyExists, folder,
        fmt::format("{} has a certificate, which is valid until {}; replace it with: bandana keys "
                    "rotate {}, or revoke it first",
                    party, TimeText(each.not_after), party));
  }
  const std::string& target = options.out.empty() ? folder : options.out;
  const std::string name = FileNameOf(party);
  if (!options.out.empty()) {
    BANDANA_RETURN_IF_ERROR(MakeFolder(target));
    BANDANA_RETURN_IF_ERROR(CheckTarget(folder, target));
  }
  for (const char* ending : {".pem", ".key"}) {
    const std::string path = PathIn(target, name + ending);
    if (!std::filesystem::exists(path)) continue;
    return FileError(
        absl::StatusCode::kAlreadyExists, path,
        "the file is there already, and nothing is overwritten; move it away, or replace it with: "
        "bandana keys rotate " +
            party);
  }
  BANDANA_RETURN_IF_ERROR(ProvideIdentity(folder, target, name));
  if (party == kServerName) BANDANA_RETURN_IF_ERROR(ProvideApplicationKey(target));
  BANDANA_ASSIGN_OR_RETURN(const KeyPair pair, Make(folder, party, options));
  BANDANA_RETURN_IF_ERROR(WriteNewFile(PathIn(target, name + ".key"), pair.key_pem(), Secrecy::kPrivate));
  BANDANA_RETURN_IF_ERROR(
      WriteNewFile(PathIn(target, name + ".pem"), pair.certificate.pem(), Secrecy::kPublic));
  if (!options.out.empty()) BANDANA_RETURN_IF_ERROR(CopyShared(folder, target));
  return Summary(pair.certificate, {});
}

absl::StatusOr<IssuedCertificate> Rotate(const std::string& folder, const std::string& party,
                                         const IssueOptions& options) {
  BANDANA_RETURN_IF_ERROR(CheckIssue(party, options));
  BANDANA_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> issued, Show(folder));
  const bool known = std::any_of(issued.begin(), issued.end(),
                                 [&](const IssuedCertificate& each) { return each.party == party; });
  if (!known) {
    return FileError(
        absl::StatusCode::kNotFound, folder,
        fmt::format("{} has no certificate yet; make one with: bandana keys issue {}", party, party));
  }
  const std::string& target = options.out.empty() ? folder : options.out;
  const std::string name = FileNameOf(party);
  if (options.out.empty() && !std::filesystem::exists(PathIn(folder, name + ".key"))) {
    return FileError(
        absl::StatusCode::kNotFound, PathIn(folder, name + ".key"),
        "the key of this party was carried to its machine; name the folder for the new one with --out");
  }
  if (!options.out.empty()) {
    BANDANA_RETURN_IF_ERROR(MakeFolder(target));
    BANDANA_RETURN_IF_ERROR(CheckTarget(folder, target));
  }
  BANDANA_ASSIGN_OR_RETURN(const KeyPair pair, Make(folder, party, options));
  // Between these two a reader may see a key and a certificate that differ. Readers then try again.
  BANDANA_RETURN_IF_ERROR(WriteOverFile(PathIn(target, name + ".key"), pair.key_pem(), Secrecy::kPrivate));
  BANDANA_RETURN_IF_ERROR(
      WriteOverFile(PathIn(target, name + ".pem"), pair.certificate.pem(), Secrecy::kPublic));
  if (!options.out.empty()) BANDANA_RETURN_IF_ERROR(CopyShared(folder, target));
  return Summary(pair.certificate, {});
}

absl::StatusOr<std::vector<IssuedCertificate>> Revoke(const std::string& folder,
                                                      const std::string& party_or_serial) {
  const std::optional<std::string> serial = ParseSerial(party_or_serial);
  if (!IsParty(party_or_serial) && !serial) {
    return InvalidOption(
        "party", party_or_serial,
        fmt::format("{}; or the serial of a certificate, as bandana keys show prints it", kPartyNames));
  }
  BANDANA_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  BANDANA_ASSIGN_OR_RETURN(const std::vector<IssuedCertificate> issued, Show(folder));
  BANDANA_ASSIGN_OR_RETURN(std::string list, ReadWhole(PathIn(folder, kRevoked)));
  if (!list.empty() && list.back() != '\n') list += '\n';
  std::vector<IssuedCertificate> added;
  bool known = false;
  for (IssuedCertificate each : issued) {
    if (each.party != party_or_serial && each.serial != serial) continue;
    known = true;
    if (each.revoked) continue;
    each.revoked = true;
    list += fmt::format("{}  # {}, {}\n", each.serial, each.party, TimeText(absl::Now()));
    added.push_back(std::move(each));
  }
  if (!known) {
    return FileError(
        absl::StatusCode::kNotFound, folder,
        fmt::format("no certificate of {} was issued here; see: bandana keys show", party_or_serial));
  }
  if (!added.empty()) {
    BANDANA_RETURN_IF_ERROR(WriteOverFile(PathIn(folder, kRevoked), list, Secrecy::kPublic));
  }
  return added;
}

absl::StatusOr<std::vector<IssuedCertificate>> Show(const std::string& folder) {
  BANDANA_ASSIGN_OR_RETURN(const RevokedSerials revoked, ReadRevokedIn(folder));
  std::map<std::string, Certificate> found;
  BANDANA_RETURN_IF_ERROR(Collect(PathIn(folder, kIssued), found));
  BANDANA_RETURN_IF_ERROR(Collect(folder, found));
  std::vector<IssuedCertificate> issued;
  for (const auto& [serial, certificate] : found) issued.push_back(Summary(certificate, revoked));
  std::sort(issued.begin(), issued.end(), ComesBefore);
  return issued;
}

absl::StatusOr<std::string> DeploymentOf(const std::string& folder) {
  BANDANA_ASSIGN_OR_RETURN(const Authorities authorities, Authorities::Open(PathIn(folder, kAuthority)));
  return DeploymentIn(authorities.certificates(), folder);
}

}  // namespace bandana::service
