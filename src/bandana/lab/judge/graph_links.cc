#include <algorithm>
#include <cmath>

#include "Eigen/Eigenvalues"
#include "absl/status/status.h"
#include "bandana/core/status.h"
#include "bandana/lab/judge/code_judges.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

struct Spectrum {
  double agents = 0;
  double degree = 0;
  double laplacian = 0;  // the second largest eigenvalue of the Laplacian, as printed
  double walk = 0;       // the second largest modulus of an eigenvalue of A/d
};

Spectrum SpectrumOf(const Json& network) {
  const auto nodes = network["nodes"].get<Eigen::Index>();
  Eigen::MatrixXd adjacency = Eigen::MatrixXd::Zero(nodes, nodes);
  for (const Json& edge : network["edges"]) {
    const auto a = edge[0].get<Eigen::Index>() - 1;
    const auto b = edge[1].get<Eigen::Index>() - 1;
    adjacency(a, b) = adjacency(b, a) = 1;
  }
  Spectrum spectrum{.agents = static_cast<double>(nodes), .degree = adjacency.row(0).sum()};
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(adjacency).eigenvalues();
  spectrum.walk = std::max(std::abs(values(0)), std::abs(values(nodes - 2))) / spectrum.degree;
  spectrum.laplacian = spectrum.degree - values(1);
  return spectrum;
}

absl::StatusOr<Finding> LinksBy(const Case& of, double Spectrum::* eigenvalue) {
  BANDANA_ASSIGN_OR_RETURN(const NamedLine counted, LineOf(*of.claim.of, of));
  BANDANA_ASSIGN_OR_RETURN(const MeasuredPoint* point,
                           of.findings.ThePoint(ChoiceOf(std::get<Series>(*of.claim.of), of)));
  const auto network = point->json->find("network");
  if (network == point->json->end()) return absl::NotFoundError("the run has no picture of the network");
  const Spectrum spectrum = SpectrumOf(*network);
  const Estimate links = MeanOf(counted.line.y.front());
  const double value = spectrum.*eigenvalue;
  const double formula =
      spectrum.degree * spectrum.agents / 2 * std::log(spectrum.agents) / std::log(1 / value);
  Finding finding{
      links.value <= formula,
      fmt::format("d = {}, eigenvalue {:.3g}: {:.0f} links per round, at most {:.0f} by the formula",
                  spectrum.degree, value, links.value, formula)};
  if (std::isfinite(links.se) && links.value > 0) {
    finding.resolves = Resolution{kClear * links.se / links.value};
  }
  return finding;
}

}  // namespace

absl::StatusOr<Finding> LinksByLaplacian(const Case& of) { return LinksBy(of, &Spectrum::laplacian); }
absl::StatusOr<Finding> LinksByWalk(const Case& of) { return LinksBy(of, &Spectrum::walk); }

}  // namespace bandana::lab
