"""A library with NVML's interface for eight GPUs, in C: it answers with numbers that follow from a GPU's index.

A test sets `codes[gpu]` (every function of the GPU answers so), `session_code` (all functions) and `mig_gpu`. Compiled
with -DOLD it lacks the functions that came with later drivers.
"""

SOURCE = r"""
#include <string.h>
typedef unsigned int u32;
typedef unsigned long long u64;
int codes[8] = {0}, session_code = 0, mig_gpu = -1, sessions = 0, calls = 0, gpu_count = 8;
static char places[64];
static void *place(int gpu, int mig) { return places + gpu * 8 + mig + 1; }
static int gpu_of(void *handle) { return (int)(((char *)handle - places - 1) / 8) & 7; }
static int mig_of(void *handle) { return (int)(((char *)handle - places - 1) % 8); }
static int answer(void *handle) { calls++; return session_code ? session_code : codes[gpu_of(handle)]; }
#define ASK(handle) do { int code_ = answer(handle); if (code_) return code_; } while (0)
#define NUMBER(name, value) int nvmlDeviceGet##name(void *d, u32 *v) { ASK(d); *v = (value); return 0; }
int nvmlInit_v2(void) { if (session_code && session_code != 1) return session_code; sessions++; return 0; }
int nvmlShutdown(void) { sessions--; return 0; }
int nvmlDeviceGetCount_v2(u32 *n) { *n = gpu_count; return session_code == 1 ? 0 : session_code; }
int nvmlDeviceGetHandleByIndex_v2(u32 i, void **d) { *d = place(i, 0); return codes[i] == 15 ? 15 : 0; }
int nvmlSystemGetDriverVersion(char *v, u32 n) { strncpy(v, "550.90.07", n); return 0; }
int nvmlDeviceGetName(void *d, char *v, u32 n) { ASK(d); strncpy(v, "NVIDIA H100", n); return 0; }
int nvmlDeviceGetUUID(void *d, char *v, u32 n) { ASK(d); strncpy(v, "GPU-0", n); v[4] += gpu_of(d); return 0; }
struct memory { u64 total, free, used; };
struct memory2 { u32 version; u64 total, reserved, free, used; };
static u64 used(void *d) { return ((u64)(gpu_of(d) + 1) * 100 + mig_of(d)) << 20; }
int nvmlDeviceGetMemoryInfo(void *d, struct memory *m) {
    ASK(d); m->total = 81559ULL << 20; m->used = used(d); m->free = m->total - m->used; return 0; }
struct rates { u32 gpu, memory; };
int nvmlDeviceGetUtilizationRates(void *d, struct rates *r) {
    ASK(d); if (gpu_of(d) == mig_gpu) return 3; r->gpu = 90 + gpu_of(d); r->memory = 40; return 0; }
NUMBER(PowerUsage, 250500 + gpu_of(d))
NUMBER(PowerManagementLimit, 700000)
NUMBER(PerformanceState, 0)
NUMBER(CurrPcieLinkGeneration, 5)
NUMBER(CurrPcieLinkWidth, 16)
NUMBER(PcieReplayCounter, 3)
NUMBER(ComputeMode, 0)
int nvmlDeviceGetFanSpeed(void *d, u32 *v) { ASK(d); return 3; }
int nvmlDeviceGetTemperature(void *d, u32 kind, u32 *v) { ASK(d); *v = 60 + gpu_of(d) + kind; return 0; }
int nvmlDeviceGetClockInfo(void *d, u32 kind, u32 *v) { ASK(d); *v = kind == 1 ? 1980 : 2619; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, u64 *v) { ASK(d); *v = 0x44; return 0; }
int nvmlDeviceGetTotalEccErrors(void *d, u32 kind, u32 period, u64 *v) {
    ASK(d); *v = (1ULL << 40) + kind * 10 + period; return 0; }
int nvmlDeviceGetMemoryErrorCounter(void *d, u32 kind, u32 period, u32 memory, u64 *v) {
    ASK(d); *v = kind * 100 + period * 10 + memory; return 0; }
struct process1 { u32 pid; u64 memory; };
struct process2 { u32 pid; u64 memory; u32 instance, compute; };
#ifndef OLD
NUMBER(EnforcedPowerLimit, 650000)
NUMBER(Architecture, 9)
int nvmlDeviceGetMemoryInfo_v2(void *d, struct memory2 *m) {
    ASK(d); if (m->version != (40 | 2 << 24)) return 25;
    m->total = 81559ULL << 20; m->reserved = 500ULL << 20; m->used = used(d);
    m->free = m->total - m->reserved - m->used; return 0; }
int nvmlDeviceGetCurrentClocksEventReasons(void *d, u64 *v) { ASK(d); *v = 0x44; return 0; }
int nvmlDeviceGetRemappedRows(void *d, u32 *a, u32 *b, u32 *c, u32 *e) {
    ASK(d); *a = 1; *b = 2; *c = 1; *e = 0; return 0; }
int nvmlDeviceGetMigMode(void *d, u32 *now, u32 *next) { ASK(d); *now = *next = gpu_of(d) == mig_gpu; return 0; }
int nvmlDeviceGetMaxMigDeviceCount(void *d, u32 *n) { ASK(d); *n = gpu_of(d) == mig_gpu ? 7 : 0; return 0; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *d, u32 i, void **m) {
    ASK(d); if (i == 0 || i == 2) { *m = place(gpu_of(d), i + 1); return 0; } return 6; }
NUMBER(GpuInstanceId, 7 + mig_of(d))
NUMBER(ComputeInstanceId, 0)
struct field { u32 id, scope; long long time, latency; u32 kind; u32 code; union { double d; u64 l; u32 i; } v; };
int nvmlDeviceGetFieldValues(void *d, int n, struct field *f) {
    ASK(d);
    for (; n--; f++) {
        f->code = 0; f->kind = 3; f->v.l = f->id;
        switch (f->id) {
        case 82: f->kind = 1; f->v.i = 70; break;
        case 83: f->v.l = 1234567; break;
        case 74: case 76: case 269: case 270: case 271: f->v.l = f->id * 1000; break;
        case 197: case 198: case 29: case 30: case 31: f->code = 3; break;
        case 91: f->kind = 1; f->v.i = 18; break;
        case 138: case 139: f->v.l = f->scope == 0xFFFFFFFF ? f->id : 0; break;
        case 45: case 52: case 59: f->code = 3; break;
        case 161: case 163: f->v.l = f->scope; break;
        case 162: f->code = f->scope == 17 ? 0 : 3; f->kind = 0; f->v.d = 4.0; break;
        default: f->code = 2;
        }
    }
    return 0;
}
static int listed(void *d, u32 *n, struct process2 *p, u32 total) {
    ASK(d); u32 room = *n; *n = total; if (room < total) return 7;
    for (u32 i = 0; i < total; i++) { p[i].pid = 1000 + i; p[i].memory = (i + 1ULL) << 20; }
    if (total) { p[0].memory = used(d); }
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, u32 *n, struct process2 *p) { return listed(d, n, p, 300); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *d, u32 *n, struct process2 *p) { return listed(d, n, p, 1); }
struct sample { u32 pid; u64 time; u32 sm, memory, encoder, decoder; };
int nvmlDeviceGetProcessUtilization(void *d, struct sample *s, u32 *n, u64 since) {
    ASK(d); if (gpu_of(d) == mig_gpu) return 3; if (since >= 5000) return 6; if (*n < 3) return 7; *n = 3;
    for (int i = 0; i < 3; i++) { s[i].pid = i < 2 ? 1000 : 9; s[i].time = 3000 + i * 1000;
        s[i].sm = i < 2 ? 20 + i * 20 : 200; }
    return 0; }
#else
int nvmlDeviceGetComputeRunningProcesses(void *d, u32 *n, struct process1 *p) {
    ASK(d); if (*n < 2) return 7; *n = 2; p[0].pid = 77; p[0].memory = 5;
    p[1].pid = 78; p[1].memory = ~0ULL; return 0; }
#endif
"""
