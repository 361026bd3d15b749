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


def test_a_secret_in_kept_metadata_is_taken_out_before_the_value_is_cut() -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    values = {"team": f"{'x' * 240} {token}", "other": token, "empty": ""}
    metadata = [{"name": name, "value": value} for name, value in values.items()]
    job = BatchJob(
        {"id": "job", "creationTime": AT, "state": "active", "stateTransitionTime": AT, "metadata": metadata}
    )
    assert job_of(job, ("team", "empty")).metadata == (("team", f"{'x' * 240} {MARK}"),)
