"""Bandits with differential privacy: experiments, policies, calibration and audits.

The functions and classes here are the command line's, with the same words and the same numbers.

>>> import bandana
>>> result = bandana.run({"horizon": 1000, "environment": {"dimension": 3, "actions": 10},
...                       "algorithm": {"name": "lin-ucb"}, "privacy": {"model": "none"}})
"""

import importlib

from bandana import _bandana

# typing.TYPE_CHECKING, without the import of typing. Type checkers take it for true.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from bandana import calibrate, policies
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
else:
    # Importing the package loads the extension alone. A module is imported when one of its names is used first: all
    # together take longer than the interpreter's start, and some need numpy, which takes longer still.
    _NAMES = {
        "_accounting": "Accountant AccountProof AccountReport Ledger Spent",
        "_algorithms": "Plan SlotAlgorithm Statistics UserAlgorithm",
        "_audit": "Finding Target audit audit_targets",
        "_cards": "Card Cards Exhibit Option algorithms environments exhibits privatizers",
        "_environments": "Environment Facts RoundEnvironment SlotEnvironment UserEnvironment option",
        "_log": "Log ValueEstimate obp",
        "_privacy": "Claim Guarantee Statement",
        "_python_parts": "load_plugin register",
        "_result": "Curve Metric Point Reproduction Result Verdict load",
        "_run": "reproduce run",
        "_spec": "Estimate Spec SpecPoint",
        "errors": "BudgetError DataError Error InsecureSeedWarning OutsideError SpecError",
    }
    _MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

    def __getattr__(name):
        if name in ("calibrate", "policies"):
            return importlib.import_module(f"bandana.{name}")
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        thing = globals()[name] = getattr(importlib.import_module(f"bandana.{_MODULE_OF[name]}"), name)
        return thing

    def __dir__():
        return sorted({*globals(), *__all__})


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
