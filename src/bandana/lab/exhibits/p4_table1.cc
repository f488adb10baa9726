#include <algorithm>
#include <cmath>
#include <functional>

#include "Eigen/Eigenvalues"
#include "bandana/lab/exhibits/exhibits.h"
#include "bandana/lab/exhibits/p4_points.h"
#include "fmt/format.h"

/// P4, Table I: the cost of GIS on typical graphs. Section V: GIS compared with flooding and gossip.
namespace bandana::lab {
namespace {

using namespace p4;  // NOLINT(google-build-using-namespace)

constexpr char kTable[] = "p4 Table I";
constexpr char kSection[] = "p4 Section V";

const std::vector<const char*>& Graphs() {
  static const std::vector<const char*> graphs = {"star", "ring", "complete", "regular"};
  return graphs;
}

Where On(const std::string& topology, const std::string& protocol = "gis") {
  return {{"algorithm.name", "ddp-mab"}, {"federation.topology", topology}, {"algorithm.protocol", protocol}};
}

absl::StatusOr<double> AgentsOf(const Findings& findings, const Where& where) {
  BANDANA_ASSIGN_OR_RETURN(const Json* point, findings.ThePoint(where));
  return (*point)["network"]["nodes"].get<double>();
}

// Claims that the counted links per communication round equal a formula of M.
PaperClaim Costs(const char* topology, const char* words, const std::function<double(double)>& formula) {
  return {fmt::format("{}: {} links per round, counted", topology, words), kTable, true, "",
          [=](const Findings& findings) -> absl::StatusOr<Finding> {
            BANDANA_ASSIGN_OR_RETURN(const double agents, AgentsOf(findings, On(topology)));
            BANDANA_ASSIGN_OR_RETURN(const Sample links, PerRound(findings, On(topology), "links_peer"));
            return IsExactly({topology, links}, formula(agents));
          }};
}

struct Spectrum {
  double links = 0;  // per communication round, counted
  double agents = 0;
  double degree = 0;
  double laplacian = 0;  // the second largest eigenvalue of the Laplacian, as printed
  double walk = 0;       // the second largest modulus of an eigenvalue of A/d
};

absl::StatusOr<Spectrum> SpectrumOfRegular(const Findings& findings) {
  BANDANA_ASSIGN_OR_RETURN(const Json* point, findings.ThePoint(On("regular")));
  BANDANA_ASSIGN_OR_RETURN(const Sample links, PerRound(findings, On("regular"), "links_peer"));
  const Json& network = (*point)["network"];
  const auto nodes = network["nodes"].get<Eigen::Index>();
  Eigen::MatrixXd adjacency = Eigen::MatrixXd::Zero(nodes, nodes);
  for (const Json& edge : network["edges"]) {
    const auto a = edge[0].get<Eigen::Index>() - 1;
    const auto b = edge[1].get<Eigen::Index>() - 1;
    adjacency(a, b) = adjacency(b, a) = 1;
  }
  Spectrum spectrum{
      .links = MeanOf(links).value, .agents = static_cast<double>(nodes), .degree = adjacency.row(0).sum()};
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(adjacency).eigenvalues();
  spectrum.walk = std::max(std::abs(values(0)), std::abs(values(nodes - 2))) / spectrum.degree;
  spectrum.laplacian = spectrum.degree - values(1);
  return spectrum;
}

absl::StatusOr<Finding> RegularCosts(const Findings& findings, double Spectrum::* eigenvalue) {
  BANDANA_ASSIGN_OR_RETURN(const Spectrum spectrum, SpectrumOfRegular(findings));
  const double value = spectrum.*eigenvalue;
  const double formula =
      spectrum.degree * spectrum.agents / 2 * std::log(spectrum.agents) / std::log(1 / value);
  return Finding{
      spectrum.links <= formula,
      fmt::format("d = {}, eigenvalue {:.3g}: {:.0f} links per round, at most {:.0f} by the formula",
                  spectrum.degree, value, spectrum.links, formula)};
}

absl::StatusOr<Finding> TakesTheDiameter(const Findings& findings) {
  return ForEach(Graphs(), [&](const char* topology) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const Sample slots, PerRound(findings, On(topology), "slots"));
    BANDANA_ASSIGN_OR_RETURN(const Sample waits, PerRound(findings, On(topology), "waiting_pulls"));
    const Finding same = IsExactly({fmt::format("{}: slots", topology), slots}, slots.front());
    const Finding less = IsExactly({"waiting pulls", waits}, slots.front() - 1);
    return Both(same, less);
  });
}

