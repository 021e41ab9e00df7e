#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "strategy/policy/limit_rules.h"
#include "trainer/env/internal.h"
#include "trainer/env/params.h"

enum { VALUE_MAX = 64 };

/* The head of a saved state; then come each column's copies, and the windows. Of an environment without
 * penalties on risk, or without limits, the head ends before them, as before they existed: older states can
 * be read. */
struct head {
    char magic[8];
    uint64_t head_bytes, copies, market, seed; /* market: its fingerprint */
    int32_t n;
    int32_t starts, lengths;  /* are there windows? */
    struct env_params params; /* padding is 0 */
};

enum {
    HEAD_WITHOUT_RISK = offsetof(struct head, params) + offsetof(struct env_params, drawdown_penalty),
    HEAD_WITHOUT_LIMITS = offsetof(struct head, params) + offsetof(struct env_params, limits),
};
static const char magic[8] = "ptenv\0\2";

static size_t head_bytes(const struct env_params *params)
{
    if (policy_has_limits(&params->limits))
        return sizeof(struct head);
    bool risk = params->drawdown_penalty > 0 || params->volatility_penalty > 0;
    return risk ? HEAD_WITHOUT_LIMITS : HEAD_WITHOUT_RISK;
}

static size_t column_bytes(const struct env_view *view, const struct env_column *column)
{
    return view->state.copies * env_column_size(column, &view->params);
}

size_t env_state_bytes(const struct env *env)
{
    const struct env_view *view = &env->view;
    size_t n, bytes = head_bytes(&view->params) + 2 * view->state.copies * sizeof(int32_t);
    const struct env_column *columns = env_columns(&n);
    for (size_t i = 0; i < n; i++)
        if (env_column_used(&columns[i], &view->params))
            bytes += column_bytes(view, &columns[i]) * (columns[i].assets ? (size_t)view->state.n : 1);
    return bytes;
}

/* The parameters alone, so that equal ones are equal bytes. */
static void copy_params(struct env_params *ret, const struct env_params *params)
{
    memset(ret, 0, sizeof *ret);
    size_t n;
    const struct config_key *keys = env_params_list(&n);
    for (const struct config_key *param = keys; param < keys + n; param++) {
        char *to = (char *)ret + param->offset;
        const char *from = (const char *)params + param->offset;
        bool text = param->kind == CONFIG_TEXT;
        memcpy(to, from, text ? strnlen(from, param->size) : param->size);
    }
}

static void make_head(const struct env *env, struct head *ret)
{
    const struct env_view *view = &env->view;
    memset(ret, 0, sizeof *ret);
    memcpy(ret->magic, magic, sizeof magic);
    ret->head_bytes = head_bytes(&view->params);
    ret->copies = view->state.copies;
    ret->market = env_market_fingerprint(env->market);
    ret->seed = view->seed;
    ret->n = view->state.n;
    ret->starts = view->starts != NULL;
    ret->lengths = view->lengths != NULL;
    copy_params(&ret->params, &view->params);
    ret->params.session = 0; /* older states have none; the market's fingerprint is of its rows */
    if (ret->head_bytes == HEAD_WITHOUT_RISK)
        ret->params.drawdown_penalty = ret->params.volatility_penalty = 0; /* -0 also means none */
}

static int check_head(const struct head *head, const struct head *own, char err[static ENV_ERROR_MAX])
{
    if (head->copies != own->copies || head->n != own->n)
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "state: it has %llu copies of %d assets; this environment has %llu of %d",
                         (unsigned long long)head->copies, head->n, (unsigned long long)own->copies, own->n);
    size_t n;
    const struct config_key *keys = env_params_list(&n);
    for (const struct config_key *param = keys; param < keys + n; param++) {
        if (memcmp((const char *)&head->params + param->offset, (const char *)&own->params + param->offset,
                   param->size) == 0)
            continue;
        char theirs[VALUE_MAX] = "", ours[VALUE_MAX] = "";
        env_params_get(&head->params, param->name, theirs, sizeof theirs);
        env_params_get(&own->params, param->name, ours, sizeof ours);
        return fail_with(-EINVAL, err, ENV_ERROR_MAX, "state: it is of %s %s; this environment has %s",
                         param->name, theirs, ours);
    }
    if (head->market != own->market)
        return fail_with(
            -EINVAL, err, ENV_ERROR_MAX,
            "state: it is of another market (%016llx) than this environment (%016llx): the same rows, "
            "features and symbols are right",
            (unsigned long long)head->market, (unsigned long long)own->market);
    return 0;
}

