"""Errors that carry a sentence for the person at the screen."""


class InputError(ValueError):
    """Bad input: one sentence that says what was found, what was expected and what to do."""


class Cancelled(Exception):
    """Raised inside a computation when its user asked it to stop."""
