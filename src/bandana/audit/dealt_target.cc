#include "bandana/audit/dealt_target.h"

#include "bandana/core/check.h"
#include "bandana/core/distributions.h"

namespace bandana::audit {
namespace {

// Removes the clients' ids as a shuffler does. A shuffler also refuses reports that were made for more
// clients than it mixes. This function does not, so that the audit can show why it should.
absl::StatusOr<std::vector<Report>> MixAnyway(const ShuffledLaplaceMean& privatizer, const MeanQuery& query,
                                              std::vector<Report> reports) {
  std::uint32_t client = 0;
  for (Report& report : reports) {
    report = Wire::FromUnits(NodeId{++client}, Wire::Units(report), report.bits(), 0, {}, report.part());
  }
  return privatizer.Mix(query, std::move(reports));
}

}  // namespace

MeanQuery AuditDeal(std::vector<Count> dealt) {
  MeanQuery query = AuditQuery(0);
  for (const Count each : dealt) query.clients += each;
  query.dealt = std::move(dealt);
  BANDANA_CHECK(query.dealt.size() == query.bounds.size());
  return query;
}

double EndOf(const MeanQuery& query, int part, Neighbour neighbour) {
  const Interval& bound = query.bounds[static_cast<std::size_t>(part)];
  return neighbour == Neighbour::kSecond ? bound.high : bound.low;
}

std::vector<DealtClient> DealtPopulation(const MeanQuery& query, int part, Neighbour neighbour,
                                         Others others) {
  std::vector<DealtClient> clients;
  for (int i = 0; i < static_cast<int>(query.dealt.size()); ++i) {
    for (Count j = 0; j < query.dealt[static_cast<std::size_t>(i)]; ++j) {
      const bool second = others == Others::kAtEither && clients.size() % 2 == 1;
      const bool changed = i == part && j == 0;
      const Neighbour at = second ? Neighbour::kSecond : Neighbour::kFirst;
      clients.push_back({i, EndOf(query, i, changed ? neighbour : at)});
    }
  }
  return clients;
}

std::vector<double> SumOf(const MeanQuery& query, const std::vector<DealtClient>& clients) {
  std::vector<double> sums(query.bounds.size());
  for (const DealtClient& client : clients) sums[static_cast<std::size_t>(client.part)] += client.reward;
  return sums;
}

Target ShuffledDealTarget(const std::string& name, const ShuffledLaplaceMean& privatizer,
                          const MeanQuery& query, const MeanQuery& made_for, Deal deal, Count colluding) {
  // By neighbour, then by the changed client's part.
  std::array<std::vector<std::vector<DealtClient>>, 2> populations;
  for (const Neighbour neighbour : {Neighbour::kFirst, Neighbour::kSecond}) {
    for (int part = 0; part < static_cast<int>(query.dealt.size()); ++part) {
      populations[neighbour == Neighbour::kSecond].push_back(
          DealtPopulation(query, part, neighbour, Others::kAtTheFirst));
    }
  }
  Target target{.name = name, .claim = DealtClaims(privatizer).front(), .dimension = 2};
  target.log_ratio = [](std::span<const double> view) { return view[0]; };
  target.draw = [=](Neighbour neighbour, NoiseGen& noise, std::span<double> view) -> absl::Status {
    BANDANA_ASSIGN_OR_RETURN(const double epsilon0, privatizer.LocalEpsilon(made_for.clients));
    std::size_t part = 0;
    if (deal == Deal::kSecret) {  // the part of a place drawn at random
      auto place = static_cast<Count>(UniformBelow(static_cast<std::uint64_t>(query.clients), noise));
      while (place >= query.dealt[part]) place -= query.dealt[part++];
    }
    const auto& clients = populations[neighbour == Neighbour::kSecond][part];
    BANDANA_ASSIGN_OR_RETURN(std::vector<Report> reports, PartsOf(privatizer, made_for, clients, noise));
    view[0] = view[1] = 0;
    const auto add = [&](const Report& report, double sign) {
      if (deal == Deal::kPublic && report.part() != 0) return;
      const double y = static_cast<double>(Wire::Units(report)[0]) * GridMean::kUnit;
      const double low = EndOf(query, report.part(), Neighbour::kFirst);
      const double high = EndOf(query, report.part(), Neighbour::kSecond);
      view[0] += sign * std::exp((std::abs(y - low) - std::abs(y - high)) / (high - low) * epsilon0);
      view[1] += sign * (y - low) / (high - low);
    };
    for (Count i = 0; i < colluding; ++i) add(reports[reports.size() - 1 - static_cast<std::size_t>(i)], -1);
    BANDANA_ASSIGN_OR_RETURN(const std::vector<Report> mixed,
                             MixAnyway(privatizer, query, std::move(reports)));
    for (const Report& report : mixed) add(report, 1);
    return absl::OkStatus();
  };
  return target;
}

}  // namespace bandana::audit
