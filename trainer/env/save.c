#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/env/inside.h"

/* What is written first; then each column's copies, and the windows. */
struct head {
    char magic[8];
    uint64_t copies, bytes;
    int32_t n, execution, task, float32;
    int32_t starts, lengths; /* are there windows? */
};

static const char magic[8] = "ptenv\0\1";

static size_t column_bytes(const struct env_view *view, const struct env_column *column)
{
    return view->state.copies * env_column_size(column, &view->params);
}

size_t env_state_bytes(const struct env *env)
{
    const struct env_view *view = &env->view;
    size_t n, bytes = sizeof(struct head) + 2 * view->state.copies * sizeof(int32_t);
    const struct env_column *columns = env_columns(&n);
    for (size_t i = 0; i < n; i++)
        if (env_column_used(&columns[i], &view->params))
            bytes += column_bytes(view, &columns[i]) * (columns[i].assets ? (size_t)view->state.n : 1);
    return bytes;
}

static struct head make_head(const struct env *env)
{
    const struct env_view *view = &env->view;
    struct head head = {
        .copies = view->state.copies,
        .bytes = env_state_bytes(env),
        .n = view->state.n,
        .execution = (int32_t)view->params.execution,
        .task = (int32_t)view->params.task,
        .float32 = view->params.float32,
    };
    memcpy(head.magic, magic, sizeof magic);
    return head;
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
    struct head head = make_head(env);
    size_t windows = head.copies * sizeof(int32_t);
    char *at = ret, *end = at + head.bytes;
    head.starts = env->view.starts != NULL;
    head.lengths = env->view.lengths != NULL;
    memset(end - 2 * windows, 0, 2 * windows);
    if (head.starts)
        memcpy(end - 2 * windows, env->view.starts, windows);
    if (head.lengths)
        memcpy(end - windows, env->view.lengths, windows);
    memcpy(at, &head, sizeof head);
    move_columns(&env->view, at + sizeof head, true);
}

static int load_windows(struct env *env, const struct head *head, const char *from,
                        char err[static ENV_ERROR_MAX])
{
    size_t windows = head->copies * sizeof(int32_t);
    if (head->starts && !env->starts)
        env->starts = malloc(windows);
    if (head->lengths && !env->lengths)
        env->lengths = malloc(windows);
    if ((head->starts && !env->starts) || (head->lengths && !env->lengths)) {
        snprintf(err, ENV_ERROR_MAX, "copies: %zu: no memory for their windows", (size_t)head->copies);
        return -ENOMEM;
    }
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
    struct head own = make_head(env), head;
    memcpy(&head, state, sizeof head);
    if (memcmp(head.magic, own.magic, sizeof own.magic) != 0) {
        snprintf(err, ENV_ERROR_MAX, "state: these are not the bytes that env_save() writes");
        return -EINVAL;
    }
    if (head.copies != own.copies || head.n != own.n || head.execution != own.execution ||
        head.task != own.task || head.float32 != own.float32 || head.bytes != own.bytes) {
        snprintf(
            err, ENV_ERROR_MAX,
            "state: it has %llu copies of %d assets, execution %d, task %d, float32 %d; this environment "
            "has %llu of %d, %d, %d, %d",
            (unsigned long long)head.copies, head.n, head.execution, head.task, head.float32,
            (unsigned long long)own.copies, own.n, own.execution, own.task, own.float32);
        return -EINVAL;
    }
    const char *at = state;
    int rc = load_windows(env, &head, at + head.bytes - 2 * head.copies * sizeof(int32_t), err);
    if (rc < 0)
        return rc;
    move_columns(&env->view, (char *)(uintptr_t)(at + sizeof head), false);
    return 0;
}