absl::StatusOr<Finding> WaitingIsBounded(const Findings& findings) {
  return ForEach(Graphs(), [&](const char* topology) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const double agents, AgentsOf(findings, On(topology)));
    BANDANA_ASSIGN_OR_RETURN(const Sample slots, PerRound(findings, On(topology), "slots"));
    BANDANA_ASSIGN_OR_RETURN(const Sample lost, findings.Final(On(topology), kWaitingRegret));
    const double bound = 2 * agents * (slots.front() - 1);
    return Finding{MeanOf(lost).value <= bound,
                   fmt::format("{}: {} of {} allowed", topology, Figure(MeanOf(lost)), Figure(bound))};
  });
}

using Judge = std::function<Finding(const NamedSample& gis, const NamedSample& other)>;

// Compares GIS with another protocol on every graph.
absl::StatusOr<Finding> AgainstGis(const Findings& findings, const char* other, const char* metric,
                                   const Judge& judge) {
  return ForEach(Graphs(), [&](const char* topology) -> absl::StatusOr<Finding> {
    BANDANA_ASSIGN_OR_RETURN(const NamedSample gis,
                             NamedFinal(findings, fmt::format("{}: GIS", topology), On(topology), metric));
    BANDANA_ASSIGN_OR_RETURN(const NamedSample against,
                             NamedFinal(findings, other, On(topology, other), metric));
    return Finding{judge(gis, against).holds,
                   fmt::format("{} {}, {} {}", gis.name, Figure(MeanOf(gis.sample).value), against.name,
                               Figure(MeanOf(against.sample).value))};
  });
}

absl::StatusOr<Finding> SendsLeast(const Findings& findings) {
  const Judge nowhere_above = [](const NamedSample& a, const NamedSample& b) {
    return Finding{MeanOf(a.sample).value <= MeanOf(b.sample).value, ""};
  };
  BANDANA_ASSIGN_OR_RETURN(const Finding flooding,
                           AgainstGis(findings, "flooding", "communication_reals", nowhere_above));
  BANDANA_ASSIGN_OR_RETURN(const Finding gossip,
                           AgainstGis(findings, "gossip", "communication_reals", nowhere_above));
  return Both(flooding, gossip);
}

}  // namespace

std::vector<PaperClaim> P4Table1Claims() {
  return {
      Costs("star", "2(M - 1)", [](double m) { return 2 * (m - 1); }),
      Costs("ring", "M^2/2", [](double m) { return m * m / 2; }),
      Costs("complete", "M(M - 1)/2", [](double m) { return m * (m - 1) / 2; }),
      {"regular: at most d M log M/(2 log(1/lambda_2)) links per round, lambda_2 the Laplacian's", kTable,
       false,
       "the Laplacian's second largest eigenvalue is above 1, so that the logarithm is negative; an "
       "eigenvalue "
       "of A/d is meant",
       [](const Findings& findings) { return RegularCosts(findings, &Spectrum::laplacian); }},
      {"beyond the paper: the same with lambda_2 the second largest modulus of an eigenvalue of A/d", kTable,
       true, "", [](const Findings& findings) { return RegularCosts(findings, &Spectrum::walk); }},
      {"a round takes d_G slots, of which d_G - 1 are waiting pulls, in every run", "p4 Theorem 3", true, "",
       TakesTheDiameter},
      {"waiting costs at most 2 M (d_G - 1) in all, and nothing on the complete graph", kTable, true, "",
       WaitingIsBounded},
      {"GIS sends nothing twice: on every graph the fewest numbers", kSection, true, "", SendsLeast},
      {"flooding is as fast: as many slots as GIS", kSection, true, "",
       [](const Findings& findings) {
         return AgainstGis(findings, "flooding", "slots", [](const NamedSample& a, const NamedSample& b) {
           return Finding{a.sample == b.sample, ""};
         });
       }},
      {"gossip is slow: more slots than GIS", kSection, true, "",
       [](const Findings& findings) {
         return AgainstGis(findings, "gossip", "slots",
                           [](const NamedSample& a, const NamedSample& b) { return Below(a, b); });
       }},
      {"beyond the paper: handshakes take messages, at least twice as many as flooding", kSection, true, "",
       [](const Findings& findings) {
         return AgainstGis(findings, "flooding", "messages", [](const NamedSample& a, const NamedSample& b) {
           return p4::AtLeastTimes(a, b, 2);
         });
       }},
  };
}

}  // namespace bandana::lab
