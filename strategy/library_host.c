/* The host of a shared object: calls it in this process, and times each call. What it remembers of a symbol
 * is the engine's, which gives it with each bar and keeps what is left after it: so a restart, a replay and a
 * call that was late leave nothing behind here. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "strategy/intent.h"
#include "strategy/library.h"

struct library_host {
    struct strategy_host host; /* the first member */
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    int64_t limit_ns;
    uint32_t state_size;                         /* of the table */
    struct intent *intents;                      /* [strategy_library_room()] of so many symbols */
    _Alignas(max_align_t) unsigned char state[]; /* of the symbol that is asked of */
};

static struct library_host *of(struct strategy_host *host)
{
    return (struct library_host *)host;
}

static int open_host(const struct strategy *strategy, const double *params,
                     const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                     size_t err_size)
{
    const struct strategy_library *library = strategy->external->ctx;
    if (!library) /* what a log describes */
        return fail_with(-ENOENT, err, err_size, "%.200s is not loaded", strategy->external->source);
    struct library_host *host = calloc(1, sizeof *host + library->table.state_size);
    struct intent *intents = calloc(strategy_library_room(hello->n_symbols), sizeof *intents);
    if (!host || !intents) {
        free(host);
        free(intents);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    host->intents = intents;
    host->strategy = strategy;
    memcpy(host->params, params, sizeof host->params);
    host->limit_ns = hello->limit_ns;
    host->state_size = library->table.state_size;
    *ret = &host->host;
    return 0;
}

/* What the last decision on this symbol left. Nothing, or of another size: the file was changed, and begins.
 */
static void take_state(struct library_host *host, const struct strategy_request *request)
{
    memset(host->state, 0, host->state_size);
    if (!request->begins && request->state.len == host->state_size && host->state_size > 0)
        memcpy(host->state, request->state.bytes, host->state_size);
}

static void put_intents(struct strategy_decision *ret, const struct intent *intents, size_t n)
{
    ret->n = (uint32_t)(n < STRATEGY_SAID_MAX ? n : STRATEGY_SAID_MAX);
    for (size_t i = 0; i < n && i < STRATEGY_DECISION_MAX; i++) {
        const char *why = intents[i].why ? intents[i].why : "";
        ret->intents[i] = intents[i];
        memset(ret->whys[i], 0, sizeof ret->whys[i]);
        memcpy(ret->whys[i], why, strnlen(why, STRATEGY_WHY_MAX - 1));
        ret->intents[i].why = ret->whys[i];
    }
}

static void decide(struct strategy_host *base, const struct strategy_request *request,
                   struct strategy_decision *ret)
{
    struct library_host *host = of(base);
    take_state(host, request);
    double started_s = clock_now_s();
    size_t n =
        strategy_library_on_bar(host->strategy, host->params, host->state, &request->input, host->intents);
    double took_s = clock_now_s() - started_s;
    ret->outcome = STRATEGY_DECIDED;
    ret->fault[0] = '\0';
    ret->n = 0;
    ret->keeps = false;
    ret->state = (struct strategy_kept){0};
    if (host->limit_ns > 0 && took_s * 1e9 > (double)host->limit_ns) {
        ret->outcome = STRATEGY_LATE;
        snprintf(ret->fault, sizeof ret->fault, "the call took %.0f ms, and its limit is %.0f ms",
                 took_s * 1e3, (double)host->limit_ns / 1e6);
        return;
    }
    ret->keeps = host->state_size > 0;
    ret->state = (struct strategy_kept){host->state, host->state_size};
    put_intents(ret, host->intents, n);
}

static void close_host(struct strategy_host *base)
{
    free(of(base)->intents);
    free(of(base));
}

const struct strategy_form_row strategy_library_form = {
    .open = strategy_library_open, .host_open = open_host, .host_decide = decide, .host_close = close_host};
