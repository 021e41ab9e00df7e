#include "strategy/policy/device.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/fail.h"
#include "indicators_gpu/module.h"
#include "strategy/policy/device_steps.h"

enum { CLOSE_WAIT_MS = 2000 };

enum slot_state { SLOT_QUEUED, SLOT_READY, SLOT_LEAVING };

/* The current work of the device's thread. */
enum device_work { WORK_IDLE, WORK_BUSY /* opening, uploading a model, freeing one */, WORK_ANSWERING };

struct net_slot {
    struct net_device *device;
    struct net_slot *next;
    enum slot_state state;
    struct net_model *owner;   /* the owner of this place; NULL: it is gone */
    struct device_model model; /* until the upload */
    struct gpu_policy *there;  /* the thread's */
    size_t n_observation, n_hidden, n_heads;
    float *observation, *hidden, *heads; /* pinned inputs and outputs */
    bool answered;                       /* the device computed the last answer */
};

/* Everything except `there` and what `work` covers is under the lock. */
struct net_device {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wanted, changed; /* there is work; some of it is done */
    char *path;                     /* NULL: the default module */
    struct gpu_module *module;
    const struct gpu_policy_api *api;
    char name[NET_DEVICE_NAME_MAX];
    atomic_bool open;
    struct net_slot *slots;
    enum device_work work;
    struct net_slot *asked; /* a request that the thread has not started, or is computing */
    bool answered;          /* the request is answered */
    bool busy;              /* a caller waits for an answer */
    int wait_ms;
    bool lost, quits, left; /* left: no caller joins the thread */
    char why[NET_DEVICE_ERROR_MAX];
};

static struct timespec deadline_in(int ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Under the lock. The first reason is kept. */
static void lose(struct net_device *d, const char *why)
{
    if (!d->lost)
        snprintf(d->why, sizeof d->why, "%s", why);
    d->lost = true;
    pthread_cond_broadcast(&d->changed);
}

/* ---- the thread ---- */

static void free_slot(struct net_slot *slot)
{
    policy_device_model_finish(&slot->model);
    free(slot->observation);
    free(slot);
}

static void unlink_slot(struct net_device *d, struct net_slot *slot)
{
    struct net_slot **at = &d->slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
}

static void open_module(struct net_device *d)
{
    char reason[GPU_REASON_MAX] = "";
    struct gpu_module *module = NULL;
    const void *api = NULL;
    int r = gpu_module_open(d->path, &module, reason, sizeof reason);
    if (r == 0)
        r = gpu_module_table(module, GPU_POLICY_SYMBOL, GPU_POLICY_ABI, &api, reason, sizeof reason);
    if (r == 0)
        snprintf(d->name, sizeof d->name, "gpu: %s", gpu_module_device(module));
    pthread_mutex_lock(&d->lock);
    d->module = module;
    d->api = api;
    if (r < 0)
        lose(d, reason);
    else
        atomic_store(&d->open, true); /* the name no longer changes */
    d->work = WORK_IDLE;
    pthread_cond_broadcast(&d->changed);
}

static struct net_slot *find(struct net_device *d, enum slot_state state)
{
    struct net_slot *slot = d->slots;
    while (slot && slot->state != state)
        slot = slot->next;
    return slot;
}

/* Each is called with the lock, and releases it while it talks to the device. */

static void take_there(struct net_device *d, struct net_slot *slot)
{
    char reason[GPU_REASON_MAX] = "";
    d->work = WORK_BUSY;
    pthread_mutex_unlock(&d->lock);
    int r =
        d->api->create(gpu_module_handle(d->module), &slot->model.setup, &slot->there, reason, sizeof reason);
    pthread_mutex_lock(&d->lock);
    policy_device_model_finish(&slot->model);
    if (r < 0) {
        slot->there = NULL;
        lose(d, reason);
    }
    if (slot->state == SLOT_QUEUED)
        slot->state = SLOT_READY;
    d->work = WORK_IDLE;
    pthread_cond_broadcast(&d->changed);
}

static void let_go(struct net_device *d, struct net_slot *slot)
{
    unlink_slot(d, slot);
    d->work = WORK_BUSY;
    pthread_mutex_unlock(&d->lock);
    if (slot->there)
        d->api->destroy(slot->there);
    free_slot(slot);
    pthread_mutex_lock(&d->lock);
    d->work = WORK_IDLE;
    pthread_cond_broadcast(&d->changed);
}

static void answer(struct net_device *d, struct net_slot *slot)
{
    char reason[GPU_REASON_MAX] = "";
    d->work = WORK_ANSWERING;
    pthread_mutex_unlock(&d->lock);
    int r = d->api->heads(slot->there, slot->observation, slot->hidden, slot->heads, reason, sizeof reason);
    pthread_mutex_lock(&d->lock);
    d->work = WORK_IDLE;
    d->asked = NULL;
    d->answered = r == 0;
    if (r < 0)
        lose(d, reason);
    pthread_cond_broadcast(&d->changed);
}

static void free_device(struct net_device *d)
{
    while (d->slots) {
        struct net_slot *slot = d->slots;
        d->slots = slot->next;
        if (slot->there)
            d->api->destroy(slot->there);
        free_slot(slot);
    }
    gpu_module_close(d->module);
    pthread_cond_destroy(&d->wanted);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d->path);
    free(d);
}

