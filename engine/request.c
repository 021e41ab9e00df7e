/* What outside strategies are asked: requests in their order, and the decisions on them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/event.h"
#include "engine/together.h"

/* Without a decision so often in a row, a strategy is not asked any more. */

static const char *const codes[STRATEGY_OUTCOMES] = {NULL, "STRATEGY_LATE", "STRATEGY_INVALID",
                                                     "STRATEGY_ENDED"};

bool engine_request_asks(const struct engine *engine, int account)
{
    const struct strategy *strategy = engine->runners[account].strategy;
    return strategy && strategy->external && !(engine->direct && strategy->external->on_bar);
}

/* ---- the queue ---- */

static struct bar_request *first_of(const struct engine *engine)
{
    const struct bar_requests *requests = &engine->requests;
    return requests->first < requests->n ? &requests->list[requests->first] : NULL;
}

bool engine_request_waits(const struct engine *engine)
{
    return first_of(engine) && engine->requests.list[engine->requests.n - 1].acts;
}

static void close_request(struct bar_request *request)
{
    free(request->values);
    free(request->peers);
    free(request->records);
}

static bool open_request(struct bar_request *request, size_t n_values, int n_peers)
{
    const size_t n = (size_t)n_peers;
    *request = (struct bar_request){.values = calloc(n_values * (n + 1) + 1, sizeof *request->values),
                                    .n_values = n_values,
                                    .peers = n > 0 ? calloc(n, sizeof *request->peers) : NULL,
                                    .records = n > 0 ? calloc(n, sizeof *request->records) : NULL,
                                    .n_peers = n_peers};
    return request->values && (n == 0 || (request->peers && request->records));
}

struct bar_request *engine_request_add(struct engine *engine, size_t n_values, int n_peers)
{
    struct bar_requests *requests = &engine->requests;
    struct bar_request opened;
    if (requests->first == requests->n)
        requests->first = requests->n = 0;
    struct bar_request *last =
        open_request(&opened, n_values, n_peers)
            ? engine_live_append((void **)&requests->list, &requests->n, &requests->cap, sizeof *last)
            : NULL;
    if (!last) {
        close_request(&opened);
        return NULL;
    }
    if (last > requests->list + requests->first && last[-1].acts) {
        *last = last[-1];
        last--;
    }
    *last = opened;
    return last;
}

int64_t engine_request_good(const struct engine *engine, int64_t age_ns)
{
    int64_t most_ns = engine->interval_ns > DELAY_ALLOWED_NS ? engine->interval_ns : DELAY_ALLOWED_NS;
    return engine->recv_ns + most_ns - age_ns - 1;
}

static void copy_seen(struct bar_request *request, const struct strategy_input *input)
{
    const size_t n_values = request->n_values, size = n_values * sizeof *request->values;
    if (size > 0)
        memcpy(request->values, input->indicators, size);
    request->record = *input->record;
    for (int k = 0; k < request->n_peers; k++) {
        request->peers[k] = input->peers[k];
        request->records[k] = *input->peers[k].record;
        if (size > 0)
            memcpy(request->values + (size_t)(k + 1) * n_values, input->peers[k].indicators, size);
    }
}

/* Lets the request's input point to what it has. */
static void point(const struct engine *engine, struct bar_request *request)
{
    const struct strategy_round *round = &engine->runners[request->account].round;
    struct strategy_input *input = &request->input;
    input->indicators = request->values;
    input->record = &request->record;
    input->peers = request->n_peers > 0 ? request->peers : NULL;
    input->n_peers = request->n_peers;
    for (int k = 0; k < request->n_peers; k++) {
        request->peers[k].name = engine->markets[round->symbols[k]].symbol.name;
        request->peers[k].symbol = round->symbols[k];
        request->peers[k].indicators = request->values + (size_t)(k + 1) * request->n_values;
        request->peers[k].record = &request->records[k];
    }
}

bool engine_request_put(struct engine *engine, int account, int symbol, const struct bar *bar, bool acts,
                        const struct strategy_input *input, size_t n_values)
{
    struct strategy_runner *runner = &engine->runners[account];
    if (runner->answers.halted)
        return false;
    struct bar_request *request = engine_request_add(engine, n_values, input->n_peers);
    if (!request) {
        engine->out_of_memory = true;
        return false;
    }
    request->account = account;
    request->symbol = symbol;
    request->bar = *bar;
    request->seq = engine->input_seq;
    request->acts = acts;
    request->begins = !runner->slots[symbol].shown;
    request->input = *input;
    copy_seen(request, input);
    runner->slots[symbol].shown = true;
    return true;
}

