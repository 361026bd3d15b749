"""Texts of explanations about a pool's size and resize errors."""

from shared.domain.core.amounts import amount
from shared.domain.pools.pool_settings import Problem
from shared.domain.pools.pools import Pool, PoolFacts
from shared.domain.pools.resize_errors import ResizeError


def current_error(pool: Pool | None) -> ResizeError | None:
    return next((error for error in pool.errors if error.is_current), None) if pool else None


def ended_with(error: ResizeError) -> str:
    return f"ended{with_error(error)}"


def with_error(error: ResizeError | Problem) -> str:
    """Returns the code and message of an error, as far as the service reported them."""
    message = error.message.rstrip(".")
    told = ": ".join(part for part in (error.code, message) if part)
    return f" with {'' if error.code or not told else 'an error: '}{told or 'an error that has no name'}"


def have_of(facts: PoolFacts) -> str:
    kinds = (("dedicated", facts.dedicated), ("spot", facts.spot))
    told = [f"{size.current:,} of {amount(size.target, f'{name} node')}" for name, size in kinds if size.target]
    return " and ".join(told) or amount(facts.nodes, "node")
