#pragma once

/// Privacy: what is asked for (Privacy), what is promised (Claim), how much noise a guarantee needs
/// (calibration), what several releases promise together (accounting), and the record of what was spent (the
/// ledger).

#include "bandana/privacy/accounting/account.h"
#include "bandana/privacy/calibration/amplification.h"
#include "bandana/privacy/calibration/gaussian.h"
#include "bandana/privacy/calibration/l2_ball.h"
#include "bandana/privacy/calibration/laplace.h"
#include "bandana/privacy/calibration/prefix_sum.h"
#include "bandana/privacy/calibration/shuffle_sum.h"
#include "bandana/privacy/claim.h"
#include "bandana/privacy/guarantee.h"
#include "bandana/privacy/ledger/reader.h"
#include "bandana/privacy/privacy_options.h"
