"""Bandits with differential privacy: experiments, policies, calibration and audits.

The functions and classes here are the command line's, with the same words and the same numbers.
"""

from bandana import _bandana
from bandana.errors import BudgetError, DataError, Error, InsecureSeedWarning, OutsideError, SpecError

__version__: str = _bandana.version

__all__ = ["BudgetError", "DataError", "Error", "InsecureSeedWarning", "OutsideError", "SpecError", "__version__"]