int env_check_same(const struct env *from, const struct env *to, char err[static ENV_ERROR_MAX])
{
    struct head theirs, own;
    make_head(from, &theirs);
    make_head(to, &own);
    return check_head(&theirs, &own, err);
}

/* Copies all columns out of the environment, or into it. */
static void move_columns(const struct env_view *view, char *memory, bool out)
{
    size_t n;
    const struct env_column *columns = env_columns(&n);
    for (size_t i = 0; i < n; i++) {
        if (!env_column_used(&columns[i], &view->params))
            continue;
        size_t bytes = column_bytes(view, &columns[i]),
               assets = columns[i].assets ? (size_t)view->state.n : 1;
        size_t step = view->state.stride * env_column_size(&columns[i], &view->params);
        char *column = env_column_data(&columns[i], view);
        for (size_t k = 0; k < assets; k++, memory += bytes) {
            if (out)
                memcpy(memory, column + k * step, bytes);
            else
                memcpy(column + k * step, memory, bytes);
        }
    }
}

void env_save(const struct env *env, void *ret)
{
    struct head head;
    make_head(env, &head);
    size_t windows = head.copies * sizeof(int32_t);
    char *at = ret, *end = at + env_state_bytes(env);
    memset(end - 2 * windows, 0, 2 * windows);
    if (head.starts)
        memcpy(end - 2 * windows, env->view.starts, windows);
    if (head.lengths)
        memcpy(end - windows, env->view.lengths, windows);
    memcpy(at, &head, head.head_bytes);
    move_columns(&env->view, at + head.head_bytes, true);
}

static int load_windows(struct env *env, const struct head *head, const char *from,
                        char err[static ENV_ERROR_MAX])
{
    size_t windows = head->copies * sizeof(int32_t);
    if (head->starts && !env->starts)
        env->starts = malloc(windows);
    if (head->lengths && !env->lengths)
        env->lengths = malloc(windows);
    if ((head->starts && !env->starts) || (head->lengths && !env->lengths))
        return fail_with(-ENOMEM, err, ENV_ERROR_MAX, "copies: %zu: no memory for their windows",
                         (size_t)head->copies);
    if (head->starts)
        memcpy(env->starts, from, windows);
    if (head->lengths)
        memcpy(env->lengths, from + windows, windows);
    env->view.starts = head->starts ? env->starts : NULL;
    env->view.lengths = head->lengths ? env->lengths : NULL;
    return 0;
}

int env_load(struct env *env, const void *state, char err[static ENV_ERROR_MAX])
{
    struct head own, head = {0};
    make_head(env, &own);
    memcpy(&head, state, HEAD_WITHOUT_RISK);
    bool known = memcmp(head.magic, own.magic, sizeof own.magic) == 0 &&
                 (head.head_bytes == HEAD_WITHOUT_RISK || head.head_bytes == HEAD_WITHOUT_LIMITS ||
                  head.head_bytes == sizeof head);
    if (known)
        memcpy(&head, state, head.head_bytes);
    if (!known || head.head_bytes != head_bytes(&head.params))
        return fail_with(-EINVAL, err, ENV_ERROR_MAX,
                         "state: these are not the bytes that this version's env_save() writes");
    int rc = env_params_check(&head.params, head.n, err);
    if (rc < 0) {
        snprintf(err, ENV_ERROR_MAX,
                 "state: its parameters are damaged: those that env_save() wrote are right");
        return rc;
    }
    rc = check_head(&head, &own, err);
    const char *at = state, *windows = at + env_state_bytes(env) - 2 * head.copies * sizeof(int32_t);
    if (rc == 0)
        rc = load_windows(env, &head, windows, err);
    if (rc < 0)
        return rc;
    env->view.seed = head.seed;
    move_columns(&env->view, (char *)(uintptr_t)(at + head.head_bytes), false);
    return 0;
}
