/* The outside strategies of a session: their hosts, and the passing of what the engine asks to them. The
 * decision on a bar follows the event of the bar at once, as an event of its own with the same receive time;
 * decisions on history may take several turns of the loop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "strategy/external.h"

/* Of the loop's time that decisions on history take in one turn. */
static const uint64_t HISTORY_TURN_NS = 20000000;

/* An account's host, of that strategy with those parameters. */
struct account_host {
    const struct strategy *strategy; /* NULL: it needs no host */
    double params[STRATEGY_PARAMS_MAX];
    int n_symbols;                  /* that its hello had … */
    char (*names)[SYMBOL_NAME_MAX]; /* … and their names; NULL without memory */
    struct strategy_host *host;     /* NULL: it could not be opened */
    char why[STRATEGY_FAULT_MAX];
    char account[ACCOUNT_NAME_MAX]; /* for its lines in the log */
};

/* ---- hosts ---- */

static void log_line(void *ctx, const char *line)
{
    const struct account_host *entry = ctx;
    daemon_log_info("strategy of account %s: %.400s", entry->account, line);
}

static void close_host(struct account_host *entry)
{
    strategy_host_close(entry->host);
    free(entry->names);
    *entry = (struct account_host){0};
}

static void open_host(struct session *session, int account, struct account_host *entry)
{
    const struct engine *engine = session->engine;
    const struct account_spec *spec = engine_account_spec(engine, account);
    int n = engine_symbols(engine);
    struct symbol *symbols = calloc((size_t)n, sizeof *symbols);
    struct strategy_kept *states = calloc((size_t)n, sizeof *states);
    for (int s = 0; symbols && states && s < n; s++) {
        symbols[s] = *engine_symbol(engine, s);
        states[s].bytes = engine_strategy_kept(engine, account, s, &states[s].len);
    }
    const struct strategy_hello hello = {.account = spec->name,
                                         .currency = spec->currency,
                                         .symbols = symbols,
                                         .n_symbols = n,
                                         .interval_ns = engine_interval(engine),
                                         .limit_ns = session->config->strategy_limit_ns,
                                         .live = true,
                                         .states = states,
                                         .says = log_line,
                                         .ctx = entry};
    snprintf(entry->why, sizeof entry->why, "out of memory");
    if (symbols && states &&
        strategy_host_open(spec->strategy, spec->params, &hello, &entry->host, entry->why,
                           sizeof entry->why) < 0)
        entry->host = NULL;
    free(symbols);
    free(states);
}

static bool same_names(const struct account_host *entry, const struct engine *engine)
{
    int s = 0;
    while (entry->names && s < entry->n_symbols &&
           strcmp(entry->names[s], engine_symbol(engine, s)->name) == 0)
        s++;
    return !entry->names || s == entry->n_symbols;
}

static void note_symbols(struct account_host *entry, const struct engine *engine)
{
    free(entry->names);
    entry->n_symbols = engine_symbols(engine);
    entry->names = calloc((size_t)entry->n_symbols, sizeof *entry->names);
    for (int s = 0; entry->names && s < entry->n_symbols; s++)
        memcpy(entry->names[s], engine_symbol(engine, s)->name, sizeof entry->names[s]);
}

/* A host knows the symbols of its hello alone, by their names: one that was added or renamed since needs
 * another. The engine shows it the recent bars again (engine_request_symbols()). */
static bool fits(const struct account_host *entry, const struct engine *engine, int account)
{
    const struct account_spec *spec = engine_account_spec(engine, account);
    return entry->strategy == spec->strategy && entry->n_symbols == engine_symbols(engine) &&
           same_names(entry, engine) && memcmp(entry->params, spec->params, sizeof entry->params) == 0;
}

/* Opens the host that an account's strategy needs now, or tries again. */
static struct account_host *host_of(struct session *session, int account)
{
    struct account_host *entry = &session->hosts[account];
    const struct account_spec *spec = engine_account_spec(session->engine, account);
    if (entry->strategy && !fits(entry, session->engine, account))
        close_host(entry);
    if (!entry->host) {
        entry->strategy = spec->strategy;
        note_symbols(entry, session->engine);
        memcpy(entry->params, spec->params, sizeof entry->params);
        memcpy(entry->account, spec->name, sizeof entry->account);
        open_host(session, account, entry);
    }
    return entry;
}

void daemon_session_strategies_follow(struct session *session)
{
    for (int a = 0; session->hosts && a < engine_accounts(session->engine); a++) {
        const struct engine_answers answers = engine_answers(session->engine, a);
        struct account_host *entry = &session->hosts[a];
        bool needed = answers.asked && !answers.halted;
        if (entry->strategy && (!needed || !fits(entry, session->engine, a)))
            close_host(entry);
        if (needed && !entry->strategy)
            host_of(session, a);
    }
}

int daemon_session_strategies_begin(struct session *session)
{
    session->hosts = calloc(ACCOUNTS_MAX, sizeof *session->hosts);
    session->decision = malloc(sizeof *session->decision);
    if (!session->hosts || !session->decision)
        return -ENOMEM;
    engine_requests_begin(session->engine);
    daemon_session_strategies_follow(session);
    return 0;
}

void daemon_session_strategies_end(struct session *session)
{
    for (int a = 0; session->hosts && a < ACCOUNTS_MAX; a++)
        close_host(&session->hosts[a]);
    free(session->hosts);
    session->hosts = NULL;
}

/* ---- decisions ---- */

static void decide(struct session *session, const struct strategy_request *request,
                   struct strategy_decision *ret)
{
    struct account_host *entry = host_of(session, request->account);
    *ret = (struct strategy_decision){.outcome = STRATEGY_ENDED};
    if (entry->host)
        strategy_host_decide(entry->host, request, ret);
    else
        snprintf(ret->fault, sizeof ret->fault, "%s", entry->why);
}

/* As daemon_session_event(), except that its time is the bar's. */
static void give(struct session *session, const struct strategy_request *request,
                 const struct strategy_decision *decision)
{
    struct event event = {.recv_ns = session->now_ns,
                          .kind = EVENT_DECISION,
                          .decision = {request->account, request->symbol, request->bar.open_ns, decision}};
    event.seq = session->event_seq = ++session->seq;
    daemon_session_log_event(session, &event);
    db_writer_group_begin(session->writer);
    db_writer_put_event(session->writer, event.seq);
    int r = engine_handle(session->engine, &event);
    db_writer_group_end(session->writer);
    if (r < 0)
        daemon_log_error("event %llu: %s", (unsigned long long)event.seq, strerror(-r));
    daemon_session_log_wants(session);
}

void daemon_session_strategies_ask(struct session *session)
{
    struct strategy_request request;
    uint64_t end_ns = uv_hrtime() + HISTORY_TURN_NS;
    if (!session->hosts || session->playing)
        return;
    while (engine_request_next(session->engine, &request)) {
        if (!engine_request_waits(session->engine) && uv_hrtime() > end_ns) {
            uv_async_send(&session->wake);
            return;
        }
        bool was_halted = engine_answers(session->engine, request.account).halted;
        decide(session, &request, session->decision);
        give(session, &request, session->decision);
        if (engine_answers(session->engine, request.account).halted != was_halted)
            close_host(&session->hosts[request.account]);
    }
}
