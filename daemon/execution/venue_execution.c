#include "daemon/execution/venue_execution_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"

#define RETRY_MS   1000
#define ABSENT_NS  INT64_C(60000000000) /* without user data for so long: an alert */
#define FAILING_NS INT64_C(30000000000) /* without the answers that a comparison needs: likewise */

static const struct engine *engine_of(const struct venue_execution *execution)
{
    return execution->host.engine(execution->host.ctx);
}

int venue_execution_account(const struct venue_execution *execution)
{
    const struct engine *engine = engine_of(execution);
    return engine ? engine_find_account(engine, execution->account) : -1;
}

int venue_execution_create(const struct venue_execution_config *config, struct venue_execution **ret)
{
    struct venue_execution *execution = calloc(1, sizeof *execution);
    if (!execution)
        return -ENOMEM;
    execution->config = *config;
    execution->host = config->host;
    execution->last = &execution->requests;
    execution->symbols = calloc(SYMBOLS_MAX, sizeof *execution->symbols);
    snprintf(execution->account, sizeof execution->account, "%s", config->account);
    snprintf(execution->venue, sizeof execution->venue, "%s", config->venue);
    if (!execution->symbols) {
        free(execution);
        return -ENOMEM;
    }
    *ret = execution;
    return 0;
}

static bool lasts(const struct venue_execution *execution, enum execution_alert alert)
{
    return execution->alerts & 1U << alert;
}

void venue_execution_alert(struct venue_execution *execution, enum execution_alert alert, const char *text)
{
    execution->alerts = text ? execution->alerts | 1U << alert : execution->alerts & ~(1U << alert);
    if (text || execution->alerts == 0)
        execution->host.alert(execution->host.ctx, text);
}

static void drop_requests(struct venue_execution *execution)
{
    for (struct execution_request *request; (request = execution->requests);) {
        execution->requests = request->next;
        free(request);
    }
    execution->last = &execution->requests;
}

static void close_account(struct venue_execution *execution)
{
    if (execution->at)
        execution->config.accounts->destroy(execution->at);
    execution->at = NULL;
    for (struct execution_asked *asked; (asked = execution->asked);) {
        execution->asked = asked->next;
        free(asked);
    }
    order_cases_destroy(execution->cases);
    execution->cases = NULL;
    execution->up = false;
}

void venue_execution_destroy(struct venue_execution *execution)
{
    if (!execution)
        return;
    close_account(execution);
    drop_requests(execution);
    free(execution->symbols);
    free(execution);
}

/* ---- asking ---- */

static void remove_asked(struct execution_asked *asked)
{
    *asked->at = asked->next;
    if (asked->next)
        asked->next->at = asked->at;
    free(asked);
}

static void on_answer(void *user, const struct venue_answer *answer)
{
    struct execution_asked *asked = user;
    struct venue_execution *execution = asked->execution;
    struct case_ask ask = asked->ask;
    struct case_time now = execution->host.now(execution->host.ctx);
    struct venue_answer given = *answer;
    int64_t wait_ms = answer->retry_ms - clock_now_ms();
    given.retry_ms = answer->retry_ms && wait_ms > 0 ? wait_ms : 0;
    remove_asked(asked);
    order_cases_answer(execution->cases, &ask, &given, &now);
    venue_execution_step(execution);
}

static int send(struct venue_execution *execution, const struct case_ask *ask, const struct order *order,
                struct execution_asked *asked)
{
    const struct venue_accounts *accounts = execution->config.accounts;
    struct venue_account *at = execution->at;
    if (ask->request == CASE_PLACE) {
        execution->symbols[order->symbol] = *engine_symbol(engine_of(execution), order->symbol);
        return accounts->place(at, order, ask->client_id, on_answer, asked);
    }
    if (ask->request == CASE_CANCEL)
        return accounts->cancel(at, ask->symbol, ask->client_id, on_answer, asked);
    if (ask->request == CASE_QUERY || ask->request == CASE_WITNESS)
        return accounts->query(at, ask->symbol, ask->client_id, ask->venue_id, on_answer, asked);
    if (ask->request == CASE_RECENT)
        return accounts->recent(at, ask->symbol, on_answer, asked);
    if (ask->request == CASE_FILLS)
        return accounts->fills(at, ask->symbol, ask->venue_id, on_answer, asked);
    return ask->request == CASE_OPEN ? accounts->open(at, on_answer, asked)
                                     : accounts->balances(at, on_answer, asked);
}

