/* The host of a shared object: calls it in this process, and times each call. Its memory of each symbol is
 * the engine's too, so that a host that is opened after a restart continues with it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "strategy/intent.h"
#include "strategy/library.h"

enum { STATE_ALIGNMENT = 8 };

struct library_host {
    struct strategy_host host; /* the first member */
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    int64_t limit_ns;
    int n_symbols;
    uint32_t state_size; /* of the table */
    size_t stride;
    unsigned char *states; /* [n_symbols], `stride` apart */
};

static struct library_host *of(struct strategy_host *host)
{
    return (struct library_host *)host;
}

/* Another size than now: the file was changed, and what it left is nothing that it can read. */
static void take_state(struct library_host *host, int symbol, const struct strategy_kept *kept)
{
    if (kept->len == host->state_size && kept->len > 0)
        memcpy(host->states + (size_t)symbol * host->stride, kept->bytes, kept->len);
}

static int open_host(const struct strategy *strategy, const double *params,
                     const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                     size_t err_size)
{
    const struct strategy_library *library = strategy->external->ctx;
    struct library_host *host = library ? calloc(1, sizeof *host) : NULL;
    if (!library) /* what a log describes */
        return fail_with(-ENOENT, err, err_size, "%.200s is not loaded", strategy->external->source);
    if (!host)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    host->strategy = strategy;
    memcpy(host->params, params, sizeof host->params);
    host->limit_ns = hello->limit_ns;
    host->n_symbols = hello->n_symbols;
    host->state_size = library->table.state_size;
    host->stride = (host->state_size + STATE_ALIGNMENT) / STATE_ALIGNMENT * STATE_ALIGNMENT;
    host->states = calloc((size_t)hello->n_symbols + 1, host->stride);
    if (!host->states) {
        free(host);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    for (int s = 0; hello->states && s < hello->n_symbols; s++)
        take_state(host, s, &hello->states[s]);
    *ret = &host->host;
    return 0;
}

static void put_intents(struct strategy_decision *ret, const struct intent *intents, size_t n)
{
    ret->n = (uint32_t)(n < INTENTS_ROOM ? n : INTENTS_ROOM);
    for (size_t i = 0; i < n && i < STRATEGY_INTENTS_MAX; i++) {
        const char *why = intents[i].why ? intents[i].why : "";
        ret->intents[i] = intents[i];
        memset(ret->whys[i], 0, sizeof ret->whys[i]);
        memcpy(ret->whys[i], why, strnlen(why, STRATEGY_WHY_MAX - 1));
        ret->intents[i].why = ret->whys[i];
    }
}

/* A call that took longer has changed its memory all the same: what it remembers stays true to its bars. */
static void decide(struct strategy_host *base, const struct strategy_request *request,
                   struct strategy_decision *ret)
{
    struct library_host *host = of(base);
    struct intent intents[INTENTS_ROOM];
    *ret = (struct strategy_decision){.outcome = STRATEGY_INVALID};
    if (request->symbol < 0 || request->symbol >= host->n_symbols) {
        snprintf(ret->fault, sizeof ret->fault, "a bar of symbol %d, and it was started for %d",
                 request->symbol, host->n_symbols);
        return;
    }
    unsigned char *state = host->states + (size_t)request->symbol * host->stride;
    double started_s = clock_now_s();
    size_t n = strategy_library_on_bar(host->strategy, host->params, state, &request->input, intents);
    double took_s = clock_now_s() - started_s;
    ret->keeps = host->state_size > 0;
    ret->state = (struct strategy_kept){state, host->state_size};
    if (host->limit_ns > 0 && took_s * 1e9 > (double)host->limit_ns) {
        ret->outcome = STRATEGY_LATE;
        snprintf(ret->fault, sizeof ret->fault, "the call took %.0f ms, and its limit is %.0f ms",
                 took_s * 1e3, (double)host->limit_ns / 1e6);
        return;
    }
    ret->outcome = STRATEGY_DECIDED;
    put_intents(ret, intents, n);
}

static void close_host(struct strategy_host *base)
{
    free(of(base)->states);
    free(of(base));
}

const struct strategy_form_row strategy_library_form = {.open = strategy_library_open,
                                                        .host_open = open_host,
                                                        .host_decide = decide,
                                                        .host_close = close_host};
