#pragma once

#include <vector>

#include "bandana/lab/exhibits/claim.h"

/// The claims of the exhibits. Each exhibit has its own .cc file.
namespace bandana::lab {

std::vector<PaperClaim> P1Fig2aClaims();
std::vector<PaperClaim> P1Fig2bClaims();
std::vector<PaperClaim> P1Fig2cClaims();
std::vector<PaperClaim> P1Fig3Claims();
std::vector<PaperClaim> P1Table1Claims();
std::vector<PaperClaim> P1Table2Claims();
std::vector<PaperClaim> P2Fig2aClaims();
std::vector<PaperClaim> P2Fig2bClaims();
std::vector<PaperClaim> P2Table1Claims();
std::vector<PaperClaim> P2ContextClaims();
std::vector<PaperClaim> P3Fig1aClaims();
std::vector<PaperClaim> P3Fig1bClaims();
std::vector<PaperClaim> P3Fig1cClaims();
std::vector<PaperClaim> P3Fig2Claims();
std::vector<PaperClaim> P3P2pClaims();
std::vector<PaperClaim> P3LeakClaims();
std::vector<PaperClaim> P4Fig4Claims();
std::vector<PaperClaim> P4Fig5Claims();
std::vector<PaperClaim> P4Fig6Claims();
std::vector<PaperClaim> P4Fig7Claims();
std::vector<PaperClaim> P4Fig8Claims();
std::vector<PaperClaim> P4Fig10Claims();
std::vector<PaperClaim> P4Fig11Claims();
std::vector<PaperClaim> P4Fig12Claims();
std::vector<PaperClaim> P4Table1Claims();
std::vector<PaperClaim> P5Fig2Claims();
std::vector<PaperClaim> P5MarginClaims();
std::vector<PaperClaim> P5ReplayClaims();
std::vector<PaperClaim> P5TuningClaims();

}  // namespace bandana::lab