/* Keeps those of which keep() says so, in their order. */
static void sift(struct bar_requests *requests, bool (*keep)(struct bar_request *request, const void *ctx),
                 const void *ctx)
{
    size_t n = requests->first;
    for (size_t i = requests->first; i < requests->n; i++)
        if (keep(&requests->list[i], ctx))
            requests->list[n++] = requests->list[i];
        else
            close_request(&requests->list[i]);
    requests->n = n;
}

struct dropped {
    int account, symbol;
    bool history; /* that alone */
};

static bool not_dropped(struct bar_request *request, const void *ctx)
{
    const struct dropped *dropped = ctx;
    return request->account != dropped->account ||
           (dropped->symbol >= 0 && request->symbol != dropped->symbol) ||
           (dropped->history && request->acts);
}

void engine_request_drop(struct engine *engine, int account, int symbol)
{
    sift(&engine->requests, not_dropped, &(const struct dropped){account, symbol, false});
}

void engine_request_drop_history(struct engine *engine, int account, int symbol)
{
    sift(&engine->requests, not_dropped, &(const struct dropped){account, symbol, true});
}

static bool is_history(struct bar_request *request, const void *ctx)
{
    (void)ctx;
    return !request->acts;
}

void engine_request_drop_acting(struct engine *engine)
{
    sift(&engine->requests, is_history, NULL);
}

struct moved {
    const int *to;
    const bool *keeps;
};

static bool moves(struct bar_request *request, const void *ctx)
{
    const struct moved *moved = ctx;
    request->symbol = moved->to[request->symbol];
    return request->symbol >= 0 && moved->keeps[request->account];
}

void engine_request_move(struct engine *engine, const int *to, const bool *keeps)
{
    struct waiting_event *waiting = &engine->waiting;
    sift(&engine->requests, moves, &(const struct moved){to, keeps});
    if (waiting->there && (waiting->symbol = to[waiting->symbol]) < 0)
        waiting->there = false;
    if (waiting->fetched && to[engine->fetched.symbol] < 0)
        waiting->fetched = false; /* nothing follows it */
    else if (waiting->fetched)
        engine->fetched.symbol = to[engine->fetched.symbol];
}

void engine_request_finish(struct bar_requests *requests)
{
    for (size_t i = requests->first; i < requests->n; i++)
        close_request(&requests->list[i]);
    free(requests->list);
    *requests = (struct bar_requests){0};
}

size_t engine_requests(const struct engine *engine)
{
    return engine->requests.n - engine->requests.first;
}

bool engine_request_next(const struct engine *engine, struct strategy_request *ret)
{
    struct bar_request *first = first_of(engine);
    if (!first)
        return false;
    point(engine, first);
    const struct strategy_slot *slot = &engine->runners[first->account].slots[first->symbol];
    *ret = (struct strategy_request){.account = first->account,
                                     .symbol = first->symbol,
                                     .bar = first->bar,
                                     .seq = first->seq,
                                     .acts = first->acts,
                                     .begins = first->begins,
                                     .input = first->input,
                                     .n_indicators = first->n_values};
    if (!first->begins)
        ret->state = (struct strategy_kept){slot->kept, slot->kept_len};
    return true;
}

/* ---- outcomes ---- */

static void end_alerts(struct engine *engine, int account)
{
    struct runner_answers *answers = &engine->runners[account].answers;
    for (int o = STRATEGY_DECIDED + 1; o < STRATEGY_OUTCOMES; o++)
        if (answers->alerted & (1u << o))
            engine_alert_over(engine, codes[o], "account %s: ", engine->accounts[account].name);
    answers->alerted = 0;
    answers->in_a_row = 0;
}

static void halt(struct engine *engine, int account)
{
    struct strategy_runner *runner = &engine->runners[account];
    runner->answers.halted = true;
    engine_request_drop(engine, account, -1);
    engine_alert(engine, "STRATEGY_HALTED", ENGINE_OF(account, -1, 0),
                 "account %s: %.200s is halted: no decision on %d bars in a row. Nothing is opened any more, "
                 "positions keep their stops; `account resume %s` or a reload asks it again",
                 engine->accounts[account].name, runner->strategy->name, ENGINE_FAILURES_MOST,
                 engine->accounts[account].name);
}

