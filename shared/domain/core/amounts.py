"""Numbers with their nouns, for sentences."""


def amount(number: int, noun: str) -> str:
    """Returns, say, `1 task` or `2,000 tasks`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def are(number: int, noun: str) -> str:
    """Returns, say, `1 task is` or `2,000 tasks are`."""
    return f"{amount(number, noun)} {'is' if number == 1 else 'are'}"