static void on_ask(void *ctx, const struct case_ask *ask, const struct order *order)
{
    struct venue_execution *execution = ctx;
    struct execution_asked *asked = calloc(1, sizeof *asked);
    if (!asked) {
        execution->starved = true;
        return;
    }
    *asked = (struct execution_asked){
        .next = execution->asked, .at = &execution->asked, .execution = execution, .ask = *ask};
    if (asked->next)
        asked->next->at = &asked->next;
    execution->asked = asked;
    asked->failed = send(execution, ask, order, asked) < 0;
}

/* Requests for which there was no memory: as if they had not been sent. False: there is none. */
static bool answer_failed(struct venue_execution *execution)
{
    static const struct venue_answer answer = {
        .outcome = VENUE_NOT_SENT, .text = "out of memory", .retry_ms = RETRY_MS};
    struct execution_asked *asked = execution->asked;
    while (asked && !asked->failed)
        asked = asked->next;
    if (!asked)
        return false;
    struct case_ask ask = asked->ask;
    struct case_time now = execution->host.now(execution->host.ctx);
    remove_asked(asked);
    order_cases_answer(execution->cases, &ask, &answer, &now);
    return true;
}

static uint64_t order_of(const struct venue_execution *execution, const char *client_id)
{
    return engine_venue_order_of(engine_of(execution), venue_execution_account(execution), client_id);
}

static bool is_ours(void *ctx, const char *client_id)
{
    return order_of(ctx, client_id) != 0;
}

static const char *venue_id_of(void *ctx, const char *client_id)
{
    const struct venue_execution *execution = ctx;
    return engine_venue_id(engine_of(execution), venue_execution_account(execution),
                           order_of(execution, client_id));
}

static bool is_booked(void *ctx, const char *client_id, const char *venue_id)
{
    const struct venue_execution *execution = ctx;
    return engine_venue_booked(engine_of(execution), venue_execution_account(execution),
                               order_of(execution, client_id), venue_id) != 0;
}

/* ---- user data ---- */

static void on_state(void *user, const struct venue_status *status)
{
    struct venue_execution *execution = user;
    struct case_time now = execution->host.now(execution->host.ctx);
    bool up = status->link == VENUE_UP;
    snprintf(execution->detail, sizeof execution->detail, "%s", status->detail);
    if (execution->up && !up)
        execution->down_ns = now.now_ns;
    if (!execution->up && up) /* of a former run, too */
        venue_execution_alert(execution, EXECUTION_ALERT_LINK, NULL);
    execution->up = up;
    order_cases_link(execution->cases, up, &now);
    if (status->link == VENUE_FINAL) {
        order_cases_stop(execution->cases);
        venue_execution_on_reset(execution, status->detail);
    }
    venue_execution_step(execution);
}

static void on_order(void *user, const struct venue_order *order)
{
    struct venue_execution *execution = user;
    struct case_time now = execution->host.now(execution->host.ctx);
    order_cases_order(execution->cases, order, &now);
    venue_execution_step(execution);
}

static void on_fill(void *user, const struct venue_fill *fill)
{
    struct venue_execution *execution = user;
    struct case_time now = execution->host.now(execution->host.ctx);
    order_cases_fill(execution->cases, fill, &now);
    venue_execution_step(execution);
}