static void fail(struct engine *engine, int account, int symbol, const struct strategy_decision *decision)
{
    struct runner_answers *answers = &engine->runners[account].answers;
    answers->failures[decision->outcome]++;
    answers->in_a_row++;
    if (!(answers->alerted & (1u << decision->outcome)))
        engine_alert(engine, codes[decision->outcome], ENGINE_OF(account, symbol, 0),
                     "account %s: %.120s, %s: no decision: %.*s", engine->accounts[account].name,
                     engine->runners[account].strategy->name, engine->markets[symbol].symbol.name,
                     STRATEGY_FAULT_MAX - 1, decision->fault);
    answers->alerted |= 1u << decision->outcome;
    if (answers->in_a_row >= ENGINE_FAILURES_MOST)
        halt(engine, account);
}

void engine_request_resume(struct engine *engine, int account)
{
    struct runner_answers *answers = &engine->runners[account].answers;
    if (!answers->halted)
        return;
    answers->halted = false;
    end_alerts(engine, account);
    engine_alert_over(engine, "STRATEGY_HALTED", "account %s: ", engine->accounts[account].name);
    engine_runner_restart(engine, account);
}

int64_t engine_request_until(const struct engine *engine, int account, int symbol, int64_t before_ns)
{
    const struct waiting_event *waiting = &engine->waiting;
    bool comes = waiting->there && waiting->stage == WAITING_BAR && waiting->symbol == symbol &&
                 waiting->account < account && waiting->bar.open_ns < before_ns;
    return comes ? waiting->bar.open_ns : before_ns;
}

/* The request that acts, of this account and symbol, -1: of any; or NULL. */
static struct bar_request *acting_of(struct engine *engine, int account, int symbol)
{
    struct bar_request *last =
        engine_request_waits(engine) ? &engine->requests.list[engine->requests.n - 1] : NULL;
    return last && last->account == account && (symbol < 0 || last->symbol == symbol) ? last : NULL;
}

/* Of a strategy that sees peers: all symbols by time, unless it left memory here. The bar that waits for its
 * decision comes after them, and of a round the bars of all symbols; of a single bar those of other symbols,
 * also of its time, came before it. */
static void show_all_again(struct engine *engine, int account)
{
    const struct strategy_runner *runner = &engine->runners[account];
    const struct strategy_slot *slots = runner->slots;
    const struct bar_request *acting = acting_of(engine, account, -1);
    for (int s = 0; s < engine->n_symbols; s++)
        if (slots[s].kept_len > 0)
            return;
    engine_request_drop_history(engine, account, -1);
    size_t before = engine_requests(engine);
    engine_together_show(engine, account,
                         &(const struct together_bounds){
                             acting && !runner->strategy->together ? acting->symbol : -1,
                             acting ? acting->bar.open_ns : INT64_MAX,
                         });
    struct bar_request *last = acting_of(engine, account, -1);
    if (last)
        last->begins = engine_requests(engine) == before;
}

/* A process that keeps its memory itself has none now. */
static void show_again(struct engine *engine, int account)
{
    const struct strategy_runner *runner = &engine->runners[account];
    if (strategy_sees_peers(runner->strategy)) {
        show_all_again(engine, account);
        return;
    }
    for (int s = 0; s < engine->n_symbols; s++) {
        const struct bar_request *acting = acting_of(engine, account, s);
        if (runner->slots[s].kept_len > 0)
            continue;
        size_t before = engine_requests(engine);
        engine_runner_show(engine, account, s, acting ? acting->bar.open_ns : INT64_MAX);
        struct bar_request *last = acting_of(engine, account, s);
        if (last)
            last->begins = engine_requests(engine) == before;
    }
}

/* Its host is opened again, since that knows the symbols that it was opened with: so it loses what the
 * process keeps itself. */
void engine_request_symbols(struct engine *engine, int account)
{
    const struct strategy_runner *runner = &engine->runners[account];
    if (engine_request_asks(engine, account) && !runner->answers.halted &&
        runner->strategy->external->form == STRATEGY_PROCESS)
        show_again(engine, account);
}