static void *run(void *ctx)
{
    struct net_device *d = ctx;
    open_module(d);
    while (!d->quits) {
        struct net_slot *leaving = find(d, SLOT_LEAVING), *queued = d->lost ? NULL : find(d, SLOT_QUEUED);
        if (d->asked && !d->lost)
            answer(d, d->asked);
        else if (leaving)
            let_go(d, leaving);
        else if (queued)
            take_there(d, queued);
        else
            pthread_cond_wait(&d->wanted, &d->lock);
    }
    bool left = d->left;
    pthread_mutex_unlock(&d->lock);
    if (left)
        free_device(d);
    return NULL;
}

/* ---- life ---- */

static bool init_locks(struct net_device *d)
{
    pthread_condattr_t clock;
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    bool good = pthread_cond_init(&d->wanted, &clock) == 0 && pthread_cond_init(&d->changed, &clock) == 0;
    pthread_condattr_destroy(&clock);
    return good;
}

#define say(err, code, words) fail_with(code, err, NET_DEVICE_ERROR_MAX, "%s", words)

int policy_net_device_open(const char *path, struct net_device **ret, char err[static NET_DEVICE_ERROR_MAX])
{
    sigset_t all, before;
    struct net_device *d = calloc(1, sizeof *d);
    char *copy = path ? strdup(path) : NULL;
    if (!d || (path && !copy) || !init_locks(d)) {
        free(copy);
        free(d);
        return say(err, -ENOMEM, "out of memory: the device for policies");
    }
    d->path = copy;
    d->wait_ms = NET_DEVICE_WAIT_MS;
    d->work = WORK_BUSY;
    snprintf(d->name, sizeof d->name, "gpu");
    sigfillset(&all); /* signals are for other threads */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int r = pthread_create(&d->thread, NULL, run, d);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r != 0) {
        free_device(d);
        return say(err, -EAGAIN, "no thread for the device: a higher limit of them would be right");
    }
    *ret = d;
    return 0;
}

static atomic_bool abandoned;

bool policy_net_device_abandoned(void)
{
    return atomic_load(&abandoned);
}

void policy_net_device_close(struct net_device *d)
{
    if (!d)
        return;
    const struct timespec until = deadline_in(CLOSE_WAIT_MS);
    pthread_mutex_lock(&d->lock);
    d->quits = true;
    for (struct net_slot *slot = d->slots; slot; slot = slot->next)
        if (slot->owner)
            slot->owner->slot = NULL; /* the CPU computes it from here on */
    pthread_cond_broadcast(&d->wanted);
    while (d->work != WORK_IDLE && pthread_cond_timedwait(&d->changed, &d->lock, &until) == 0)
        continue;
    bool answers = d->work == WORK_IDLE;
    d->left = !answers; /* then the thread frees it, should it ever return */
    pthread_t thread = d->thread;
    pthread_mutex_unlock(&d->lock);
    if (answers) {
        pthread_join(thread, NULL);
        free_device(d);
    } else {
        atomic_store(&abandoned, true);
        pthread_detach(thread);
    }
}

void policy_net_device_patience(struct net_device *d, int wait_ms)
{
    pthread_mutex_lock(&d->lock);
    d->wait_ms = wait_ms;
    pthread_mutex_unlock(&d->lock);
}

const char *policy_net_device_name(const struct net_device *d)
{
    return atomic_load(&d->open) ? d->name : "gpu";
}

bool policy_net_device_is_lost(struct net_device *d, char err[static NET_DEVICE_ERROR_MAX])
{
    pthread_mutex_lock(&d->lock);
    bool lost = d->lost;
    if (lost)
        snprintf(err, NET_DEVICE_ERROR_MAX, "%s", d->why);
    pthread_mutex_unlock(&d->lock);
    return lost;
}

bool policy_net_device_settle(struct net_device *d, int timeout_ms)
{
    const struct timespec until = deadline_in(timeout_ms);
    pthread_mutex_lock(&d->lock);
    while (!d->lost && (d->work != WORK_IDLE || find(d, SLOT_QUEUED) || find(d, SLOT_LEAVING)) &&
           pthread_cond_timedwait(&d->changed, &d->lock, &until) == 0)
        continue;
    bool settled = !d->lost && d->work == WORK_IDLE && !find(d, SLOT_QUEUED);
    pthread_mutex_unlock(&d->lock);
    return settled;
}

/* ---- models ---- */

