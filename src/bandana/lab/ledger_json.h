#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bandana/lab/summary.h"
#include "bandana/privacy/ledger/reader.h"

/// The JSON of `bandana ledger` and of bandana.Ledger in Python. Draws are not in it: only roles may see
/// them.
namespace bandana::lab {

/// Returns what is left of a budget, rounded down.
Loss LeftOf(const Loss& budget, const Loss& spent);

Json ToJson(const Loss& loss, Measure measure);
Json ToJson(const LedgerHead& head);
Json HeaderJson(const Dated<LedgerHeader>& header);
Json ChargeJson(const Dated<LedgerEntry>& entry, Measure measure, std::string_view hash);
Json LedgerAccountJson(NodeId client, const Accounts& accounts);

/// Returns sentences on a ledger that is being written, or whose writer crashed.
std::vector<std::string> LedgerNotes(const LedgerState& state);

/// Returns the whole ledger: its header, its charges with their hashes, its accounts and its head.
Json LedgerJson(const LedgerState& state, const std::vector<Dated<LedgerEntry>>& entries,
                const std::vector<std::string>& hashes);

}  // namespace bandana::lab
