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
struct strategy_seat {
    const struct strategy *strategy; /* NULL: it needs no host */
    double params[STRATEGY_PARAMS_MAX];
    struct strategy_host *host; /* NULL: it could not be opened */
    char why[STRATEGY_FAULT_MAX];
    char account[ACCOUNT_NAME_MAX]; /* for its lines in the log */
};

/* ---- hosts ---- */

static void says(void *ctx, const char *line)
{
    const struct strategy_seat *seat = ctx;
    daemon_log_info("strategy of account %s: %.400s", seat->account, line);
}

static void leave(struct strategy_seat *seat)
{
    strategy_host_close(seat->host);
    *seat = (struct strategy_seat){0};
}

static void open_host(struct session *session, int account, struct strategy_seat *seat)
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
                                         .says = says,
                                         .ctx = seat};
    snprintf(seat->why, sizeof seat->why, "out of memory");
    if (symbols && states &&
        strategy_host_open(spec->strategy, spec->params, &hello, &seat->host, seat->why, sizeof seat->why) <
            0)
        seat->host = NULL;
    free(symbols);
    free(states);
}

static bool fits(const struct strategy_seat *seat, const struct account_spec *spec)
{
    return seat->strategy == spec->strategy && memcmp(seat->params, spec->params, sizeof seat->params) == 0;
}

/* Opens the host that an account's strategy needs now, or tries again. */
static struct strategy_seat *seat_of(struct session *session, int account)
{
    struct strategy_seat *seat = &session->seats[account];
    const struct account_spec *spec = engine_account_spec(session->engine, account);
    if (seat->strategy && !fits(seat, spec))
        leave(seat);
    if (!seat->host) {
        seat->strategy = spec->strategy;
        memcpy(seat->params, spec->params, sizeof seat->params);
        memcpy(seat->account, spec->name, sizeof seat->account);
        open_host(session, account, seat);
    }
    return seat;
}

void daemon_session_strategies_follow(struct session *session)
{
    for (int a = 0; session->seats && a < engine_accounts(session->engine); a++) {
        const struct engine_answers answers = engine_answers(session->engine, a);
        struct strategy_seat *seat = &session->seats[a];
        bool needed = answers.asked && !answers.halted;
        if (seat->strategy && (!needed || !fits(seat, engine_account_spec(session->engine, a))))
            leave(seat);
        if (needed && !seat->strategy)
            seat_of(session, a);
    }
}

int daemon_session_strategies_begin(struct session *session)
{
    session->seats = calloc(ACCOUNTS_MAX, sizeof *session->seats);
    session->decision = malloc(sizeof *session->decision);
    if (!session->seats || !session->decision)
        return -ENOMEM;
    engine_requests_begin(session->engine);
    daemon_session_strategies_follow(session);
    return 0;
}

void daemon_session_strategies_end(struct session *session)
{
    for (int a = 0; session->seats && a < ACCOUNTS_MAX; a++)
        leave(&session->seats[a]);
    free(session->seats);
    session->seats = NULL;
}

/* ---- decisions ---- */

static void decide(struct session *session, const struct strategy_request *request,
                   struct strategy_decision *ret)
{
    struct strategy_seat *seat = seat_of(session, request->account);
    *ret = (struct strategy_decision){.outcome = STRATEGY_ENDED};
    if (seat->host)
        strategy_host_decide(seat->host, request, ret);
    else
        snprintf(ret->fault, sizeof ret->fault, "%s", seat->why);
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
    if (!session->seats || session->playing)
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
            leave(&session->seats[request.account]);
    }
}
