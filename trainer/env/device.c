#include "trainer/env/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "trainer/env/columns.h"
#include "trainer/env/cuda/abi.h"
#include "trainer/env/cuda/layout.h"
#include "trainer/env/internal.h"
#include "trainer/env/scalar/masks.h"

struct env_device_market {
    const struct gpu_env_api *api;
    struct gpu_env_market *on_device;
    const float *close;             /* the host's: which market this is, */
    const struct env_block *blocks; /* and within which blocks */
};

/* All columns of an environment lie in [at, at + bytes). */
struct device_columns {
    unsigned char *at;
    size_t bytes;
};

struct env_device {
    const struct gpu_env_api *api;
    struct gpu_env *on_device;
    const struct env *env; /* whose parameters it has */
    uint64_t seed;
    struct device_columns columns;
    size_t copies;
};

static struct device_columns columns_of(const struct env_view *view)
{
    size_t n;
    const struct env_column *all = env_columns(&n);
    unsigned char *first = NULL, *end = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned char *at = env_column_data(&all[i], view);
        if (!at)
            continue;
        size_t elements = view->state.stride * (all[i].assets ? (size_t)view->state.n : 1);
        unsigned char *behind = at + elements * env_column_size(&all[i], &view->params);
        first = !first || at < first ? at : first;
        end = !end || behind > end ? behind : end;
    }
    return (struct device_columns){first, (size_t)(end - first)};
}

/* Do two environments have the same columns at the same places of their memory? */
static bool same_shape(const struct env_view *a, const struct env_view *b)
{
    size_t n;
    const struct env_column *all = env_columns(&n);
    struct device_columns in_a = columns_of(a), in_b = columns_of(b);
    bool same = in_a.bytes == in_b.bytes && a->state.copies == b->state.copies &&
                a->state.stride == b->state.stride && a->state.n == b->state.n;
    for (size_t i = 0; i < n && same; i++) {
        const unsigned char *at_a = env_column_data(&all[i], a), *at_b = env_column_data(&all[i], b);
        same = !at_a == !at_b && (!at_a || at_a - in_a.at == at_b - in_b.at);
    }
    return same;
}

int env_device_market_create(struct gpu_module *module, const struct env_market *market,
                             struct env_device_market **ret, char err[static ENV_ERROR_MAX])
{
    const void *api;
    int r = gpu_module_table(module, GPU_ENV_SYMBOL, GPU_ENV_ABI, &api, err, ENV_ERROR_MAX);
    if (r < 0)
        return r;
    struct env_device_market *m = calloc(1, sizeof(*m));
    if (!m)
        return fail_with(-ENOMEM, err, ENV_ERROR_MAX, "out of memory");
    m->api = api;
    m->close = env_market_view(market)->close;
    m->blocks = env_market_view(market)->blocks;
    r = m->api->market_create(gpu_module_handle(module), env_market_view(market), &m->on_device, err,
                              ENV_ERROR_MAX);
    if (r < 0) {
        free(m);
        return r;
    }
    *ret = m;
    return 0;
}

void env_device_market_destroy(struct env_device_market *market)
{
    if (!market)
        return;
    market->api->market_destroy(market->on_device);
    free(market);
}

int env_device_create(struct env_device_market *market, const struct env *env, struct env_device **ret,
                      char err[static ENV_ERROR_MAX])
{
    const struct env_view *view = &env->view;
    if (view->market.close != market->close || view->market.blocks != market->blocks)
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "the environment is one of another market than the device's");
    size_t copies = view->state.copies;
    struct env_device *d = calloc(1, sizeof(*d));
    if (!d)
        return fail_with(-ENOMEM, err, ENV_ERROR_MAX, "out of memory");
    *d = (struct env_device){.api = market->api, .env = env, .columns = columns_of(view), .copies = copies};
    int r = d->api->create(market->on_device, view, d->columns.at, d->columns.bytes, &d->on_device, err,
                           ENV_ERROR_MAX);
    if (r < 0) {
        free(d);
        return r;
    }
    r = env_device_load(d, env, err);
    if (r < 0) {
        env_device_destroy(d);
        return r;
    }
    *ret = d;
    return 0;
}

void env_device_destroy(struct env_device *device)
{
    if (!device)
        return;
    device->api->destroy(device->on_device);
    free(device);
}

size_t env_device_market_bytes(const struct env *env)
{
    struct layout_piece pieces[LAYOUT_ARRAYS];
    return layout_market(&env->view.market, pieces);
}

size_t env_device_bytes(const struct env *env)
{
    const struct env_view *view = &env->view;
    const size_t observations = view->params.autoreset == ENV_SAME_STEP ? 2 : 1;
    const size_t copy =
        2 * sizeof(int32_t)    /* windows */
        + sizeof(float) + 2    /* rewards and ends */
        + 1                    /* a mask of copies */
        + env_masks_size(view) /* and of actions */
        + sizeof(float) * ((size_t)view->action_size + observations * (size_t)view->observation_size);
    return columns_of(view).bytes + view->state.copies * copy + sizeof(uint64_t) /* a fault */;
}

