"""The exceptions of bandana. Their messages are those of the command line."""

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of this package."""


class SpecError(Error, ValueError):
    """A value that is not accepted. The message says where it stands and what is accepted.

    Attributes:
        file: the file in which the value stands, or None.
        line: the line in that file, from 1, or None.
        key: the key or field, such as "privacy.epsilon", or None.
        value: the value that was given, or None.
        accepted: what is accepted, or None.
    """

    file: str | None = None
    line: int | None = None
    key: str | None = None
    value: str | None = None
    accepted: str | None = None

    @classmethod
    def _about(cls, key: str, value: str, message: str, accepted: str, *, file: str = "") -> SpecError:
        """Makes an error in the words of the command line."""
        text = (f"{file}: " if file else "") + (f"{key} = {value}: " if key and value else f"{key}: " if key else "")
        error = cls(f"{text}{message} (accepted: {accepted})")
        error.file, error.key, error.value, error.accepted = file or None, key or None, value or None, accepted
        return error


class BudgetError(Error):
    """A release would exceed a privacy budget. Nothing was released."""


class OutsideError(Error, OSError):
    """Something outside the process failed: a file, a store, the network."""


class DataError(Error):
    """A ledger or a saved policy is damaged, or was altered."""


class InsecureSeedWarning(UserWarning):
    """Noise is drawn from a seed. Whoever knows the seed can subtract it, so no claim holds."""
