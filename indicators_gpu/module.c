#include "indicators_gpu/module_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlerror() begins with the path, which the sentence already contains. */
static const char *why_not(const char *path)
{
    const char *why = dlerror();
    size_t len = strlen(path);
    if (!why)
        return "unknown error";
    return strncmp(why, path, len) == 0 && why[len] == ':' ? why + len + 2 : why;
}

/* How many handles this process has open: the first one makes its context. */
static atomic_int n_open;

/* The first handle's alone, while no other process opens the device or allocates there: so the module finds
 * what the driver takes for a context by the difference in the device's memory. */
static int open_device(struct gpu_module *m, char *reason, size_t cap)
{
    char id[GPU_DEVICE_ID_MAX] = "";
    if (m->api->identify(id) == 0 && id[0])
        (void)gpu_share_open(id, &m->share, m->unshared, sizeof(m->unshared));
    const bool locked = m->share && n_open == 0 && gpu_share_lock(m->share) == 0;
    if (locked)
        (void)gpu_share_settle(m->share); /* after its time is up it is opened all the same */
    int r = m->api->open(&m->device, reason, cap);
    if (locked)
        gpu_share_unlock(m->share);
    n_open += r == 0;
    return r;
}

static int open_path(const char *path, struct gpu_module **ret, char *reason, size_t cap)
{
    if (access(path, F_OK) != 0) {
        snprintf(reason, cap, "no GPU module: %s: %s", path, strerror(errno));
        return -ENOENT;
    }
    struct gpu_module *m = calloc(1, sizeof(*m));
    char *name = strdup(path);
    if (!m || !name) {
        free(m);
        free(name);
        snprintf(reason, cap, "out of memory");
        return -ENOMEM;
    }
    int r = -ENOEXEC;
    m->path = name;
    m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->handle) {
        snprintf(reason, cap, "GPU module %s: %s", path, why_not(path));
        goto fail;
    }
    const void *api;
    r = gpu_module_table(m, GPU_INDICATORS_SYMBOL, GPU_INDICATORS_ABI, &api, reason, cap);
    if (r < 0)
        goto fail;
    m->api = api;
    r = open_device(m, reason, cap);
    if (r < 0)
        goto fail;
    *ret = m;
    return 0;
fail:
    gpu_module_close(m);
    return r;
}

int gpu_module_open(const char *path, struct gpu_module **ret, char *reason, size_t cap)
{
    const char *named = path ? path : getenv("PAPERTAPE_GPU_MODULE");
    if (named && *named)
        return open_path(named, ret, reason, cap);

    static const char *const places[] = {
#ifdef GPU_MODULE_BUILT
        GPU_MODULE_BUILT,
#endif
        GPU_MODULE_INSTALLED,
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], F_OK) == 0)
            return open_path(places[i], ret, reason, cap);
    snprintf(reason, cap, "no GPU module: neither %s nor $PAPERTAPE_GPU_MODULE is there",
             GPU_MODULE_INSTALLED);
    return -ENOENT;
}

void gpu_module_close(struct gpu_module *m)
{
    if (!m)
        return;
    if (m->device) {
        m->api->close(m->device);
        n_open--;
    }
    gpu_share_close(m->share);
    if (m->handle)
        dlclose(m->handle);
    free(m->columns);
    free(m->path);
    free(m);
}

int gpu_module_table(const struct gpu_module *m, const char *symbol, uint32_t version, const void **ret,
                     char *reason, size_t cap)
{
    const void *table = dlsym(m->handle, symbol);
    if (!table) {
        snprintf(reason, cap, "GPU module %s: it has no %s: not this program's module", m->path, symbol);
        return -ENOEXEC;
    }
    uint32_t has = *(const uint32_t *)table;
    if (has != version) {
        snprintf(reason, cap, "GPU module %s: its version is %u, this program's %u: install both together",
                 m->path, has, version);
        return -ENOEXEC;
    }
    *ret = table;
    return 0;
}

struct gpu_indicators *gpu_module_handle(const struct gpu_module *m)
{
    return m->device;
}

struct gpu_share *gpu_module_share(const struct gpu_module *m, const char **ret_why)
{
    *ret_why = m->unshared;
    return m->share;
}

const char *gpu_module_device(const struct gpu_module *m)
{
    return m->api->device(m->device);
}

void gpu_module_limit(struct gpu_module *m, size_t bytes)
{
    m->api->limit(m->device, bytes);
}

int gpu_module_copy_rate(struct gpu_module *m, size_t bytes, double *ret_bytes_per_s, char *reason,
                         size_t cap)
{
    return m->api->copy_rate(m->device, bytes, ret_bytes_per_s, reason, cap);
}
