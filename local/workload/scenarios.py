"""The scenarios of `--scenario`.

`demo` keeps moving at any speed: small jobs of short tasks overtake the large ones on the same nodes. Its largest job
runs on 40 slots with tasks of 32 seconds on average: 1.25 tasks end a second, 25 at `--speed 20`. It takes a minute to
submit.
"""

from collections.abc import Mapping
from math import inf

from local.workload.scenario import MIX, EndingKind, FailurePlan, JobPlan, PoolPlan, ScenarioPlan, SchedulePlan

_OUT_OF_MEMORY = 137
_NOT_FOUND = 127
_SEGMENTATION_FAULT = 139

_DEMO_POOLS = (
    PoolPlan(
        id="render-d4s",
        vm_size="standard_d4s_v5",
        dedicated=10,
        slots=4,
        start_task="/bin/sh -c 'apt-get install -y blender; sleep 20'",
    ),
    PoolPlan(
        id="genomics-e8s-spot",
        vm_size=MIX,
        mixed_sizes=("standard_e8s_v5", "standard_e8as_v5", "standard_e8ads_v5"),
        spot=6,
        slots=2,
    ),
    PoolPlan(id="analytics-d8s", vm_size="standard_d8s_v5", dedicated=3, slots=4),
    PoolPlan(id="this-machine", vm_size="standard_d2s_v5", dedicated=1, slots=2, has_agent=True),
    PoolPlan(id="training-a100", vm_size="standard_nc48ads_a100_v4", dedicated=1, slots=4),
    PoolPlan(
        id="cfd-hb120",
        vm_size="standard_hb120rs_v3",
        dedicated=2,
        start_task="/bin/sh -c './install-openfoam.sh --version 12; sleep 20; emulate failure name-resolution; exit 1'",
    ),
)

_DEMO_JOBS = (
    JobPlan(
        id="render-feature-film",
        pool="render-d4s",
        name="Feature film, reel 4",
        tasks=20_000,
        task_prefix="frame",
        program="blender --background reel4.blend --render-frame {n}",
        seconds=(20, 44),
        output="emulate log 2",
        failures=(
            FailurePlan(share=0.002, exit_code=_OUT_OF_MEMORY, last_words="killed"),
            FailurePlan(share=0.001, exit_code=1, last_words="disk-full"),
        ),
        rest=120,
    ),
    JobPlan(
        id="video-transcode",
        pool="render-d4s",
        name="Archive to AV1",
        tasks=400,
        task_prefix="clip",
        program="ffmpeg -i clip{n}.mov -c:v libsvtav1 clip{n}.mkv",
        seconds=(8, 24),
        failures=(FailurePlan(share=0.01, exit_code=_NOT_FOUND, last_words="command-not-found"),),
        priority=100,
        rest=200,
    ),
    JobPlan(
        id="genomics-alignment",
        pool="genomics-e8s-spot",
        name="Whole genomes, cohort 12",
        tasks=1_600,
        task_prefix="sample",
        program="bwa mem reference.fa sample{n}.fq",
        seconds=(15, 45),
        output="emulate bytes 3GiB > sample{n}.bam",
        failures=(
            FailurePlan(share=0.02, exit_code=_OUT_OF_MEMORY, last_words="killed"),
            FailurePlan(share=0.005, exit_code=1, last_words="sas-expired"),
        ),
        retries=1,
        rest=90,
    ),
    JobPlan(
        id="model-sweep",
        pool="training-a100",
        name="Hyperparameter sweep",
        tasks=60,
        task_prefix="trial",
        program="python train.py --trial {n}",
        seconds=(20, 60),
        output="emulate log 5; emulate log 20 16KiB 3 > train.log",
        failures=(
            FailurePlan(share=0.05, exit_code=_OUT_OF_MEMORY, last_words="killed"),
            FailurePlan(share=0.1, exit_code=1, last_words="cuda-out-of-memory"),
        ),
        retries=2,
        priority=50,
        ending=EndingKind.STOPPED,
        rest=240,
        stop_after=150,
        stop_reason="A better model was found",
    ),
    JobPlan(
        id="risk-simulation",
        pool="analytics-d8s",
        name="Value at risk, end of day",
        tasks=5_000,
        task_prefix="path",
        program="./simulate --paths 10000 --seed {n}",
        seconds=(8, 16),
        failures=(FailurePlan(share=0.001, exit_code=_SEGMENTATION_FAULT, last_words="segmentation-fault"),),
        rest=60,
    ),
    JobPlan(
        id="nightly-etl",
        pool="analytics-d8s",
        name="Nightly load of the warehouse",
        tasks=120,
        task_prefix="partition",
        program="python load.py --partition {n}",
        seconds=(4, 12),
        failures=(
            FailurePlan(share=0.03, missing_file="https://warehouse.example/landing/missing-partition.parquet"),
            FailurePlan(share=0.02, exit_code=1, last_words="python-key-error"),
        ),
        retries=1,
        priority=100,
        rest=180,
    ),
    JobPlan(
        id="local-processes",
        pool="this-machine",
        name="Processes of this machine, measured by the agent",
        tasks=12,
        task_prefix="process",
        program="./process --seed {n}",
        seconds=(60, 180),
        ending=EndingKind.COMPLETES,
        rest=60,
    ),
    JobPlan(
        id="smoke-test",
        pool="analytics-d8s",
        name="Smoke test after each deployment",
        tasks=20,
        task_prefix="check",
        program="pytest -k check_{n}",
        seconds=(2, 5),
        priority=200,
        rest=40,
    ),
    JobPlan(
        id="wind-tunnel",
        pool="cfd-hb120",
        name="Aerodynamics of a new wing",
        tasks=300,
        task_prefix="case",
        program="simpleFoam -case case{n}",
        seconds=(60, 120),
        ending=EndingKind.STAYS,
    ),
)