static int check_shape(const struct env_device *device, const struct env *env, char err[static ENV_ERROR_MAX])
{
    int r = env_check_same(env, device->env, err);
    if (r < 0 || same_shape(&device->env->view, &env->view))
        return r;
    return fail_with(
        -EINVAL, err, ENV_ERROR_MAX,
        "the environment's columns lie otherwise than the device's: both must be of one library");
}

int env_device_store(struct env_device *device, struct env *env, char err[static ENV_ERROR_MAX])
{
    int r = check_shape(device, env, err);
    if (r < 0)
        return r;
    r = device->api->read(device->on_device, columns_of(&env->view).at, err, ENV_ERROR_MAX);
    if (r == 0)
        env->view.seed = device->seed;
    return r;
}

int env_device_load(struct env_device *device, const struct env *env, char err[static ENV_ERROR_MAX])
{
    const struct env_view *view = &env->view;
    int r = check_shape(device, env, err);
    if (r == 0)
        r = device->api->draws(device->on_device, view->seed, view->starts, view->lengths, err,
                               ENV_ERROR_MAX);
    if (r == 0)
        r = device->api->write(device->on_device, columns_of(view).at, err, ENV_ERROR_MAX);
    if (r == 0)
        device->seed = view->seed;
    return r;
}

int env_device_reset(struct env_device *device, const uint8_t *mask, char err[static ENV_ERROR_MAX])
{
    return device->api->reset(device->on_device, mask, err, ENV_ERROR_MAX);
}

int env_device_step(struct env_device *device, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    size_t action_size = (size_t)device->env->view.action_size;
    struct env_step_io step = {.actions = io->actions,
                               .copy_step = io->actions_by_column ? 1 : action_size,
                               .action_step = io->actions_by_column ? device->copies : 1};
    struct gpu_env_fault fault;
    int r = env_check_actions(device->env, &step, err);
    if (r == 0)
        r = device->api->actions(device->on_device, io->actions, 1, io->actions_by_column, err,
                                 ENV_ERROR_MAX);
    if (r == 0)
        r = device->api->run(device->on_device, 1, false, false, NULL, err, ENV_ERROR_MAX);
    if (r == 0)
        r = device->api->results(device->on_device, 1, io->rewards, io->terminated, io->truncated,
                                 io->final_obs, &fault, err, ENV_ERROR_MAX);
    return r;
}

int env_device_observe(struct env_device *device, float *ret, char err[static ENV_ERROR_MAX])
{
    return device->api->observe(device->on_device, ret, err, ENV_ERROR_MAX);
}

int env_device_run_observations(struct env_device *device, float *ret, char err[static ENV_ERROR_MAX])
{
    return device->api->observed(device->on_device, ret, err, ENV_ERROR_MAX);
}

int env_device_masks(struct env_device *device, uint8_t *ret, char err[static ENV_ERROR_MAX])
{
    return device->api->masks(device->on_device, ret, err, ENV_ERROR_MAX);
}

int env_device_actions(struct env_device *device, const float *actions, size_t n_steps, bool by_column,
                       char err[static ENV_ERROR_MAX])
{
    return device->api->actions(device->on_device, actions, n_steps, by_column, err, ENV_ERROR_MAX);
}

/* Waits; the last n_steps steps' results, where `ret` is not NULL. */
static int take_results(struct env_device *device, size_t n_steps, const struct env_device_results *ret,
                        char err[static ENV_ERROR_MAX])
{
    static const struct env_device_results none;
    struct gpu_env_fault fault;
    const struct env_device_results *to = ret ? ret : &none;
    int r = device->api->results(device->on_device, ret ? n_steps : 0, to->rewards, to->terminated,
                                 to->truncated, to->final_obs, &fault, err, ENV_ERROR_MAX);
    if (r == 0 && fault.found) {
        snprintf(
            err, ENV_ERROR_MAX,
            "step %llu: copy %llu: the action of asset %u is not finite, or no level: it was not stepped",
            (unsigned long long)fault.step, (unsigned long long)fault.copy, fault.asset);
        return -EINVAL;
    }
    return r;
}

int env_device_run(struct env_device *device, size_t n_steps, bool observe,
                   const struct env_device_results *ret, float *ret_ms, char err[static ENV_ERROR_MAX])
{
    int r = device->api->run(device->on_device, n_steps, observe, ret != NULL, ret_ms, err, ENV_ERROR_MAX);
    return r == 0 ? take_results(device, n_steps, ret, err) : r;
}

int env_device_buffers(struct env_device *device, struct env_device_io *ret, void **ret_stream,
                       char err[static ENV_ERROR_MAX])
{
    return device->api->buffers(device->on_device, ret, ret_stream, err, ENV_ERROR_MAX);
}

int env_device_queue(struct env_device *device, const struct env_device_io *io, void *stream,
                     char err[static ENV_ERROR_MAX])
{
    if (io->actions && !(io->rewards && io->terminated && io->truncated))
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "a step needs room for rewards, terminated and truncated");
    return device->api->step(device->on_device, io, stream, err, ENV_ERROR_MAX);
}

int env_device_wait(struct env_device *device, const struct env_device_results *ret,
                    char err[static ENV_ERROR_MAX])
{
    return take_results(device, 1, ret, err);
}
