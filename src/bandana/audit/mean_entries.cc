#include "bandana/audit/catalog.h"
#include "bandana/audit/mean_target.h"
#include "bandana/privacy/mean_privatizers.h"

namespace bandana::audit {
namespace {

constexpr std::int64_t kDraws = 200'000;
constexpr DpGuarantee kOfP1{10, 0.1};  // the setting of P1's experiments, for which its formula fails

// The adversary sees the sum of `clients` clients. If each report is protected by itself, there is one
// client.
template <class P>
auto Gaussian(Calibration calibration, Count clients) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(P privatizer, P::Create({nominal, calibration, Sampler::kExact}));
    return MeanTarget(name, std::move(privatizer), AuditQuery(clients), NoiseShape::kSpherical);
  };
}

template <class P>
auto Laplace(Calibration calibration, Count clients) {
  return [=](const std::string& name, DpGuarantee nominal) -> absl::StatusOr<Target> {
    BANDANA_ASSIGN_OR_RETURN(P privatizer, P::Create({nominal.epsilon, calibration, Sampler::kExact}));
    return MeanTarget(name, std::move(privatizer), AuditQuery(clients), NoiseShape::kLaplace);
  };
}

absl::StatusOr<Target> None(const std::string& name, DpGuarantee) {
  return MeanTarget(name, NoPrivacyMean(Declassify("the audit measures what no noise gives away")),
                    AuditQuery(3), NoiseShape::kUnknown);
}

}  // namespace

std::vector<Entry> MeanEntries() {
  constexpr Calibration kTight = Calibration::kTight;
  constexpr Calibration kPaper = Calibration::kPaper;
  return {
      {"none", "averages with no noise: what an audit without a claim looks like", kSharp, kDraws, None},
      {"central-gaussian", "a trusted server's Gaussian noise", kSharp, kDraws,
       Gaussian<CentralGaussianMean>(kTight, 3)},
      {"central-gaussian-paper",
       "central-gaussian with P1's formula, compared with the guarantee that it delivers", kOfP1, kDraws,
       Gaussian<CentralGaussianMean>(kPaper, 3)},
      {"central-laplace", "a trusted server's Laplace noise", kPure, kDraws,
       Laplace<CentralLaplaceMean>(kTight, 3)},
      {"central-laplace-paper",
       "central-laplace with P2's formula, compared with the guarantee that it delivers", kPure, kDraws,
       Laplace<CentralLaplaceMean>(kPaper, 3)},
      {"local-gaussian", "a client's own Gaussian noise; the adversary reads its report", kSharp, kDraws,
       Gaussian<LocalGaussianMean>(kTight, 1)},
      {"local-gaussian-paper",
       "local-gaussian with P1's formula, compared with the guarantee that it delivers", kOfP1, kDraws,
       Gaussian<LocalGaussianMean>(kPaper, 1)},
      {"local-laplace", "a client's own Laplace noise; the adversary reads its report", kPure, kDraws,
       Laplace<LocalLaplaceMean>(kTight, 1)},
      {"local-laplace-paper", "local-laplace with P2's formula, compared with the guarantee that it delivers",
       kPure, kDraws, Laplace<LocalLaplaceMean>(kPaper, 1)},
  };
}

}  // namespace bandana::audit
