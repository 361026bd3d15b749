"""A kernel that keeps a whole GPU busy for a given time, as PTX that the driver compiles for its GPU."""

from __future__ import annotations

NAME = b"burn"
HEADS = ((6, 0, 52), (7, 0, 70), (7, 8, 90), (8, 6, 100))
"""Versions of PTX with the oldest GPU they are for, tried in turn: newer drivers drop old GPUs."""
THREADS = 256
BLOCKS_PER_PROCESSOR = 8
_BODY = """
.address_size 64
.visible .entry burn(.param .u64 out, .param .u64 nanoseconds)
{
    .reg .pred %p<4>;
    .reg .f32 %f<4>;
    .reg .b32 %r<4>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [nanoseconds];
    mov.u64 %d3, %globaltimer;
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    mov.f32 %f2, 0f3F7FFF58;
    mov.f32 %f3, 0f3C23D70A;
    mov.u32 %r3, 0;
OUTER:
    mov.u32 %r2, 0;
INNER:
@FMA@
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 128;
    @%p1 bra INNER;
    add.u32 %r3, %r3, 1;
    setp.gt.u32 %p2, %r3, 1000000;
    @%p2 bra DONE;
    mov.u64 %d4, %globaltimer;
    sub.u64 %d5, %d4, %d3;
    setp.lt.u64 %p1, %d5, %d2;
    @%p1 bra OUTER;
DONE:
    setp.lt.f32 %p3, %f1, 0fC47A0000;
    @%p3 st.global.f32 [%d1], %f1;
    ret;
}
"""
_FMA = "    fma.rn.f32 %f1, %f1, %f2, %f3;\n"


def ptx(major: int, minor: int, target: int) -> bytes:
    """Returns the kernel with a head; it stores nothing, but the compiler can't know that its sum is never negative."""
    body = _BODY.replace("@FMA@\n", 16 * _FMA)
    return f".version {major}.{minor}\n.target sm_{target}{body}".encode("ascii") + b"\0"
