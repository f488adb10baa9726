#include "bandana/algorithms/fed_ucb_policy.h"

#include <Eigen/Eigenvalues>
#include <utility>

namespace bandana {

template <class Scalar>
absl::Status FedUcbPolicy<Scalar>::Learn(RegressionSums sums) {
  sums_ = std::move(sums);
  regularizer_ = width_->RegularizerFor(sums_.gram_noise);
  const auto identity = Matrix::Identity(sums_.gram.rows(), sums_.gram.cols());
  Matrix shifted = sums_.gram + regularizer_.shift * identity;
  min_eigenvalue_ = Eigen::SelfAdjointEigenSolver<Matrix>(shifted, Eigen::EigenvaluesOnly).eigenvalues()[0];
  if (!(min_eigenvalue_ > 0)) {  // the noise is larger than its bound
    const double more = regularizer_.rho_min - min_eigenvalue_;
    shifted += more * identity;
    regularizer_.shift += more;
    min_eigenvalue_ = regularizer_.rho_min;
    ++repairs_;
  }
  BANDANA_RETURN_IF_ERROR(regression_.Reset(shifted, sums_.moments));
  released_log_det_ = regression_.log_det();
  knows_ = true;
  stale_ = true;
  return absl::OkStatus();
}

template class FedUcbPolicy<double>;
template class FedUcbPolicy<float>;

}  // namespace bandana