/* They are compared with the orders' fills at a reconciliation, when both are known. */
static void on_balances(void *user, const struct venue_balance *balances, size_t n)
{
    (void)user;
    (void)balances;
    (void)n;
}

static const struct venue_account_handler handler = {on_state, on_order, on_fill, on_balances};

/* ---- opening ---- */

/* What requests are dated by: as good as it is known. */
static int64_t venue_ns(void *user)
{
    const struct venue_execution *execution = user;
    int64_t now_ns = execution->host.now(execution->host.ctx).venue_ns;
    return now_ns ? now_ns : clock_wall_ns();
}

static void on_bad_timestamp(void *user)
{
    const struct venue_execution *execution = user;
    execution->host.bad_timestamp(execution->host.ctx);
}

static void take_symbols(struct venue_execution *execution)
{
    const struct engine *engine = engine_of(execution);
    for (int s = 0; s < engine_symbols(engine); s++) {
        const struct symbol *symbol = engine_symbol(engine, s);
        bool its = strcmp(symbol->venue, execution->venue) == 0;
        execution->symbols[s] = its ? *symbol : (struct symbol){0};
    }
}

static bool is_queued(const struct venue_execution *execution, uint64_t order_id)
{
    const struct execution_request *request = execution->requests;
    while (request && (request->what != ENGINE_VENUE_PLACE || request->order.id != order_id))
        request = request->next;
    return request != NULL;
}

/* Live orders of a former run, which were sent or not. */
static int adopt(struct venue_execution *execution, int index)
{
    const struct engine *engine = engine_of(execution);
    struct case_time now = execution->host.now(execution->host.ctx);
    int r = 0;
    for (size_t i = 0; i < engine_orders(engine) && r == 0; i++) {
        const struct order *order = engine_order(engine, i);
        char client_id[ORDER_CLIENT_ID_MAX];
        if (order->account != index || order->state == ORDER_HELD || engine_venue_waits(engine, order->id) ||
            is_queued(execution, order->id))
            continue;
        engine_venue_client_id(engine, index, order->id, client_id);
        r = order_cases_adopt(execution->cases, order, client_id, engine_venue_id(engine, index, order->id),
                              order_protects(order), engine_venue_cancels(engine, order->id), &now);
    }
    return r;
}

/* The oldest order that lives there; else the last one that was reported. */
static void witness(struct venue_execution *execution, int index)
{
    const struct engine *engine = engine_of(execution);
    char client_id[ORDER_CLIENT_ID_MAX];
    int symbol;
    uint64_t seen = engine_venue_seen(engine, index, &symbol);
    for (size_t i = engine_orders(engine); i-- > 0;) {
        const struct order *order = engine_order(engine, i);
        if (order->account == index && engine_venue_id(engine, index, order->id)[0]) {
            seen = order->id;
            symbol = order->symbol;
        }
    }
    engine_venue_client_id(engine, index, seen, client_id);
    if (seen > 0)
        order_cases_witness(execution->cases, client_id, symbol);
}

