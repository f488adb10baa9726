#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "bandana/bandit/auto_lending.h"
#include "fmt/format.h"

namespace bandana::test {

/// Writes a file that ReadAutoLending reads back unchanged.
inline void WriteAutoLending(const std::string& path, const std::vector<Loan>& loans,
                             const AutoLendingColumns& columns = {}) {
  std::ofstream out(path, std::ios::binary);
  out << fmt::format("{},{},{},{},{},{},{},{}\n", columns.fico, columns.one_month, columns.term,
                     columns.amount, columns.competitor_rate, columns.monthly_payment, columns.car_type,
                     columns.apply);
  for (const Loan& loan : loans) {
    out << fmt::format("{},{},{},{},{},{},{},{}\n", loan.fico, loan.one_month, loan.term, loan.amount,
                       loan.competitor_rate, loan.monthly_payment,
                       columns.car_types[static_cast<std::size_t>(loan.car)], loan.apply ? 1 : 0);
  }
}

}  // namespace bandana::test
