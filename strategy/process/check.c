/* What a process says of its parameters: a sweep asks for each of its sets, so one process answers for all,
 * and starts again when it has ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "strategy/process/process.h"

enum { REASONS_MAX = 256 };

/* A text that callers keep. */
struct process_reason {
    struct process_reason *next;
    char text[PROCESS_REASON_MAX];
};

/* The same text for as long as the program runs. */
static const char *keep(struct process_strategy *process, const char *text)
{
    struct process_reason *reason = process->reasons;
    size_t n = 0;
    for (; reason; reason = reason->next, n++)
        if (strcmp(reason->text, text) == 0)
            return reason->text;
    if (n < REASONS_MAX && (reason = malloc(sizeof *reason))) {
        snprintf(reason->text, sizeof reason->text, "%s", text);
        reason->next = process->reasons;
        process->reasons = reason;
        return reason->text;
    }
    return "the strategy refuses these parameters";
}

/* Ends the checker; why it ended by itself. -EPIPE, or -ETIMEDOUT of one that had not ended. */
static int lose(struct process_strategy *process, bool ended, char *why)
{
    char how[PROCESS_REASON_MAX];
    strategy_child_end(process->checker, true, ended ? how : NULL, sizeof how);
    process->checker = NULL;
    return fail_with(ended ? -EPIPE : -ETIMEDOUT, why, PROCESS_REASON_MAX, "%s",
                     ended ? how : strategy_unanswered);
}

/* One question. -EPIPE, -ETIMEDOUT: the checker is gone. */
static int ask(struct process_strategy *process, const char *hello, char specs[][STRATEGY_SPEC_TEXT],
               size_t *ret_n, char *why)
{
    const char *line;
    size_t len;
    int r = 0;
    if (!process->checker)
        r = strategy_child_start(process->external.source, NULL, &process->checker, why, PROCESS_REASON_MAX);
    if (r < 0)
        return r;
    r = strategy_child_send(process->checker, hello, strlen(hello));
    enum child_said said =
        r == 0 ? strategy_child_read(process->checker, clock_now_ns() + PROCESS_START_MS * INT64_C(1000000),
                                     &line, &len)
               : CHILD_NOTHING;
    if (said == CHILD_LINE)
        return strategy_process_ready(line, len, specs, ret_n, why);
    return lose(process, said == CHILD_ENDED, why);
}

/* 0, or -EINVAL: it refuses them; other errors: it cannot say. With a clause. */
static int answer(struct process_strategy *process, const double *params, char specs[][STRATEGY_SPEC_TEXT],
                  size_t *ret_n, char *why)
{
    char *hello = strategy_process_hello(&process->strategy, params, NULL, NULL);
    if (!hello)
        return fail_with(-ENOMEM, why, PROCESS_REASON_MAX, "not enough memory");
    bool ran = process->checker != NULL;
    int r = ask(process, hello, specs, ret_n, why);
    if ((r == -EPIPE || r == -ETIMEDOUT) && ran)
        r = ask(process, hello, specs, ret_n, why);
    free(hello);
    return r;
}

static struct process_checked *find(struct process_strategy *process, const double *params)
{
    for (unsigned i = 0; i < PROCESS_CHECKED_MAX && i < process->n_checked; i++)
        if (memcmp(process->checked[i].params, params, process->strategy.n_params * sizeof *params) == 0)
            return &process->checked[i];
    return NULL;
}

/* What it says, remembered; NULL: it cannot say, with *why until the next call. */
static struct process_checked *look(struct process_strategy *process, const double *params, const char **why)
{
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT], text[PROCESS_REASON_MAX];
    struct process_checked *found = find(process, params);
    size_t n = 0;
    if (found)
        return found;
    int r = answer(process, params, specs, &n, text);
    if (r < 0)
        *why = r == -ETIMEDOUT ? strategy_unanswered : keep(process, text);
    void *copy = r == 0 ? malloc(n * sizeof *specs + 1) : NULL;
    if (r != -EINVAL && !copy)
        return NULL;
    found = &process->checked[process->n_checked++ % PROCESS_CHECKED_MAX];
    free(found->specs);
    *found = (struct process_checked){.refused = r < 0 ? *why : NULL, .n_specs = n, .specs = copy};
    memcpy(found->params, params, process->strategy.n_params * sizeof *params);
    if (copy)
        memcpy(copy, specs, n * sizeof *specs);
    return found;
}

const char *strategy_process_check(const struct strategy *strategy, const double *params)
{
    struct process_strategy *process = strategy->external->ctx;
    const char *why = "not enough memory";
    pthread_mutex_lock(&process->lock);
    const struct process_checked *found = look(process, params, &why);
    if (found)
        why = found->refused;
    pthread_mutex_unlock(&process->lock);
    return why;
}

size_t strategy_process_specs(const struct strategy *strategy, const double *params,
                              char specs[][STRATEGY_SPEC_TEXT])
{
    struct process_strategy *process = strategy->external->ctx;
    const char *why = NULL;
    size_t n = STRATEGY_SPECS_UNKNOWN;
    pthread_mutex_lock(&process->lock);
    const struct process_checked *found = look(process, params, &why);
    if (found && !found->refused) {
        n = found->n_specs;
        memcpy(specs, found->specs, n * sizeof *found->specs);
    }
    pthread_mutex_unlock(&process->lock);
    return n;
}

struct process_strategy *strategy_process_of(const struct strategy *strategy)
{
    return strategy->external->check == strategy_process_check ? strategy->external->ctx : NULL;
}

void strategy_process_rest(const struct strategy *strategy)
{
    struct process_strategy *process = strategy_process_of(strategy);
    if (!process)
        return;
    pthread_mutex_lock(&process->lock);
    struct strategy_child *checker = process->checker;
    process->checker = NULL;
    pthread_mutex_unlock(&process->lock);
    strategy_child_end(checker, false, NULL, 0);
}

void strategy_process_free(struct process_strategy *process)
{
    if (!process)
        return;
    strategy_child_end(process->checker, true, NULL, 0);
    for (size_t i = 0; i < PROCESS_CHECKED_MAX; i++)
        free(process->checked[i].specs);
    for (struct process_reason *reason; (reason = process->reasons);) {
        process->reasons = reason->next;
        free(reason);
    }
    pthread_mutex_destroy(&process->lock);
    free(process->texts);
    free(process);
}