int venue_execution_open(struct venue_execution *execution, const struct venue_account_config *wanted)
{
    const struct engine *engine = engine_of(execution);
    int index = venue_execution_account(execution);
    if (execution->cases || index < 0 || execution->denied || engine_venue_halted(engine, index))
        return 0;
    const struct order_cases_config config = {.symbols = execution->symbols,
                                              .n_symbols =
                                                  execution->config.accounts->recent ? SYMBOLS_MAX : 0,
                                              .settle_ns = execution->config.settle_ns,
                                              .reconcile_ns = execution->config.reconcile_ns,
                                              .id_for_life = execution->config.accounts->id_for_life};
    const struct order_cases_sink sink = {.ctx = execution,
                                          .ask = on_ask,
                                          .update = venue_execution_on_update,
                                          .ours = is_ours,
                                          .venue_id = venue_id_of,
                                          .booked = is_booked,
                                          .duplicate = venue_execution_on_duplicate,
                                          .differ = venue_execution_differs,
                                          .balances = venue_execution_on_balances,
                                          .reset = venue_execution_on_reset,
                                          .rights = venue_execution_on_rights,
                                          .doubt = venue_execution_on_doubt};
    execution->over = execution->starved = false;
    execution->alerts = 0;
    execution->detail[0] = '\0';
    take_symbols(execution);
    execution->cases = order_cases_create(&config, &sink);
    int r = execution->cases ? adopt(execution, index) : -ENOMEM;
    if (r == 0)
        witness(execution, index);
    struct venue_account_config open = *wanted;
    open.venue_ns = venue_ns;
    open.bad_timestamp = on_bad_timestamp;
    open.symbols = execution->symbols;
    open.n_symbols = SYMBOLS_MAX;
    execution->down_ns = execution->host.now(execution->host.ctx).now_ns;
    if (r == 0)
        r = execution->config.accounts->create(&open, &handler, execution, &execution->at);
    if (r < 0) {
        close_account(execution);
        return r;
    }
    venue_execution_step(execution);
    return 0;
}

bool venue_execution_again(struct venue_execution *execution)
{
    const struct engine *engine = engine_of(execution);
    int index = venue_execution_account(execution);
    if (index >= 0 && engine_venue_attached(engine, index))
        return false;
    close_account(execution);
    execution->denied = false;
    return true;
}

/* ---- the engine's requests ---- */

void venue_execution_request(struct venue_execution *execution, enum engine_venue_request what,
                             const struct order *order)
{
    struct execution_request *request = malloc(sizeof *request);
    if (!request) {
        execution->starved = true;
        return;
    }
    *request = (struct execution_request){.what = what,
                                          .ticket = execution->host.ticket(execution->host.ctx),
                                          .at_ns = execution->host.now(execution->host.ctx).now_ns,
                                          .order = *order};
    *execution->last = request;
    execution->last = &request->next;
}

static void not_sent(struct venue_execution *execution, const struct order *order, const char *text)
{
    venue_execution_on_update(execution, order->id, VENUE_UPDATE_ABSENT, "", text, NULL);
}

static void carry_out(struct venue_execution *execution, const struct execution_request *request)
{
    const struct engine *engine = engine_of(execution);
    const struct order *order = &request->order;
    struct case_time now = execution->host.now(execution->host.ctx);
    char client_id[ORDER_CLIENT_ID_MAX];
    if (request->what == ENGINE_VENUE_CANCEL) {
        order_cases_cancel(execution->cases, order->id, &now);
        return;
    }
    engine_venue_client_id(engine, order->account, order->id, client_id);
    if (strcmp(engine_symbol(engine, order->symbol)->venue, execution->venue) != 0)
        not_sent(execution, order, "its symbol is not traded at the account's venue");
    else if (now.now_ns - request->at_ns >= CASE_UNSENT_NS && !order_protects(order))
        not_sent(execution, order, "it could not be stored, or sent, for a minute");
    else if (order_cases_place(execution->cases, order, client_id, order_protects(order), &now) < 0)
        execution->starved = true;
}

void venue_execution_committed(struct venue_execution *execution, uint64_t ticket)
{
    bool any = false;
    while (execution->cases && !execution->over && execution->requests &&
           execution->requests->ticket <= ticket) {
        struct execution_request *request = execution->requests;
        execution->requests = request->next;
        if (!execution->requests)
            execution->last = &execution->requests;
        carry_out(execution, request);
        free(request);
        any = true;
    }
    if (any)
        venue_execution_step(execution);
}

/* ---- time ---- */

