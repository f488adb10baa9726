#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "bandana/core/options.h"
#include "bandana/core/status.h"
#include "bandana/privacy/calibration/sensitivity.h"
#include "bandana/privacy/declassify.h"
#include "bandana/privacy/local_record.h"
#include "bandana/privacy/mean_privatizers.h"
#include "bandana/privacy/noise_options.h"
#include "bandana/privacy/shuffle_means.h"

/// The privacy that a program asks for, as one struct for all algorithms.
namespace bandana {

/// Whom people trust with their data.
enum class TrustModel {
  kUnset,    ///< nothing was chosen, which is refused
  kNone,     ///< no privacy: data are used as they are
  kCentral,  ///< the server
  kLocal,    ///< nobody
  kShuffle,  ///< a shuffler between them and the server
  kSilo,     ///< each agent, with its own users' data
  kPeer,     ///< each peer, with its own users' data; there is no server
};

std::string NameOf(TrustModel model);

enum class NoiseKind { kGaussian, kLaplace };
enum class ShuffleKind {
  kSum,        ///< the shuffler adds up noisy bits
  kAmplified,  ///< the shuffler permutes reports with local noise
};

/// Epsilon, delta and the model have no usable default: a program must choose them.
struct Privacy {
  TrustModel model = TrustModel::kUnset;
  std::string none_because = {};  ///< why there is no privacy; wanted with kNone
  double epsilon = 0;             ///< of one unit: one client, one user, one record of a silo
  double delta = 0;
  /// The change of the data that claims hide. kAddRemove is refused: how many people take part is public,
  /// because plans, quorums and schedules depend on it.
  Neighbours neighbours = Neighbours::kReplaceOne;
  /// Silos: at most how many records one person has. Empty: it is not known, and the unit is one record.
  std::optional<Count> records_per_person = {};
  std::vector<double> budgets = {};  ///< silos: epsilons that the agents take in turn; empty: epsilon for all
  NoiseKind noise = NoiseKind::kGaussian;
  Calibration calibration = Calibration::kTight;
  Sampler sampler = Sampler::kExact;
  ShuffleKind shuffle = ShuffleKind::kSum;
  Transport transport = Transport::kBits;
  Count colluding = 1;         ///< shuffle: at most so many participants work with the adversary
  double honest_fraction = 1;  ///< shuffle: at least this share of the participants follow the protocol
  double quorum = 1;  ///< slots: the share of the answers that a phase needs which is enough at a deadline
  double loss = 0.1;  ///< shuffle: how much more noise than a trusted server's is accepted, to save bits
  OutOfRange out_of_range = OutOfRange::kClip;  ///< users: what a record outside its bounds becomes
  SlotBudget slots = SlotBudget::kFull;         ///< users: the share of epsilon in each arm's part

  bool is_private() const { return model != TrustModel::kNone; }
  DpGuarantee budget() const { return {epsilon, delta}; }
  Collusion collusion() const { return {colluding, honest_fraction}; }
};

/// Returns the options of a Privacy, in table "privacy". Defaults are those of the struct; only the lab
/// begins with another one, the fast sampler.
std::vector<Option> PrivacyOptions();

/// Fails unless the model is one of `accepted` and its budget is usable: epsilon is positive, and with kNone
/// there is a reason. Whether delta is needed is the mechanism's to check.
absl::Status CheckPrivacy(const Privacy& privacy, const std::vector<TrustModel>& accepted);

/// Returns the note that nobody has said how many records one person has; empty if somebody has.
std::optional<Note> UnknownRecords(const Privacy& privacy);

/// The reason for no privacy, as mechanisms without noise want it.
inline Declassify NoPrivacy() { return Declassify("the trust model is none"); }

/// The trust models of the mean mechanisms.
std::vector<TrustModel> MeanModels();

GaussianParams GaussianParamsOf(const Privacy& privacy);
LaplaceParams LaplaceParamsOf(const Privacy& privacy);
ShuffleSumMeanParams ShuffleSumParamsOf(const Privacy& privacy, Count most_clients);
ShuffledLaplaceMeanParams ShuffledLaplaceParamsOf(const Privacy& privacy, Count most_clients);

/// Calls `use` with the mean mechanism that the model asks for, and returns what it returns. `most_clients`
/// is how many clients there are at most.
template <class Use>
auto WithMeanPrivatizer(const Privacy& privacy, Count most_clients, Use use)
    -> decltype(use(std::declval<NoPrivacyMean>())) {
  const auto with = [&](auto privatizer) -> decltype(use(std::declval<NoPrivacyMean>())) {
    if (!privatizer.ok()) return privatizer.status();
    return use(*std::move(privatizer));
  };
  BANDANA_RETURN_IF_ERROR(CheckPrivacy(privacy, MeanModels()));
  switch (privacy.model) {
    case TrustModel::kShuffle:
      if (privacy.shuffle == ShuffleKind::kSum)
        return with(ShuffleSumMean::Create(ShuffleSumParamsOf(privacy, most_clients)));
      return with(ShuffledLaplaceMean::Create(ShuffledLaplaceParamsOf(privacy, most_clients)));
    case TrustModel::kCentral:
      if (privacy.noise == NoiseKind::kLaplace)
        return with(CentralLaplaceMean::Create(LaplaceParamsOf(privacy)));
      return with(CentralGaussianMean::Create(GaussianParamsOf(privacy)));
    case TrustModel::kLocal:
      if (privacy.noise == NoiseKind::kLaplace)
        return with(LocalLaplaceMean::Create(LaplaceParamsOf(privacy)));
      return with(LocalGaussianMean::Create(GaussianParamsOf(privacy)));
    case TrustModel::kNone:
      return use(NoPrivacyMean(NoPrivacy()));
    case TrustModel::kUnset:
    case TrustModel::kSilo:
    case TrustModel::kPeer:
      break;
  }
  return absl::InternalError("no mean mechanism has this trust model");
}

}  // namespace bandana
