"""The errors of formulas, each one sentence that begins with the place."""

from bisect import bisect_left

from shared.errors import BatchscopeError


class FormulaError(BatchscopeError):
    """A formula that can't be read, or an evaluation that fails; `at` is the offset of the cause in its text."""

    def __init__(self, problem: str, at: int = 0) -> None:
        super().__init__(problem)
        self.problem = problem
        self.at = at

    def sentence(self, text: str) -> str:
        """Returns the problem with its place in the formula."""
        breaks = [at for at, letter in enumerate(text) if letter == "\n"]
        line = bisect_left(breaks, self.at)
        column = self.at - (breaks[line - 1] if line else -1)
        return f"Line {line + 1}, column {column}: {self.problem}."


class FormulaSyntaxError(FormulaError):
    """A formula that can't be read."""


class FormulaEvaluationError(FormulaError):
    """An evaluation that fails; Batch then leaves the pool as it is."""


class FormulaLimitError(FormulaEvaluationError):
    """An evaluation that takes more steps, or makes longer vectors, than are allowed here."""
