/* Built-in strategies as outside ones: "exec:sma-cross" is asked, by a host in this program, and decides as
 * sma-cross. Its memory is what it leaves with the engine, and nothing else. The program that includes this
 * links these forms instead of its own. */
#ifndef TESTS_ENGINE_WRAPPED_H
#define TESTS_ENGINE_WRAPPED_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/event.h"
#include "strategy/external.h"
#include "tests/check.h"

enum { WRAPPED_MOST = 32 };

struct wrapped {
    struct strategy strategy;
    struct strategy_external external;
    const struct strategy *inner;
    char name[STRATEGY_NAME_MAX];
};

struct wrapped_host {
    struct strategy_host host;
    const struct strategy *inner;
    double params[STRATEGY_PARAMS_MAX];
    int n_symbols; /* of its hello */
    _Alignas(8) unsigned char memory[STRATEGY_STATE_MAX];
};

/* What the hosts were asked, and what they are to fail with. */
static struct {
    int opened, hosts, asked;
    int opens_with;      /* -errno; 0 */
    const char *refuses; /* what strategy_check() is to say; NULL: what the built-in does */
    bool (*fails)(const struct strategy_request *request, struct strategy_decision *ret);
} wrapped;

static size_t wrapped_specs(const struct strategy *strategy, const double *params,
                            char specs[][STRATEGY_SPEC_TEXT])
{
    return strategy_specs(strategy->external->ctx, params, specs);
}

static const char *wrapped_check(const struct strategy *strategy, const double *params)
{
    return wrapped.refuses ? wrapped.refuses : strategy_check(strategy->external->ctx, params);
}

/* NULL: there is no built-in of that name. */
static inline const struct strategy *wrapped_strategy(const char *name)
{
    static struct wrapped made[WRAPPED_MOST];
    int i = 0;
    const struct strategy *inner = strategy_find(name);
    while (i < WRAPPED_MOST && made[i].inner && made[i].inner != inner)
        i++;
    if (!inner || i == WRAPPED_MOST || made[i].inner == inner)
        return inner && i < WRAPPED_MOST ? &made[i].strategy : NULL;
    struct wrapped *to = &made[i];
    to->inner = inner;
    snprintf(to->name, sizeof to->name, "exec:%s", name);
    to->external = (struct strategy_external){.form = STRATEGY_PROCESS,
                                              .hash = {(uint8_t)(i + 1), 7},
                                              .source = to->name + strlen("exec:"),
                                              .title = inner->name,
                                              .ctx = (void *)(uintptr_t)inner,
                                              .check = wrapped_check,
                                              .specs = wrapped_specs};
    to->strategy = (struct strategy){.name = to->name,
                                     .summary = inner->summary,
                                     .params = inner->params,
                                     .n_params = inner->n_params,
                                     .shorts = inner->shorts,
                                     .needs_shorts = inner->needs_shorts,
                                     .peers = inner->peers,
                                     .together = inner->together,
                                     .symbols_min = inner->symbols_min,
                                     .external = &to->external};
    return &to->strategy;
}

static int wrapped_open(const char *source, const struct strategy **ret, char *err, size_t err_size)
{
    const struct strategy *strategy = wrapped_strategy(source);
    wrapped.opened++;
    if (wrapped.opens_with < 0) {
        snprintf(err, err_size, "%s: %s", source, strerror(-wrapped.opens_with));
        return wrapped.opens_with;
    }
    if (!strategy) {
        snprintf(err, err_size, "%s: no such command", source);
        return -ENOENT;
    }
    *ret = strategy;
    return strategy_find_opened(strategy->name) ? 0 : strategy_opened(strategy);
}

static int wrapped_host_open(const struct strategy *strategy, const double *params,
                             const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                             size_t err_size)
{
    struct wrapped_host *host = calloc(1, sizeof *host);
    (void)err;
    (void)err_size;
    if (!host)
        return -ENOMEM;
    host->inner = strategy_find(strategy->external->source);
    memcpy(host->params, params, sizeof host->params);
    host->n_symbols = hello->n_symbols;
    wrapped.hosts++;
    *ret = &host->host;
    return 0;
}

/* Answers as the built-in, by the memory that the request brings. */
static inline void wrapped_answer(const struct strategy *inner, const double *params, unsigned char *memory,
                                  const struct strategy_request *request, struct strategy_decision *ret)
{
    struct intent intents[STRATEGY_SAID_MAX];
    const uint32_t size = (uint32_t)strategy_state_size(inner);
    memset(ret, 0, sizeof *ret);
    wrapped.asked++;
    if (wrapped.fails && wrapped.fails(request, ret))
        return;
    CHECK(request->state.len == 0 || request->state.len == size);
    memset(memory, 0, size);
    if (request->state.len > 0)
        memcpy(memory, request->state.bytes, size);
    size_t n = inner->on_bar(params, memory, &request->input, intents);
    ret->n = (uint32_t)n;
    for (size_t i = 0; i < n && i < STRATEGY_DECISION_MAX; i++) {
        ret->intents[i] = intents[i];
        snprintf(ret->whys[i], sizeof ret->whys[i], "%s", intents[i].why ? intents[i].why : "");
    }
    ret->keeps = true;
    ret->state = (struct strategy_kept){memory, size};
}

static void wrapped_host_decide(struct strategy_host *base, const struct strategy_request *request,
                                struct strategy_decision *ret)
{
    struct wrapped_host *host = (struct wrapped_host *)base;
    CHECK(request->symbol < host->n_symbols && request->input.n_peers <= host->n_symbols);
    wrapped_answer(host->inner, host->params, host->memory, request, ret);
}

static void wrapped_host_close(struct strategy_host *base)
{
    wrapped.hosts--;
    free(base);
}

const struct strategy_form_row *strategy_form_row(enum strategy_form form)
{
    static const struct strategy_form_row row = {.open = wrapped_open,
                                                 .host_open = wrapped_host_open,
                                                 .host_decide = wrapped_host_decide,
                                                 .host_close = wrapped_host_close};
    return form == STRATEGY_PROCESS ? &row : NULL;
}

/* The decision on the engine's first request, as an event of that sequence number and time; what it points to
 * lives until the next call. False: there is no request. */
static inline bool wrapped_decision(const struct engine *engine, uint64_t seq, int64_t recv_ns,
                                    struct event *ret)
{
    static struct strategy_decision decision;
    static _Alignas(8) unsigned char memory[STRATEGY_STATE_MAX];
    struct strategy_request request;
    if (!engine_request_next(engine, &request))
        return false;
    const struct account_spec *spec = engine_account_spec(engine, request.account);
    wrapped_answer(strategy_find(spec->strategy->external->source), spec->params, memory, &request,
                   &decision);
    *ret = (struct event){.seq = seq,
                          .recv_ns = recv_ns,
                          .kind = EVENT_DECISION,
                          .decision = {request.account, request.symbol, request.bar.open_ns, &decision}};
    return true;
}

#endif
