"""A library with the part of CUDA's driver API that the proof of GPUs uses, and a stand-in for nvidia-smi.

Memory is a number, and a kernel sleeps for its time. NVML is the stub of tests/agent/devices.
"""

CUDA = r"""
#include <string.h>
#include <unistd.h>
typedef unsigned long long u64;
static u64 used = 500ULL << 20, pending = 0;
int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *v, int n, int d) { strncpy(v, "NVIDIA H100", n); return 0; }
int cuDeviceGetUuid(char *v, int d) { for (int i = 0; i < 16; i++) v[i] = i; return 0; }
int cuDeviceTotalMem_v2(size_t *v, int d) { *v = 80ULL << 30; return 0; }
int cuDeviceGetAttribute(int *v, int kind, int d) { *v = kind == 16 ? 132 : 0; return 0; }
int cuCtxCreate_v2(void **c, unsigned flags, int d) { *c = &used; return 0; }
int cuCtxDestroy_v2(void *c) { return c == &used ? 0 : 201; }
int cuModuleLoadData(void **m, const char *ptx) {
    *m = &pending; return strstr(ptx, ".target sm_70") && strstr(ptx, "burn") ? 0 : 218; }
int cuModuleGetFunction(void **f, void *m, const char *name) { *f = m; return strcmp(name, "burn") ? 500 : 0; }
int cuMemAlloc_v2(u64 *p, size_t n) { *p = n; used += n; return 0; }
int cuMemFree_v2(u64 p) { used -= p; return 0; }
int cuMemGetInfo_v2(size_t *f, size_t *t) { *t = 80ULL << 30; *f = *t - used; return 0; }
int cuMemAllocHost_v2(void **p, size_t n) { *p = &used; return 0; }
int cuMemFreeHost(void *p) { return 0; }
int cuMemcpyHtoD_v2(u64 d, void *h, size_t n) { return 0; }
int cuMemcpyDtoH_v2(void *h, u64 d, size_t n) { return 0; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra) {
    pending = *(u64 *)parameters[1]; return f == &pending && gx == 132 * 8 && bx == 256 && !shared ? 0 : 1; }
int cuCtxSynchronize(void) { usleep(pending / 1000); pending = 0; return 0; }
int cuGetErrorName(int code, const char **text) { *text = "CUDA_ERROR_OF_TEST"; return 0; }
"""
SMI = r"""#!/bin/sh
case "$1" in
--help-query-gpu) ;;
--query-gpu=*fan.speed*) echo 'Field "fan.speed" is not a valid field to query.'; exit 2 ;;
--query-gpu=*) echo "${1#--query-gpu=}" | sed 's/uuid/GPU-0/; s/name/NVIDIA H100/; s/memory.used/100/' ;;
--query-compute-apps=*) echo 'GPU-0, 1000, 101' ;;
pmon) printf '# gpu         pid   type     sm    mem  command\n# Idx           #    C/G      %%      %%  name\n' ;
      printf '    0       1000     C     97      3  python\n' ;;
-q) echo '<log><gpu id="1"><uuid>GPU-0</uuid><pci><replay_counter>3</replay_counter></pci></gpu></log>' ;;
nvlink) echo 'GPU 0: NVIDIA H100 (UUID: GPU-0)'; echo '  Link 0: Data Tx: 138 KiB' ;;
*) echo "no such option"; exit 6 ;;
esac
"""
