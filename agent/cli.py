"""The commands of the agent, and its only door to the environment and the standard streams."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence

from agent import VERSION
from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.machine.process_name import take_name
from agent.node_agent import NodeAgent
from agent.settings import IMDS, Settings, SettingsError, folder_of, settings_of
from agent.single_sample import single_sample
from agent.supervision.background import run_in_background
from agent.supervision.child import end_with_supervisor
from agent.supervision.daemon import start_in_background, warn_on_stderr
from agent.supervision.folders import own_folder
from agent.supervision.handover import Request, send
from agent.supervision.instances import Registry
from agent.supervision.program import own_copy
from agent.telegraf.append import Append
from agent.telegraf.delivery import Delivery
from agent.telegraf.hardware import hardware_of
from agent.telegraf.stop_signals import StopSignals
from agent.telegraf.telegraf_config import continuous_config, once_config

STORAGE = "BATCHSCOPE_STORAGE"
_OPTIONS = {
    "storage": "address of the blob container, with a SAS or without (managed identity); or BATCHSCOPE_STORAGE",
    "identity": "client id or resource id of the pool's managed identity, where it has several",
    "account": "name of the Batch account; Batch's own variable by default",
    "pool": "id of the pool; Batch's own variable by default",
    "node": "id of the node; Batch's own variable by default",
    "interval": "seconds between two samples (10)",
    "flush": "seconds between two uploads (120)",
    "folder": "the agent's own folder, for its spool and log; beside the node's shared files by default",
    "imds": "address of the instance metadata service, for tests on a machine that has none",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns its exit code. `start` always returns 0, so that no start task fails by it."""
    given = sys.argv[1:] if arguments is None else arguments
    failure = 0 if given[:1] == ["start"] else 2
    try:
        options = _parser().parse_args(arguments)
        command: Callable[[argparse.Namespace], int] = options.run
        return command(options)
    except (SettingsError, OSError) as error:
        warn_on_stderr(str(error))
        return failure
    except SystemExit as end:  # argparse's, after its own sentence
        return failure if end.code else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="batchscope-agent",
        description="Measures an Azure Batch node and its tasks, and sends that to a container.",
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (run, text) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        for option, meaning in _OPTIONS.items():
            command.add_argument(f"--{option}", help=meaning, metavar=option.upper())
    commands.choices["run"].add_argument("--supervised", action="store_true", help=argparse.SUPPRESS)
    commands.choices["telegraf-config"].add_argument(
        "--once", action="store_true", help="the configuration that runs once"
    )
    return parser


def _settings(options: argparse.Namespace) -> Settings:
    settings = settings_of(vars(options), os.environ)
    return settings._replace(folder=own_folder(settings.folder))


def _start(options: argparse.Namespace) -> int:
    settings, machine, clock = _settings(options), Machine(), Clock()
    command, environment = _child(options, settings)
    task = f"{settings.task.job}/{settings.task.task}" if settings.task else ""

    def run() -> None:
        run_in_background(settings.folder, command, environment, machine, clock, task=task, version=VERSION)

    return start_in_background(run, machine, warn_on_stderr)


def _child(options: argparse.Namespace, settings: Settings) -> tuple[list[str], Mapping[str, str]]:
    """Returns the command of the measuring child and its environment, which holds the signature that a SAS has."""
    given = {name: getattr(options, name) for name in _OPTIONS if name not in ("storage", "folder")}
    options_given = [f"--{name}={value}" for name, value in given.items() if value is not None]
    address = f"{settings.container}?{settings.sas}" if settings.sas else settings.container
    environment = {**os.environ, STORAGE: address}
    if zipfile.is_zipfile(sys.argv[0]):
        program = [own_copy(sys.argv[0], settings.folder, VERSION)]
    else:
        program, environment["PYTHONPATH"] = ["-m", "agent"], os.path.dirname(os.path.dirname(__file__))
    return [sys.executable, *program, "run", "--supervised", f"--folder={settings.folder}", *options_given], environment


def _run(options: argparse.Namespace) -> int:
    if options.supervised:
        end_with_supervisor()
    supervisor = os.getppid() if options.supervised else 0
    machine = Machine()
    take_name(machine)
    agent = NodeAgent(_settings(options), os.environ, machine, Clock(), warn_on_stderr, supervisor=supervisor)
    agent.run()
    return 0


def _once(options: argparse.Namespace) -> int:
    imds = options.imds or os.environ.get("BATCHSCOPE_IMDS") or IMDS
    sys.stdout.write(single_sample(Machine(), Clock(), os.environ, warn_on_stderr, imds=imds))
    return 0


def _registry(options: argparse.Namespace) -> Registry:
    return Registry(own_folder(folder_of(vars(options), os.environ)), Machine(), Clock())


def _stop(options: argparse.Namespace) -> int:
    registry = _registry(options)
    for instance in registry.running():
        is_sent = send(Request(instance, signal.SIGTERM), registry.is_running)
        sys.stdout.write(f"The agent of process {instance.pid} {'is asked to end' if is_sent else 'has ended'}.\n")
    return 0


def _status(options: argparse.Namespace) -> int:
    """Returns 0 where an agent runs, 1 where none does."""
    running = _registry(options).running()
    for instance in running:
        whose = f"task {instance.task}" if instance.task else "node"
        sys.stdout.write(f"An agent {instance.version} runs for the {whose}: process {instance.pid}.\n")
    if not running:
        sys.stdout.write("No agent of this user runs here.\n")
    return 0 if running else 1


def _telegraf_config(options: argparse.Namespace) -> int:
    program = os.path.abspath(sys.argv[0])
    write = once_config if options.once else continuous_config
    sys.stdout.write(write(hardware_of(Machine()), {}, [sys.executable, program, "append"]))
    return 0


def _append(options: argparse.Namespace) -> int:
    settings, clock = _settings(options), Clock()
    agent = NodeAgent(settings, os.environ, Machine(), clock, warn_on_stderr)
    agent.close()
    agent.uploader.start()
    with StopSignals() as stop:
        delivery = Delivery(agent.uploader, warn_on_stderr)
        append = Append(sys.stdin.fileno(), stop, delivery, clock, flush=settings.flush, log=warn_on_stderr)
        append.run(agent.startup)
    agent.uploader.drain(2.0)
    return 0


_COMMANDS: Mapping[str, tuple[Callable[[argparse.Namespace], int], str]] = {
    "start": (_start, "start in the background and return at once; for start tasks and tasks"),
    "run": (_run, "measure and send in the foreground until INT, TERM or HUP"),
    "once": (_once, "print what is measured here as line protocol, and send nothing"),
    "status": (_status, "say which agents run on this node; exit code 1 if none does"),
    "stop": (_stop, "ask the agents of this node to send what they have, and to end"),
    "append": (_append, "send line protocol from standard input, as Telegraf's outputs.execd writes it"),
    "telegraf-config": (_telegraf_config, "print a Telegraf configuration for this node's hardware"),
}
