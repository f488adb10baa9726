"""Writes bandana/policies.py from the registry's cards. script/stubs runs it."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

from bandana import _bandana

USER, ROUND, TICK = 3, 1, 2  # TimeModel, in bandit/world.h
WIDTH = 117

CLASSES = [
    ("LdpSgd", "ldp-sgd", USER),
    ("LdpOls", "ldp-ols", USER),
    ("LdpUcb", "ldp-ucb", USER),
    ("LdpGloc", "ldp-gloc", USER),
    ("LinUcb", "lin-ucb", USER),
    ("ThompsonSampling", "thompson-sampling", USER),
    ("PrivateLinUcb", "private-lin-ucb", ROUND),
    ("SingleMab", "single-mab", TICK),
    ("Ucb1", "ucb1", TICK),
    ("SuccessiveElimination", "successive-elimination", TICK),
]
BASES = {USER: "UserPolicy", ROUND: "SiloPolicy", TICK: "ArmPolicy"}

FACTS = {
    "arms": ("int", None, "The number of arms."),
    "dimension": ("int", None, "The dimension of a context."),
    "rewards": (
        "tuple[float, float]",
        None,
        "The interval of rewards. It is public, and rewards outside of it are clipped.",
    ),
    "horizon": ("int", None, "The number of rounds that the policy learns from at most."),
    "context_norm": ("float", "1.0", "No context is longer; longer ones are clipped."),
    "theta_norm": ("float", "1.0", "No theta is longer."),
    "link": (
        'Literal["identity", "logistic", "probit", "poisson"]',
        '"identity"',
        "How the mean reward depends on the inner product of context and theta.",
    ),
    "multi": ("bool", "False", "Whether every arm has a theta of its own, and a round one context."),
    "reward_proxy": (
        "float | None",
        "None",
        "The sub-Gaussian proxy of a reward given its mean. None: half of the length of `rewards`.",
    ),
}
SEED = (
    "None: noise and coins come from the operating system's entropy. A number: they are those of the lab's simulator "
    "with this seed, and no claim holds."
)
BUDGET = (
    "The epsilon and the delta that one user may spend in all, where updates name the user. None: one message's guarantee."
)
LEDGER = "A file in which charges outlive the process (docs/ledger.md). Every update must then name its user."
SAMPLER = '"exact" is proved for real computers. None: "exact", and "fast" with a seed.'


def quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def literal(words: list[str]) -> str:
    return "Literal[" + ", ".join(quoted(word) for word in words) + "]"


def typed(option: dict[str, Any]) -> tuple[str, str]:
    """Returns the type and the default of an option as Python text."""
    default = option["default"]
    words = [word for word, _ in option["words"]]
    if option["choice"]:
        kind = literal(words)
    elif isinstance(default, bool):
        kind = "bool"
    else:
        word = default if isinstance(default, str) else words[0] if words else None
        number = "int" if isinstance(default, int) or "whole number" in option["accepted"] else "float"
        kind = number if word is None else f"{number} | {literal([word])}"
    if option["required"]:
        return f"{kind} | None", "None"
    return kind, quoted(default) if isinstance(default, str) else repr(default)


def paragraph(name: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"{name}: {text}", WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 12, break_long_words=False
    )


def sentence_of(option: dict[str, Any]) -> str:
    text = str(option["sentence"])
    if text[-1:] not in ".?!":
        text += "."
    text += "".join(f" `{word}`: {meaning}" for word, meaning in option["words"])
    condition = str(option["condition"]).replace("in a world with parameters = multi", "with multi = True")
    if condition:
        text += f" It has an effect only {condition}."
    if not option["choice"]:
        text += f" Accepted: {option['accepted']}."
    return text.replace("\\", "\\\\")


def arguments(card: dict[str, Any], time: int) -> list[tuple[str, str, str | None, str]]:
    """Returns (name, type, default or None, text) of every argument of the constructor."""
    names = ["arms", "dimension", "rewards", "horizon"] if time != TICK else ["arms", "rewards", "horizon"]
    found: list[tuple[str, str, str | None, str]] = [(name, *FACTS[name]) for name in names]
    private = [model for model in card["models"] if model != "none"]
    if private:
        text = f'`{private[0]}`: as the claims say. `none`: no privacy.'
        found.append(("model", literal([*private, "none"]), quoted(private[0]), text))
    for option in card["privacy"]:
        kind, default = typed(option)
        if option["key"] == "sampler":
            found.append(("sampler", f"{kind} | None", "None", SAMPLER))
        elif option["key"] not in ("budgets", "colluding", "honest_fraction"):
            found.append((option["key"], kind, default, sentence_of(option)))
    more = {USER: ["context_norm", "theta_norm", "link", "multi", "reward_proxy"], ROUND: ["context_norm", "theta_norm"]}
    found += [(name, *FACTS[name]) for name in more.get(time, [])]
    found += [(o["key"], *typed(o), sentence_of(o)) for o in card["options"] if o["table"] == "algorithm"]
    found.append(("seed", "int | None", "None", SEED))
    if time == USER and private:
        found.append(("budget", "tuple[float, float] | None", "None", BUDGET))
        found.append(("ledger", "str | os.PathLike[str] | None", "None", LEDGER))
    return found


def names_text(names: list[str]) -> str:
    return "(" + "".join(quoted(name) + ", " for name in names).rstrip(" ").removesuffix("," if len(names) > 1 else "") + ")"


def example(name: str, time: int, private: bool) -> list[str]:
    given = {USER: "arms=3, dimension=2, rewards=(0, 1), horizon=1000", ROUND: "arms=3, dimension=2, rewards=(0, 1), horizon=1000"}
    text = given.get(time, "arms=3, rewards=(0, 1), horizon=1000")
    if private:
        text += ", epsilon=1.0"
    if name in ("LdpOls", "LdpUcb", "LdpGloc", "PrivateLinUcb"):
        text += ", delta=1e-6"
    lines = [f">>> policy = {name}({text})"]
    if time == TICK:
        return [*lines, ">>> policy.update(policy.select(), 1.0)", "True"]
    return [
        ">>> import numpy",
        *lines,
        ">>> contexts = numpy.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])",
        ">>> policy.update(contexts, policy.select(contexts), 1.0)",
        "True",
    ]


def write_class(name: str, algorithm: str, time: int) -> list[str]:
    card = _bandana.policy_card(algorithm, time)
    args = arguments(card, time)
    names = [arg[0] for arg in args]
    options = [o["key"] for o in card["options"] if o["table"] == "algorithm"]
    privacy = [o["key"] for o in card["privacy"] if o["key"] in names]
    lines = [f"class {name}({BASES[time]}):"]
    lines += textwrap.wrap(f'"""{card["sentence"]} {card["paper"]}.', WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4)
    lines += ["", "    Args:"]
    for arg, _, _, text in args:
        lines += paragraph(arg, text)
    lines += ["", "    Raises:", "        SpecError: at first use, if a value is not accepted."]
    lines += ["", *(" " * 4 + line for line in example(name, time, len(card["models"]) > 1)), '    """', ""]
    lines += [f"    _algorithm = {quoted(algorithm)}", f"    _time = {time}"]
    lines += [f"    _models = {names_text(card['models'])}"]
    lines += [f"    _options = {names_text(options)}", f"    _privacy = {names_text(privacy)}", ""]
    lines += ["    def __init__(", "        self,", "        *,"]
    required = [arg for arg in args if arg[2] is None]
    for arg, kind, default, _ in required + [arg for arg in args if arg[2] is not None]:
        lines.append(f"        {arg}: {kind}" + (f" = {default}," if default is not None else ","))
    lines += ["    ) -> None:"]
    lines += [f"        self.{arg} = {arg}" for arg in names]
    return lines


def main(path: str) -> None:
    lines = [
        '"""Policies for a program of one\'s own: ask for an arm, play it, tell what came of it.',
        "",
        "script/stubs writes this file from the registry: do not edit it.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "import os",
        "from typing import Literal",
        "",
        "from bandana._policy import ArmPolicy, ContextPolicy, Policy, PolicyStatement, SiloPolicy, Token, UserPolicy",
        "",
        "__all__ = [",
    ]
    everything = ["ArmPolicy", "ContextPolicy", "Policy", "PolicyStatement", "SiloPolicy", "Token", "UserPolicy"]
    everything += [name for name, _, _ in CLASSES]
    lines += [f"    {quoted(name)}," for name in sorted(everything)]
    lines.append("]")
    for entry in CLASSES:
        lines += ["", "", *write_class(*entry)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
