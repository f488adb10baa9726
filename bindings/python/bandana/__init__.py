"""Bandits with differential privacy: experiments, policies, calibration and audits.

The functions and classes here are the command line's, with the same words and the same numbers.

>>> import bandana
>>> result = bandana.run({"horizon": 1000, "environment": {"dimension": 3, "actions": 10},
...                       "algorithm": {"name": "lin-ucb"}, "privacy": {"model": "none"}})
"""

from bandana import _bandana, calibrate, policies
from bandana._accounting import Accountant, AccountProof, AccountReport, Ledger, Spent
from bandana._algorithms import Plan, SlotAlgorithm, Statistics, UserAlgorithm
from bandana._audit import Finding, Target, audit, audit_targets
from bandana._cards import Card, Cards, Exhibit, Option, algorithms, environments, exhibits, privatizers
from bandana._environments import Environment, Facts, RoundEnvironment, SlotEnvironment, UserEnvironment, option
from bandana._log import Log, ValueEstimate, obp
from bandana._privacy import Claim, Guarantee, Statement
from bandana._python_parts import load_plugin, register
from bandana._result import Curve, Metric, Point, Reproduction, Result, Verdict, load
from bandana._run import reproduce, run
from bandana._spec import Estimate, Spec, SpecPoint
from bandana.errors import BudgetError, DataError, Error, InsecureSeedWarning, OutsideError, SpecError

__version__: str = _bandana.version

__all__ = [
    "AccountProof",
    "AccountReport",
    "Accountant",
    "BudgetError",
    "Card",
    "Cards",
    "Claim",
    "Curve",
    "DataError",
    "Environment",
    "Error",
    "Estimate",
    "Exhibit",
    "Facts",
    "Finding",
    "Guarantee",
    "InsecureSeedWarning",
    "Ledger",
    "Log",
    "Metric",
    "Option",
    "OutsideError",
    "Plan",
    "Point",
    "Reproduction",
    "Result",
    "RoundEnvironment",
    "SlotAlgorithm",
    "SlotEnvironment",
    "Spec",
    "SpecError",
    "SpecPoint",
    "Spent",
    "Statement",
    "Statistics",
    "Target",
    "UserAlgorithm",
    "UserEnvironment",
    "ValueEstimate",
    "Verdict",
    "__version__",
    "algorithms",
    "audit",
    "audit_targets",
    "calibrate",
    "environments",
    "exhibits",
    "load",
    "load_plugin",
    "obp",
    "option",
    "policies",
    "privatizers",
    "register",
    "reproduce",
    "run",
]
