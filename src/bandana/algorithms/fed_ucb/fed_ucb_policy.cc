#include "bandana/algorithms/fed_ucb/fed_ucb_policy.h"

#include <Eigen/Eigenvalues>
namespace bandana {

template <class Scalar>
absl::Status FedUcbPolicy<Scalar>::Learn(const RegressionSums& sums) {
  regularizer_ = width_->RegularizerFor(sums.gram_noise);
  const auto identity = Matrix::Identity(sums.gram.rows(), sums.gram.cols());
  Matrix shifted = sums.gram + regularizer_.shift * identity;
  double min_eigenvalue =
      Eigen::SelfAdjointEigenSolver<Matrix>(shifted, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (!(min_eigenvalue > 0)) {  // the noise is larger than its bound
    const double more = regularizer_.rho_min - min_eigenvalue;
    shifted += more * identity;
    regularizer_.shift += more;
    min_eigenvalue = regularizer_.rho_min;
    ++repairs_;
  }
  BANDANA_RETURN_IF_ERROR(regression_.Reset(shifted, sums.moments));
  released_log_det_ = regression_.log_det();
  noise_term_ = width_->NoiseTerm(sums.gram_noise, regularizer_, min_eigenvalue);
  UpdateIndex();
  return absl::OkStatus();
}

template class FedUcbPolicy<double>;
template class FedUcbPolicy<float>;

}  // namespace bandana
