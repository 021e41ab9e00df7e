/* The device's module, opened by a bench that needs it. */
#ifndef BENCH_MODULE_H
#define BENCH_MODULE_H

struct gpu_module;

/* For gpu_module_close(): 0; after bench_because() BENCH_SKIP where there is no module or no device, or -1.
 */
int bench_module_open(const char *path, struct gpu_module **ret);

#endif
