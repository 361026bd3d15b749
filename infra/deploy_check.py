"""Names everything that would make a deployment to Azure fail, all at once, before anything is changed.

It looks at tools, the login, variables, parameters, rights, the region, quotas, resource providers and names, and asks
Azure what the templates would do. It only reads. The exit code is 0 when nothing is wrong; a check that couldn't be
made is named, but isn't held against the deployment.

Values come from the environment, under the names that infra/main.parameters.json has; with --azd, from the azd
environment first. A right that a role gives under a condition counts as given, as Azure doesn't show conditions.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from infra.azure_cli import CommandError, az, azd
from infra.deployment import Deployment, read_variables
from infra.deployment_parameters import parameters
from infra.deployment_places import names, networks, providers, quotas, region
from infra.deployment_rights import account_rights, subscription_rights
from infra.deployment_tools import bicep, login, registration, tools, variables

type Check = Callable[[Deployment], Iterable[str]]
FIRST: Mapping[str, Check] = {"tools": tools, "login": login, "variables": variables, "parameters": parameters}
THEN: Mapping[str, Check] = {
    "app registration": registration,
    "rights on the subscription": subscription_rights,
    "Batch accounts and the rights on them": account_rights,
    "region": region,
    "networks": networks,
    "resource providers": providers,
    "names, and Azure's validation of the templates": names,
    "Bicep": bicep,
    "quotas": quotas,
}


def findings(checks: Mapping[str, Check], deployment: Deployment) -> Iterator[tuple[bool, str]]:
    """Yield problems as (True, sentence) and checks that couldn't be made as (False, sentence); print the progress."""
    for title, check in checks.items():
        print(f"  {title} ... ", end="", flush=True)
        begun, found = time.monotonic(), list(_results(title, check, deployment))
        problems = sum(is_problem for is_problem, _ in found)
        outcome = f"{problems} wrong" if problems else "not looked at" if found else "ok"
        print(f"{outcome}, {time.monotonic() - begun:.1f} s", flush=True)
        yield from found


def _results(title: str, check: Check, deployment: Deployment) -> Iterator[tuple[bool, str]]:
    try:
        for sentence in check(deployment):
            yield True, sentence
    except CommandError as error:
        yield False, f"{title[0].upper()}{title[1:]} couldn't be looked at: {error}"


def deploy_check(deployment: Deployment) -> int:
    """Look at everything and print it; 1 if anything is wrong."""
    found = list(findings(FIRST, deployment))
    if deployment.is_logged_in:
        found += findings(THEN, deployment)
    else:
        print("  Everything else needs the Azure CLI and a login, and wasn't looked at.")
    problems = [sentence for is_problem, sentence in found if is_problem]
    unknown = [sentence for is_problem, sentence in found if not is_problem]
    for sentence in problems:
        print(f"WRONG: {sentence}")
    for sentence in unknown:
        print(f"NOT LOOKED AT: {sentence}")
    if problems:
        print(f"A deployment would fail; things that are wrong: {len(problems)}.")
        return 1
    if unknown:
        print(f"Nothing was found wrong, but not everything was looked at; checks that are missing: {len(unknown)}.")
    else:
        print("Nothing is wrong that would make a deployment fail.")
    return 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="dev.py deploy-check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--azd", action="store_true", help="for `azd up`: the azd environment's values come first")
    options = parser.parse_args(arguments)
    print("Looking at what a deployment needs; nothing is changed.")
    try:
        found = read_variables(os.environ, azd if options.azd else None)
    except CommandError as error:
        print(f"WRONG: {error}")
        return 1
    return deploy_check(Deployment(found, az, uses_azd=options.azd))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
