#include "bandana/lab/ledger_json.h"

#include "bandana/privacy/sum_up.h"
#include "fmt/format.h"

namespace bandana::lab {

Loss LeftOf(const Loss& budget, const Loss& spent) {
  return {0.0 - SumUp(spent.amount, -budget.amount), 0.0 - SumUp(spent.delta, -budget.delta)};
}

Json ToJson(const Loss& loss, Measure measure) {
  return {{std::string(AmountOf(measure)), loss.amount}, {"delta", loss.delta}};
}

Json ToJson(const LedgerHead& head) { return {{"seq", head.seq}, {"hash", head.hash}}; }

Json HeaderJson(const Dated<LedgerHeader>& header) {
  const LedgerHeader& record = header.record;
  const Measure measure = record.limits.measure;
  Json claims = Json::array();
  for (const Claim& claim : record.claims) claims.push_back(ToJson(claim));
  return {{"deployment", record.deployment},
          {"configuration", record.configuration},
          {"claims", claims},
          {"void", record.void_reason.empty() ? Json(nullptr) : Json(record.void_reason)},
          {"began", header.time},
          {"measure", NameOf(measure)},
          {"budget", ToJson(record.limits.per_unit, measure)},
          {"deployment_budget",
           record.limits.deployment ? ToJson(*record.limits.deployment, measure) : Json(nullptr)}};
}

Json ChargeJson(const Dated<LedgerEntry>& entry, Measure measure, std::string_view hash) {
  const LedgerEntry& record = entry.record;
  return {{"seq", entry.seq},
          {"time", entry.time},
          {"run", record.run.empty() ? Json(nullptr) : Json(record.run)},
          {"node", record.key.node.value},
          {"epoch", record.key.epoch},
          {"guarantee", {{"epsilon", record.guarantee.epsilon}, {"delta", record.guarantee.delta}}},
          {"loss", ToJson(record.loss, measure)},
          {"clients", record.units.count()},
          {"units", record.units.ToText()},
          {"hash", hash}};
}

Json LedgerAccountJson(NodeId client, const Accounts& accounts) {
  const Accounts::Account account = accounts.Of(client);
  const Limits& limits = accounts.limits();
  return {{"client", client.value},
          {"releases", account.releases},
          {"spent", ToJson(account.spent, limits.measure)},
          {"left", ToJson(LeftOf(limits.per_unit, account.spent), limits.measure)}};
}

std::vector<std::string> LedgerNotes(const LedgerState& state) {
  std::vector<std::string> notes;
  if (state.accounts.all_spent()) {
    notes.emplace_back(
        "every budget counts as spent: a back-up was restored without the lines that were written after it");
  }
  if (state.torn_bytes > 0) {
    notes.push_back(
        fmt::format("the last {} bytes are an incomplete line. It is being written now, or its writer "
                    "stopped too early. Its release was not sent, and the next start removes the line",
                    state.torn_bytes));
  }
  if (state.written_head && state.written_head->seq < state.head.seq) {
    notes.push_back(
        fmt::format("the head file names line {}, which is not the last: charges are being written now, or "
                    "the writer crashed. The next start repairs the head file",
                    state.written_head->seq + 1));
  }
  if (!state.written_head && state.noted_seq && *state.noted_seq < state.head.seq) {
    notes.emplace_back(
        "there is no head file, so nobody can tell whether lines after the noted one were removed");
  }
  return notes;
}

Json LedgerJson(const LedgerState& state, const std::vector<Dated<LedgerEntry>>& entries,
                const std::vector<std::string>& hashes) {
  const Measure measure = state.accounts.limits().measure;
  Json json = HeaderJson(state.header);
  Json charges = Json::array();
  std::string all_spent;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].record.all_spent.empty()) {  // it is no charge
      all_spent = entries[i].record.all_spent;
      continue;
    }
    charges.push_back(ChargeJson(entries[i], measure, hashes[i]));
  }
  Json clients = Json::array();
  for (const auto& [client, account] : state.accounts.All()) {
    clients.push_back(LedgerAccountJson(client, state.accounts));
  }
  json["all_spent"] = all_spent.empty() ? Json(nullptr) : Json(all_spent);
  json["charges"] = std::move(charges);
  json["clients"] = std::move(clients);
  json["head"] = ToJson(state.head);
  return json;
}

}  // namespace bandana::lab