static struct net_slot *make_slot(struct net_model *model, struct net_device *d)
{
    struct net_slot *slot = calloc(1, sizeof *slot);
    if (!slot || policy_device_model_init(&slot->model, model) < 0) {
        free(slot);
        return NULL;
    }
    const struct gpu_policy_setup *setup = &slot->model.setup;
    slot->device = d;
    slot->owner = model;
    slot->n_observation = setup->observation;
    slot->n_hidden = setup->hidden;
    slot->n_heads = setup->outputs;
    slot->observation = calloc(slot->n_observation + slot->n_hidden + slot->n_heads, sizeof(float));
    if (!slot->observation) {
        free_slot(slot);
        return NULL;
    }
    slot->hidden = slot->observation + slot->n_observation;
    slot->heads = slot->hidden + slot->n_hidden;
    return slot;
}

int policy_net_model_on_device(struct net_model *model, struct net_device *d,
                               char err[static NET_DEVICE_ERROR_MAX])
{
    if (model->slot)
        return say(err, -EALREADY, "the policy is on a device already");
    if (policy_net_device_is_lost(d, err))
        return -EIO;
    struct net_slot *slot = make_slot(model, d);
    if (!slot)
        return say(err, -ENOMEM, "out of memory: a policy for the device");
    pthread_mutex_lock(&d->lock);
    slot->next = d->slots;
    d->slots = slot;
    pthread_cond_signal(&d->wanted);
    pthread_mutex_unlock(&d->lock);
    model->slot = slot;
    return 0;
}

void policy_net_slot_leave(struct net_slot *slot)
{
    struct net_device *d = slot->device;
    pthread_mutex_lock(&d->lock);
    slot->state = SLOT_LEAVING;
    slot->owner = NULL;
    pthread_cond_signal(&d->wanted);
    pthread_mutex_unlock(&d->lock);
}

/* Under the lock: the request, and its answer in time. */
static bool ask(struct net_device *d, struct net_slot *slot, const struct timespec *until)
{
    d->busy = true;
    d->asked = slot;
    d->answered = false;
    pthread_cond_signal(&d->wanted);
    while (!d->answered && !d->lost)
        if (pthread_cond_timedwait(&d->changed, &d->lock, until) == ETIMEDOUT && !d->answered && !d->lost) {
            char why[NET_DEVICE_ERROR_MAX];
            snprintf(why, sizeof why, "%s: no answer within %d ms", d->name, d->wait_ms);
            lose(d, why);
        }
    d->busy = false;
    pthread_cond_broadcast(&d->changed);
    return d->answered;
}

bool policy_net_slot_heads(struct net_slot *slot, const float *observation, float *hidden, float *ret)
{
    struct net_device *d = slot->device;
    bool in_time = true, answered = false;
    pthread_mutex_lock(&d->lock);
    const struct timespec until = deadline_in(d->wait_ms);
    while (d->busy && !d->lost && in_time)
        in_time = pthread_cond_timedwait(&d->changed, &d->lock, &until) == 0;
    if (in_time && !d->lost && d->work != WORK_BUSY && slot->state == SLOT_READY) {
        memcpy(slot->observation, observation, slot->n_observation * sizeof(float));
        memcpy(slot->hidden, hidden, slot->n_hidden * sizeof(float));
        answered = ask(d, slot, &until);
    }
    if (answered) {
        memcpy(hidden, slot->hidden, slot->n_hidden * sizeof(float));
        memcpy(ret, slot->heads, slot->n_heads * sizeof(float));
    }
    slot->answered = answered;
    pthread_mutex_unlock(&d->lock);
    return answered;
}

const char *policy_net_model_backend(const struct net_model *model)
{
    struct net_slot *slot = model->slot;
    if (!slot)
        return policy_net_model_cpu(model);
    pthread_mutex_lock(&slot->device->lock);
    bool answered = slot->answered;
    pthread_mutex_unlock(&slot->device->lock);
    return answered ? slot->device->name : policy_net_model_cpu(model);
}

static const struct net_model *model_of(const struct policy *policy)
{
    return strcmp(policy->kind, "trained") == 0 ? ((const struct trained_policy *)policy)->model : NULL;
}

int policy_on_device(const struct policy *policy, struct net_device *device,
                     char err[static NET_DEVICE_ERROR_MAX])
{
    /* A policy is read only, except where it is computed, which changes no bit. */
    struct net_model *model = (struct net_model *)(uintptr_t)model_of(policy);
    int r = model ? policy_net_model_on_device(model, device, err) : 0;
    for (int i = 0; i < policy->n_members; i++) {
        char why[NET_DEVICE_ERROR_MAX];
        int one = policy_on_device(policy->members[i], device, why);
        if (one < 0 && r == 0) {
            memcpy(err, why, sizeof why);
            r = one;
        }
    }
    return r;
}

const char *policy_backend(const struct policy *policy)
{
    const struct net_model *model = model_of(policy);
    for (int i = 0; i < policy->n_members; i++) {
        const char *backend = policy_backend(policy->members[i]);
        if (i + 1 == policy->n_members || strcmp(backend, policy->members[i]->backend) == 0)
            return backend; /* a CPU that computed one of them */
    }
    return model ? policy_net_model_backend(model) : policy->backend;
}
