#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bandana/privacy/chosen_arm.h"
#include "bandana/privacy/local_message.h"
#include "bandana/privacy/raw.h"
#include "bandana/privacy/released.h"
#include "bandana/privacy/report.h"

namespace bandana {

/// The only way into Raw, ChosenArm, Report, Sealed, Released and LocalMessage. Its friends are the complete
/// list of the classes that may open raw data or make a released value.
///
/// There is one exception, for saving alone: ChosenArm, Report, BasicReportSum, a silo's streams and Released
/// (not Raw) have a private State, which StateAccess in core/archive.h calls. A saved state is as raw as what
/// the role holds. Nothing may be decided by its content, and a silo's file must stay with the silo
/// (docs/saving.md).
class Access {
  friend class Mechanism;  // privacy/mechanism.h lists the mechanisms; each has a proof note
  friend class Release;    // draws and records releases, through a Context
  friend class Turn;       // chooses an arm for a person, by a policy that keeps nothing
  friend class PlayedArm;  // shows a driver the arm that it is to play for a person
  friend class Wire;       // converts reports to integers and back, for the drivers alone

  using Units = std::vector<std::int64_t>;

  template <class T>
  static const T& Open(const Raw<T>& raw) {
    return raw.value_;
  }
  static ArmId Arm(const ChosenArm& chosen) { return chosen.arm_; }
  static ArmId& Arm(ChosenArm& chosen) { return chosen.arm_; }
  static const std::vector<double>& Context(const ChosenArm& chosen) { return chosen.x_; }
  static std::vector<double>& Context(ChosenArm& chosen) { return chosen.x_; }
  static const Units& Open(const Report& report) { return report.units_; }
  static const Units& Open(const Sealed& sealed) { return sealed.units_; }
  static Report MakeReport(Units units) { return Report(std::move(units)); }
  static Sealed Seal(Units units) { return Sealed(std::move(units)); }
  static NodeId& Origin(Report& report) { return report.origin_; }
  static NodeId Origin(const Report& report) { return report.origin_; }
  static Count& Bits(Report& report) { return report.bits_; }
  static Count& Quorum(Report& report) { return report.quorum_; }
  static int& Part(Report& report) { return report.part_; }
  static Count& Clients(Report& report) { return report.clients_; }
  static std::string& Question(Report& report) { return report.question_; }

  template <class Query>
  static Query& QueryOf(BasicReportSum<Query>& sum) {
    return sum.query_;
  }
  template <class Query>
  static const Query& QueryOf(const BasicReportSum<Query>& sum) {
    return sum.query_;
  }
  template <class Query>
  static Units& Totals(BasicReportSum<Query>& sum) {
    return sum.units_;
  }
  template <class Query>
  static const Units& Totals(const BasicReportSum<Query>& sum) {
    return sum.units_;
  }
  template <class Query>
  static Count& Reports(BasicReportSum<Query>& sum) {
    return sum.reports_;
  }
  template <class Query>
  static Count& Quorum(BasicReportSum<Query>& sum) {
    return sum.quorum_;
  }
  template <class Query>
  static Count Quorum(const BasicReportSum<Query>& sum) {
    return sum.quorum_;
  }
  template <class Query>
  static std::vector<Count>& Answered(BasicReportSum<Query>& sum) {
    return sum.answered_;
  }
  template <class Query>
  static ClientSet& Origins(BasicReportSum<Query>& sum) {
    return sum.origins_;
  }
  template <class Query>
  static const ClientSet& Origins(const BasicReportSum<Query>& sum) {
    return sum.origins_;
  }

  template <class T>
  static Released<T> Mint(T value, std::vector<NoiseLaw> noise) {
    return Released<T>(std::move(value), std::move(noise));
  }
  static std::vector<double>& Entries(LocalMessage& message) { return message.entries_; }
};

}  // namespace bandana