# Jobs of the second schedule outlast its interval and its window, so every other run is missed.
_DEMO_SCHEDULES = (
    SchedulePlan(
        job=JobPlan(
            id="energy-report",
            pool="analytics-d8s",
            name="Energy used, by site",
            tasks=12,
            task_prefix="site",
            program="python report.py --site {n}",
            seconds=(5, 15),
            priority=150,
        ),
        interval=300,
    ),
    SchedulePlan(
        job=JobPlan(
            id="grid-forecast",
            pool="genomics-e8s-spot",
            name="Load of the grid, two days ahead",
            tasks=2,
            task_prefix="model",
            program="./forecast --model {n}",
            seconds=(680, 740),
            priority=150,
        ),
        interval=600,
        window=60,
    ),
)

_QUIET = ScenarioPlan(
    name="quiet",
    pools=(PoolPlan(id="services-d2s", vm_size="standard_d2s_v5", dedicated=2, slots=4),),
    jobs=(
        JobPlan(
            id="license-servers",
            pool="services-d2s",
            name="Services that run for weeks",
            tasks=4,
            task_prefix="server",
            program="./lmgrd -server {n}",
            seconds=(2_000_000, 2_000_000),
            priority=100,
            ending=EndingKind.STAYS,
        ),
        JobPlan(
            id="import-2025",
            pool="services-d2s",
            name="Import of last year's measurements",
            tasks=200,
            task_prefix="month",
            program="python import.py {n}",
            seconds=(1, 2),
            failures=(FailurePlan(share=0.01, exit_code=1, last_words="python-module-not-found"),),
            ending=EndingKind.STAYS,
        ),
    ),
)

_BIG = ScenarioPlan(
    name="big",
    pools=(PoolPlan(id="simulation-d16s", vm_size="standard_d16s_v5", dedicated=10, slots=8),),
    jobs=(
        JobPlan(
            id="monte-carlo-200k",
            pool="simulation-d16s",
            name="200,000 simulated markets",
            tasks=200_000,
            task_prefix="market",
            program="./market --seed {n}",
            seconds=(40, 88),
            adds_per_second=inf,
            failures=(FailurePlan(share=0.0005, exit_code=1, last_words="connection-refused"),),
            ending=EndingKind.STAYS,
        ),
    ),
)

_DEMO = ScenarioPlan(name="demo", pools=_DEMO_POOLS, jobs=_DEMO_JOBS, schedules=_DEMO_SCHEDULES)

SCENARIOS: Mapping[str, ScenarioPlan] = {scenario.name: scenario for scenario in (_DEMO, _QUIET, _BIG)}
