"""A leaf in format 1, written by the version that used it, and the tasks in it."""

from shared.domain.tasks.tasks import Task

FIRST_FORMAT_STORED = bytes.fromhex(
    "01040000007801e364606048e4728a37e24ae67261017218989899c13403239322905b58cde06b93c3c03039808161fd110606eb050c0cf1"
    "8c0c0cff8072ff4118a2c86df2c61cf58ec7019c8c4bb0296205aa4c029afd5710c8c864f86ff283e17fc57f86ffff80f83fc408a0043268"
    "0072fe333242ec00b1a1463030c2184c6006232323b339505e0b88a3a395947494946275a2954a8b538b5c8b8af28b800231a5060629c979"
    "29a9453179399979a94ab1b13033186d80daf451b51600b5e419824d01338d20ccfcfc1c90447e0a423f23133300a316439f"
)
FIRST_FORMAT_TASKS = [
    Task("a", 0, 0, 1_790_000_000_123, 1_790_000_000_123),
    Task("B_2", 2, 0, 1_790_000_600_001, 1_790_000_000_123, 1_790_000_600_000, node=("p", "n1")),
    Task("c", 3, 1, 1_790_000_700_500, 1_790_000_000_200, 1_790_000_600_200, 1_790_000_700_501, 0, node=("p", "n2")),
    Task("D", 3, 2, 5, 4, -3, 2, -(2**31), ("userError", "Ünder\nline"), 1, 2, 3, ("pool", "node")),
]
