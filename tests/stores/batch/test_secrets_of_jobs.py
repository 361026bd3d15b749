"""Job facts from the service: likely secrets are removed before they reach the domain."""

from datetime import UTC, datetime

from azure.batch.models import BatchJob

from shared.domain.redaction.redaction import MARK
from shared.stores.batch.batch_rows import job_of

SECRET = "Tr0ub4dor"
AT = "2026-11-21T07:00:00Z"


def test_secrets_in_a_jobs_name_and_in_why_it_ended_are_taken_out() -> None:
    job = BatchJob(
        {
            "id": "job",
            "creationTime": AT,
            "state": "completed",
            "stateTransitionTime": AT,
            "displayName": f"copy https://a.blob.core.windows.net/c?sv=1&sig={SECRET}",
            "executionInfo": {"startTime": AT, "terminateReason": f"gave up with --password '{SECRET}'"},
        }
    )
    facts = job_of(job)
    assert facts.display_name == f"copy https://a.blob.core.windows.net/c?sv=1&sig={MARK}"
    assert facts.terminate_reason == f"gave up with --password {MARK}"
    assert facts.creation_time == datetime(2026, 11, 21, 7, tzinfo=UTC)