/* The alert of an account that cannot be compared; returns when it is due. */
static int64_t watch_compared(struct venue_execution *execution, int64_t now_ns)
{
    struct order_cases_view view;
    char text[VENUE_UPDATE_TEXT_MAX + 80];
    order_cases_view(execution->cases, &view);
    const bool reported = lasts(execution, EXECUTION_ALERT_FAILING);
    if (!view.failing[0] && reported)
        venue_execution_alert(execution, EXECUTION_ALERT_FAILING, NULL);
    if (!view.failing[0] || reported)
        return INT64_MAX;
    if (now_ns - view.failing_ns < FAILING_NS)
        return view.failing_ns + FAILING_NS;
    snprintf(text, sizeof text, "%s: %s does not say what it holds: %s",
             engine_venue_attached(engine_of(execution), venue_execution_account(execution))
                 ? "is not compared"
                 : "is not attached",
             execution->venue, view.failing);
    venue_execution_alert(execution, EXECUTION_ALERT_FAILING, text);
    return INT64_MAX;
}

/* The alert of user data that are away; returns when it is due. */
static int64_t watch_link(struct venue_execution *execution, int64_t now_ns)
{
    char text[VENUE_DETAIL_MAX + 80];
    if (execution->up || lasts(execution, EXECUTION_ALERT_LINK))
        return INT64_MAX;
    if (now_ns - execution->down_ns < ABSENT_NS)
        return execution->down_ns + ABSENT_NS;
    snprintf(text, sizeof text, "%s sends it no user data: %s", execution->venue, execution->detail);
    venue_execution_alert(execution, EXECUTION_ALERT_LINK, text);
    return INT64_MAX;
}

void venue_execution_step(struct venue_execution *execution)
{
    int64_t due_ns = INT64_MAX;
    if (!execution->cases)
        return;
    if (execution->over ||
        execution->starved) { /* closed in a turn of its own: the venue's callback may be running */
        execution->host.due(execution->host.ctx, 0);
        return;
    }
    struct case_time now = execution->host.now(execution->host.ctx);
    do
        due_ns = order_cases_step(execution->cases, &now);
    while (answer_failed(execution));
    int64_t watch_ns = watch_link(execution, now.now_ns);
    due_ns = watch_ns < due_ns ? watch_ns : due_ns;
    watch_ns = watch_compared(execution, now.now_ns);
    execution->host.due(execution->host.ctx, watch_ns < due_ns ? watch_ns : due_ns);
}

void venue_execution_tick(struct venue_execution *execution)
{
    if ((execution->over || execution->starved) && execution->cases) {
        close_account(execution);
        drop_requests(execution);
    } else {
        venue_execution_step(execution);
    }
}

void venue_execution_hold(struct venue_execution *execution, int64_t until_ns, const char *why)
{
    if (execution->at)
        execution->config.accounts->hold(execution->at, until_ns, why);
}

void venue_execution_clock_renewed(struct venue_execution *execution)
{
    struct case_time now = execution->host.now(execution->host.ctx);
    if (!execution->cases)
        return;
    order_cases_clock_renewed(execution->cases, &now);
    venue_execution_step(execution);
}

void venue_execution_view(const struct venue_execution *execution, struct venue_execution_view *ret)
{
    const struct engine *engine = engine_of(execution);
    int index = venue_execution_account(execution);
    *ret = (struct venue_execution_view){.venue = execution->venue,
                                         .detail = execution->detail,
                                         .prefix = index >= 0 ? engine_venue_prefix(engine, index) : "",
                                         .open = execution->cases != NULL,
                                         .attached = index >= 0 && engine_venue_attached(engine, index),
                                         .halted = index >= 0 && engine_venue_halted(engine, index)};
    if (execution->at)
        ret->link = execution->config.accounts->status(execution->at)->link;
    if (execution->cases)
        order_cases_view(execution->cases, &ret->cases);
    if (execution->cases && ret->cases.failing[0] && !execution->detail[0])
        ret->detail = ret->cases.failing;
    if (execution->cases && ret->cases.doubted[0])
        ret->detail = "orders are held back: one that it had is not known there";
    for (const struct execution_request *request = execution->requests; request; request = request->next)
        ret->waiting++;
}
