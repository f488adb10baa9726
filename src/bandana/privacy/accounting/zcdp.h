#pragma once

/// Zero-concentrated differential privacy (zCDP): the Renyi divergence of every order alpha > 1 is at most
/// alpha rho. M. Bun and T. Steinke, TCC 2016. The rho of a composition is the sum. The Gaussian mechanism
/// and the discrete Gaussian (C. Canonne, G. Kamath and T. Steinke 2020, Theorem 14) have rho = 1/(2 m^2) at
/// noise multiplier m; an epsilon-DP release has rho = epsilon^2/2. Proof: docs/proofs/accounting.md.
namespace bandana {

/// Return an upper bound on the least delta, or the least epsilon, that the conversion at the best order
/// gives (Canonne, Kamath and Steinke 2020, Corollary 13). rho >= 0; epsilon is infinite at delta = 0 unless
/// rho is 0.
double ZcdpDelta(double epsilon, double rho);
double ZcdpEpsilon(double delta, double rho);

}  // namespace bandana