void engine_requests_begin(struct engine *engine)
{
    for (int a = 0; a < engine->n_accounts; a++) {
        struct strategy_runner *runner = &engine->runners[a];
        if (!engine_request_asks(engine, a))
            continue;
        if (runner->answers.halted)
            engine_request_resume(engine, a);
        else if (runner->strategy->external->form == STRATEGY_PROCESS)
            show_again(engine, a);
        runner->answers.alerted = runner->answers.in_a_row = 0; /* their alerts are over with the run */
    }
}

void engine_request_forget(struct engine *engine, int account)
{
    struct runner_answers *answers = &engine->runners[account].answers;
    end_alerts(engine, account);
    if (answers->halted)
        engine_alert_over(engine, "STRATEGY_HALTED", "account %s: ", engine->accounts[account].name);
    *answers = (struct runner_answers){0};
}

/* ---- decisions ---- */

static bool sound(const struct strategy_decision *decision)
{
    return (unsigned)decision->outcome < STRATEGY_OUTCOMES &&
           (decision->outcome == STRATEGY_DECIDED || (decision->n == 0 && !decision->keeps)) &&
           decision->n <= STRATEGY_SAID_MAX && (!decision->keeps || decision->state.len <= STRATEGY_KEPT_MAX);
}

static void keep(struct engine *engine, struct strategy_slot *slot, const struct strategy_kept *state)
{
    unsigned char *bytes = state->len > 0 ? malloc(state->len) : NULL;
    if (state->len > 0 && !bytes) {
        engine->out_of_memory = true;
        return;
    }
    if (bytes)
        memcpy(bytes, state->bytes, state->len);
    free(slot->kept);
    slot->kept = bytes;
    slot->kept_len = state->len;
}

/* Of one symbol. */
static void decided(struct engine *engine, struct bar_request *request, bool acts,
                    const struct strategy_decision *decision)
{
    struct intent intents[STRATEGY_INTENTS_MAX];
    size_t n = decision->n < STRATEGY_INTENTS_MAX ? decision->n : STRATEGY_INTENTS_MAX;
    for (size_t i = 0; i < n; i++) {
        intents[i] = decision->intents[i];
        if (intents[i].why)
            intents[i].why = decision->whys[i];
    }
    if (n == 0)
        intents[0] = (struct intent){0};
    engine_runner_decided(engine, request->account, request->symbol, &request->bar, acts, &request->input,
                          intents, decision->n);
}

int engine_request_decided(struct engine *engine, const struct event *event)
{
    const struct event_decision *given = &event->decision;
    const struct strategy_decision *decision = given->decision;
    const struct bar_request *first = first_of(engine);
    if (!first || !decision || first->account != given->account || first->symbol != given->symbol ||
        first->bar.open_ns != given->open_ns || !sound(decision))
        return -EINVAL;
    struct bar_request request = *first;
    engine->requests.first++;
    bool acts = request.acts && event->recv_ns <= engine->waiting.good_ns;
    const struct strategy_runner *runner = &engine->runners[request.account];
    point(engine, &request);
    if (decision->outcome == STRATEGY_DECIDED) {
        end_alerts(engine, request.account);
        if (decision->keeps)
            keep(engine, &runner->slots[request.symbol], &decision->state);
        if (runner->strategy->together)
            engine_together_decided(engine, request.account, acts, &request.input, decision);
        else
            decided(engine, &request, acts, decision);
    } else {
        fail(engine, request.account, request.symbol, decision);
    }
    close_request(&request);
    return 0;
}

struct engine_answers engine_answers(const struct engine *engine, int account)
{
    const struct runner_answers *answers = &engine->runners[account].answers;
    if (!engine_request_asks(engine, account))
        return (struct engine_answers){0};
    return (struct engine_answers){.asked = true,
                                   .halted = answers->halted,
                                   .late = answers->failures[STRATEGY_LATE],
                                   .invalid = answers->failures[STRATEGY_INVALID],
                                   .ended = answers->failures[STRATEGY_ENDED]};
}

const void *engine_strategy_kept(const struct engine *engine, int account, int symbol, uint32_t *ret_len)
{
    const struct strategy_slot *slots = engine->runners[account].slots;
    *ret_len = slots ? slots[symbol].kept_len : 0;
    return slots ? slots[symbol].kept : NULL;
}
