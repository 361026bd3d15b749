"""The rule on nodes that take longer to start than the job's tasks run on them."""

from datetime import timedelta

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text, span_text
from shared.domain.findings.finding import Finding
from shared.domain.findings.thresholds import MAX_START_UP_SHARE, MIN_WASTED


def start_up_exceeds_work(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job for which nodes started for longer than its tasks held them, and for an hour."""
    durations, found = e.enough("duration"), e.context.start_ups
    if durations is None or found is None or found.starting < MIN_WASTED:
        return None
    starting, held = (timedelta(milliseconds=one) for one in found)
    share = starting / (starting + held)
    if share <= MAX_START_UP_SHARE:
        return None
    run = timedelta(milliseconds=durations.quantile(50))
    return e.found(
        "startUpExceedsWork",
        title="Nodes take longer to start than to run the job",
        sentence=f"Nodes spent {span_text(starting)} to start, the job's share of the start-ups of its pool, and its"
        f" tasks held them for {span_text(held)}; half of {durations.count:,} runs took at most {span_text(run)}.",
        advice="Let nodes run more of it: fewer nodes for this job, jobs that follow each other on the same pool, or a"
        f" pool that shrinks later. {percent_text(share)} of the time was start-up.",
        evidence={"startUpTime": starting, "runTime": held, "startUpShare": round(share, 2), "medianRun": run},
    )
