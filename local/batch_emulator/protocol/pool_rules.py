"""Rules for the values of pools and of specifications of jobs' own pools."""

from local.batch_emulator.core.errors import BatchError, invalid_property, missing_property, not_implemented
from local.batch_emulator.formulas.evaluation import unsupported_variable
from local.batch_emulator.formulas.syntax import FormulaSyntaxError, parse
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.requests import nested
from local.batch_emulator.simulation.pools import MAX_NODES, TARGETS

_MIN_RESIZE_SECONDS = 300
_MAX_USER_NAME = 20
_MIN_INTERVAL, _MAX_INTERVAL = 5 * 60, 168 * 3600
_MAX_FORMULA = 8192


def check_pool_values(body: bodies.Body) -> None:
    """Raises BatchError for an invalid value of a pool."""
    if "vmSize" in body and not isinstance(body["vmSize"], str):
        raise invalid_property("vmSize", body["vmSize"], "It is a string.")
    for name in TARGETS.values():
        bodies.number(body, name, 0, maximum=MAX_NODES)
    _check_auto_scale(body)
    bodies.duration(body, "resizeTimeout", minimum=_MIN_RESIZE_SECONDS)
    bodies.slots(body, "taskSlotsPerNode")
    for account in bodies.objects(body, "userAccounts"):
        if len(str(account["name"])) > _MAX_USER_NAME:
            raise invalid_property("userAccounts.name", account["name"], f"It has at most {_MAX_USER_NAME} characters.")
    policy = nested(body, "taskSchedulingPolicy")
    bodies.choice(policy, "nodeFillType", "spread", ("spread", "pack"))
    bodies.choice(policy, "jobDefaultOrder", "none", ("none", "creationtime"))
    for extension in bodies.objects(nested(body, "virtualMachineConfiguration"), "extensions"):
        for name in ("name", "publisher", "type"):
            if not isinstance(extension.get(name), str) or not extension[name]:
                raise missing_property(f"extensions.{name}")
    start_task = nested(body, "startTask")
    if start_task:
        bodies.check_command_line(start_task, "startTask.commandLine")
    bodies.check_sizes(start_task)
    bodies.number(start_task, "maxTaskRetryCount", 0, minimum=-1)


def check_scaling(body: bodies.Body) -> None:
    """Raises BatchError for a formula that is invalid or isn't emulated, and for a wrong interval."""
    bodies.duration(body, "autoScaleEvaluationInterval", minimum=_MIN_INTERVAL, maximum=_MAX_INTERVAL)
    formula = body.get("autoScaleFormula")
    if formula is None:
        return
    if not isinstance(formula, str):
        raise invalid_property("autoScaleFormula", formula, "It is a string.")
    if len(formula) > _MAX_FORMULA:
        text = f"The autoscale formula has more than {_MAX_FORMULA} characters."
        raise BatchError(400, "AutoScaleFormulaTooLong", text)
    try:
        parse(formula)
    except FormulaSyntaxError as problem:
        text = "The specified autoscale formula has a syntax error."
        raise BatchError(400, "AutoScalingFormulaSyntaxError", text, {"Message": str(problem)}) from None
    if variable := unsupported_variable(formula):
        raise not_implemented(f"autoscale variable {variable}")


def _check_auto_scale(body: bodies.Body) -> None:
    """Checks that formula and interval come with autoscaling, targets without it (documented)."""
    is_enabled = body.get("enableAutoScale")
    if not isinstance(is_enabled, bool | None):
        raise invalid_property("enableAutoScale", is_enabled, "It is true or false.")
    if is_enabled and not body.get("autoScaleFormula"):
        raise missing_property("autoScaleFormula")
    excluded = TARGETS.values() if is_enabled else ("autoScaleFormula", "autoScaleEvaluationInterval")
    for name in excluded:
        if body.get(name):
            reason = f"It can't be specified where enableAutoScale is {str(bool(is_enabled)).lower()}."
            raise invalid_property(name, body[name], reason)
    check_scaling(body)


def check_without_entra(body: bodies.Body) -> None:
    """Raises BatchError for own networks and images, which need Microsoft Entra authentication (documented)."""
    subnet = nested(body, "networkConfiguration").get("subnetId")
    image = nested(nested(body, "virtualMachineConfiguration"), "imageReference").get("virtualMachineImageId")
    for name, value in (("subnetId", subnet), ("virtualMachineImageId", image)):
        if value:
            raise invalid_property(name, value, "It can't be used with shared key authentication.")
