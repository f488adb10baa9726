// A policy may do all of this: carry raw data to its randomizer, carry reports, learn from released values.
#include "bandana/privacy/mean_privatizers.h"

bandana::Report Carry(bandana::Report report) { return report; }
double Learn(const bandana::Released<bandana::Mean>& mean) {
  return mean.value().entries[0] + mean.noise_stddev();
}
absl::StatusOr<bandana::Report> Randomize(const bandana::LocalGaussianMean& mechanism,
                                          const bandana::MeanQuery& query,
                                          const bandana::Raw<bandana::RewardSums>& rewards,
                                          bandana::NoiseGen& noise) {
  return mechanism.Randomize(query, rewards, noise);
}
