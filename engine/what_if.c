#include "engine/what_if.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/event.h"
#include "engine/match.h"
#include "engine/state.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "strategy/external.h"

/* Of a call of a process that is tried. */
static const int64_t TRIED_LIMIT_NS = 10000000000LL;

/* An order made after the fork on both sides: its id on each. */
struct pair {
    uint64_t was, would_be;
};

/* An order made by this event. */
struct made_order {
    uint64_t id;
    int account, symbol;
    enum order_side side;
    enum order_type type;
};

/* What one of the two sides emits. */
struct way {
    struct run *run;
    struct what_if_way *result;
    uint64_t last_order; /* the highest number emitted */
    struct made_order *made;
    size_t n_made, cap_made;
    bool out_of_memory;
};

struct run {
    const struct what_if_options *options;
    struct what_if_result result;
    struct replay *replay;
    struct engine *fork;
    struct way was, would_be;
    struct account_spec changed; /* the account as the fork has it */
    bool forked;
    bool differs; /* what trades for it is another, or has other parameters */
    struct strategy_host
        *host; /* of an outside strategy that is tried; NULL: it is called, or there is none */
    int64_t highest[2], deposits[2], span_end_ns;
    struct pair *pairs; /* by ascending `was` */
    size_t n_pairs, cap_pairs;
    uint64_t last_common;       /* orders up to here are in both ways */
    char why[ENGINE_ERROR_MAX]; /* what is tried gave no decision; "" */
};

static int account_of(const struct run *run, const struct engine *engine)
{
    return engine_find_account(engine, run->options->account);
}

static const struct engine *engine_of(const struct way *way)
{
    return way == &way->run->was ? engine_replay_engine(way->run->replay) : way->run->fork;
}

static bool concerns(const struct way *way, int account)
{
    const struct engine *engine = engine_of(way);
    return way->run->forked && engine && account >= 0 && account < engine_accounts(engine) &&
           strcmp(engine_account(engine, account)->name, way->run->options->account) == 0;
}

static void on_order(void *ctx, const struct order *order)
{
    struct way *way = ctx;
    if (order->id <= way->last_order)
        return;
    way->last_order = order->id;
    if (!way->run->forked)
        return;
    if (concerns(way, order->account)) {
        way->result->orders++;
        way->result->rejected += order->state == ORDER_REJECTED;
    }
    struct made_order *made =
        engine_live_append((void **)&way->made, &way->n_made, &way->cap_made, sizeof *made);
    way->out_of_memory |= !made;
    if (made)
        *made = (struct made_order){order->id, order->account, order->symbol, order->side, order->type};
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct way *way = ctx;
    if (!concerns(way, fill->account))
        return;
    const struct engine *engine = engine_of(way);
    way->result->fills++;
    if (strcmp(engine_symbol(engine, fill->symbol)->quote, engine_account(engine, fill->account)->currency) ==
        0)
        way->result->fees += fill->fee;
}

static struct engine_sink sink_of(struct way *way)
{
    return (struct engine_sink){.ctx = way, .order = on_order, .fill = on_fill};
}

/* ---- the fork */

/* The configuration of `engine`, except the account that is to differ. */
static int configure_fork(struct run *run, const struct engine *engine, char *err, size_t err_size)
{
    char why[ENGINE_ERROR_MAX] = "out of memory";
    struct symbol *symbols = calloc((size_t)engine->n_symbols, sizeof *symbols);
    struct account_spec *specs = calloc((size_t)engine->n_accounts, sizeof *specs);
    int r = symbols && specs ? 0 : -ENOMEM;
    if (r == 0) {
        for (int s = 0; s < engine->n_symbols; s++)
            symbols[s] = engine->markets[s].symbol;
        for (int a = 0; a < engine->n_accounts; a++)
            specs[a] = engine->specs[a];
        int account = account_of(run, engine);
        if (account >= 0) {
            specs[account].rules.execution = run->changed.rules.execution;
            specs[account].strategy = run->changed.strategy;
            specs[account].policy = run->changed.policy;
            if (run->changed.policy && run->changed.policy->calendar)
                specs[account].session = run->changed.policy->session;
            memcpy(specs[account].params, run->changed.params, sizeof specs[account].params);
        }
        struct engine_config config = engine_config_of(engine);
        config.symbols = symbols;
        config.accounts = specs;
        r = engine_configure(run->fork, &config, why);
    }
    free(symbols);
    free(specs);
    if (r < 0)
        snprintf(err, err_size, "the fork cannot be configured: %s", why);
    return r;
}

static int check_policy(const struct engine *engine, const struct policy *policy, const char *currency,
                        char *err, size_t err_size)
{
    char why[POLICY_ERROR_MAX];
    struct symbol *symbols = calloc((size_t)engine->n_symbols, sizeof *symbols);
    if (!symbols)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    for (int s = 0; s < engine->n_symbols; s++)
        symbols[s] = engine->markets[s].symbol;
    const char *refused =
        policy_refusal(policy, currency, symbols, engine->n_symbols, engine->interval_ns, why);
    free(symbols);
    if (refused)
        snprintf(err, err_size, "the policy: %s", refused);
    return refused ? -EINVAL : 0;
}

static void name_trader(struct what_if_way *way, const struct account_spec *spec)
{
    const char *name = account_spec_trader(spec);
    snprintf(way->strategy, sizeof way->strategy, "%s", name ? name : "");
}

/* With those that there are, as far as they have room. */
static int no_account(const struct engine *engine, const char *name, char *err, size_t err_size)
{
    struct nearest known = {0};
    for (int a = 0; a < engine->n_accounts; a++)
        nearest_offer(&known, name, engine->accounts[a].name);
    return fail_with(-ENOENT, err, err_size, "\"%s\": " FAIL_NO_ACCOUNT " then%s", name,
                     NEAREST_HINT(&known, name));
}

static int choose(struct run *run, const struct engine *engine, char *err, size_t err_size)
{
    const struct what_if_options *options = run->options;
    int account = account_of(run, engine);
    if (account < 0)
        return no_account(engine, options->account, err, err_size);
    const struct account_spec *spec = engine_account_spec(engine, account);
    const struct account *holder = engine_account(engine, account);
    run->changed = *spec;
    bool other = !strategy_same(options->strategy, spec->strategy) || spec->policy || options->policy;
    if (!options->same_strategy && other) {
        run->changed.strategy = options->strategy;
        run->changed.policy = options->policy;
        memset(run->changed.params, 0, sizeof run->changed.params);
        if (options->strategy)
            strategy_defaults(options->strategy, run->changed.params);
    }
    if (options->set && run->changed.policy)
        return fail_with(-EINVAL, err, err_size,
                         "account %s trades by a policy, which has no parameters to set", options->account);
    if (options->set &&
        options->set(options->ctx, run->changed.strategy, run->changed.params, err, err_size) != 0)
        return -EINVAL;
    if (options->policy && check_policy(engine, options->policy, holder->currency, err, err_size) < 0)
        return -EINVAL;
    const struct strategy *changed = run->changed.strategy;
    const char *wrong = changed ? strategy_check(changed, run->changed.params) : NULL;
    if (wrong)
        return fail_with(-EINVAL, err, err_size, "%s", wrong);
    run->differs = run->changed.policy != spec->policy || !strategy_same(changed, spec->strategy) ||
                   memcmp(run->changed.params, spec->params, sizeof spec->params) != 0;
    if (run->differs && changed && changed->external) { /* what the log describes decides nothing */
        int r = strategy_open(changed->name, &run->changed.strategy, err, err_size);
        if (r < 0)
            return r;
        changed = run->changed.strategy;
    }
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    char why[SPECS_ERROR_MAX];
    size_t n_specs;
    if (changed &&
        engine_runner_specs(changed, run->changed.params, engine->interval_ns, specs, &n_specs, why) < 0)
        return fail_with(-EINVAL, err, err_size, "%s", why);
    struct what_if_way *was = &run->result.was, *would_be = &run->result.would_be;
    name_trader(was, spec);
    name_trader(would_be, &run->changed);
    memcpy(was->params, spec->params, sizeof was->params);
    memcpy(would_be->params, run->changed.params, sizeof would_be->params);
    memcpy(run->result.currency, holder->currency, sizeof run->result.currency);
    run->result.currency_scale = holder->currency_scale;
    return 0;
}

/* What is tried is filled by the model: the venue's news are of what was. Orders on their way there arrive.
 */
static int fill_here(struct engine *fork, int account)
{
    fork->accounts[account].rules.execution = fork->specs[account].rules.execution = EXECUTION_MODEL;
    for (size_t i = 0; i < fork->n_orders; i++) {
        struct live_order *live = &fork->orders[i];
        if (live->order.account != account)
            continue;
        live->waits = false;
        if (live->order.state == ORDER_UNKNOWN)
            engine_live_step(fork, &live->order, ORDER_ARRIVES);
        if (live->order.state == ORDER_PENDING &&
            !engine_live_later(fork, (struct pending){.created_ns = live->order.created_ns,
                                                      .effective_ns = fork->now_ns,
                                                      .order_id = live->order.id}))
            return -ENOMEM;
    }
    return 0;
}

/* ---- an outside strategy that is tried */

static int open_host(struct run *run, char *err, size_t err_size)
{
    const struct account_spec *spec = &run->changed;
    if (!run->differs || !strategy_is_asked(spec->strategy))
        return 0;
    int n = engine_symbols(run->fork);
    struct symbol *symbols = calloc((size_t)n, sizeof *symbols);
    if (!symbols)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    for (int s = 0; s < n; s++)
        symbols[s] = *engine_symbol(run->fork, s);
    const struct strategy_hello hello = {.account = spec->name,
                                         .currency = spec->currency,
                                         .symbols = symbols,
                                         .n_symbols = n,
                                         .interval_ns = engine_interval(run->fork),
                                         .limit_ns = TRIED_LIMIT_NS};
    char why[ENGINE_ERROR_MAX] = "";
    int r = strategy_host_open(spec->strategy, spec->params, &hello, &run->host, why, sizeof why);
    if (r < 0)
        snprintf(err, err_size, "%.100s: %s", spec->strategy->name, why);
    free(symbols);
    return r;
}

/* What the fork asks it now; requests of other accounts before it are answered by the log. */
static int ask_tried(struct run *run, char *err, size_t err_size)
{
    struct strategy_request request;
    struct strategy_decision decision = {0};
    int r = 0;
    while (r == 0 && run->host && engine_request_next(run->fork, &request) &&
           concerns(&run->would_be, request.account)) {
        strategy_host_decide(run->host, &request, &decision);
        if (decision.outcome != STRATEGY_DECIDED)
            return fail_with(-EINVAL, err, err_size, "%.100s: %s: %s", run->changed.strategy->name,
                             strategy_outcome_name(decision.outcome), decision.fault);
        const struct event event = {
            .seq = request.seq,
            .recv_ns = engine_received(run->fork),
            .kind = EVENT_DECISION,
            .decision = {request.account, request.symbol, request.bar.open_ns, &decision}};
        r = engine_handle(run->fork, &event);
        if (r < 0)
            snprintf(err, err_size, "%s", strerror(-r));
    }
    return r;
}

static int fork_engine(struct run *run, char *err, size_t err_size)
{
    struct engine *engine = engine_replay_engine(run->replay);
    char why[ENGINE_ERROR_MAX];
    int r = choose(run, engine, err, err_size);
    if (r < 0)
        return r;
    struct codec codec = {0};
    codec_save(&codec);
    r = engine_save(engine, &codec);
    const struct engine_sink sink = sink_of(&run->would_be);
    const struct policies policies = engine_policies(engine);
    if (r == 0) {
        r = engine_load(codec.bytes, codec.len, &sink, &policies, &run->fork, why);
        if (r < 0)
            snprintf(err, err_size, "the state cannot be forked: %s", why);
    } else {
        snprintf(err, err_size, "out of memory");
    }
    codec_finish(&codec);
    if (r == 0 && run->changed.rules.execution == EXECUTION_VENUE_PAPER) {
        run->changed.rules.execution = EXECUTION_MODEL;
        r = fill_here(run->fork, account_of(run, run->fork));
    }
    if (r == 0)
        run->fork->direct = true;
    if (r == 0)
        r = configure_fork(run, engine, err, err_size);
    if (r == 0)
        r = open_host(run, err, err_size);
    if (r < 0)
        return r;
    run->last_common = run->was.last_order = run->would_be.last_order = engine->last_order;
    run->forked = true;
    r = ask_tried(run, err, err_size);
    if (r < 0)
        return r;
    int account = account_of(run, engine);
    run->result.was.begin = engine_equity(engine, account);
    run->result.would_be.begin = engine_equity(run->fork, account_of(run, run->fork));
    run->highest[0] = run->result.was.begin;
    run->highest[1] = run->result.would_be.begin;
    run->deposits[0] = run->deposits[1] = engine_account(engine, account)->deposits;
    return 0;
}

/* ---- the same events for both */

static bool alike(const struct made_order *a, const struct made_order *b)
{
    return a->account == b->account && a->symbol == b->symbol && a->side == b->side && a->type == b->type;
}

/* Pairs the orders that both made of this event, one by one: what the log says of one then applies to the
 * other. */
static int pair_made(struct run *run)
{
    struct way *was = &run->was, *would_be = &run->would_be;
    for (size_t i = 0; i < was->n_made; i++) {
        size_t k = 0;
        while (k < would_be->n_made && !alike(&was->made[i], &would_be->made[k]))
            k++;
        if (k == would_be->n_made)
            continue;
        struct pair *pair =
            engine_live_append((void **)&run->pairs, &run->n_pairs, &run->cap_pairs, sizeof *pair);
        if (!pair)
            return -ENOMEM;
        *pair = (struct pair){was->made[i].id, would_be->made[k].id};
        would_be->n_made--;
        memmove(&would_be->made[k], &would_be->made[k + 1], (would_be->n_made - k) * sizeof *would_be->made);
    }
    was->n_made = would_be->n_made = 0;
    return was->out_of_memory || would_be->out_of_memory ? -ENOMEM : 0;
}

static int by_was(const void *key, const void *pair)
{
    uint64_t a = *(const uint64_t *)key, b = ((const struct pair *)pair)->was;
    return (a > b) - (a < b);
}

/* The fork's number of an order that the log names; 0 where it has none. */
static uint64_t fork_id(const struct run *run, uint64_t id)
{
    if (id <= run->last_common)
        return id;
    const struct pair *pair =
        run->n_pairs ? bsearch(&id, run->pairs, run->n_pairs, sizeof *run->pairs, by_was) : NULL;
    return pair ? pair->would_be : id > run->was.last_order ? UINT64_MAX : 0; /* none, as in the log */
}

/* The configuration was read again: what is tried stays as it is. Moves the account to the end of the list,
 * and shortens that. */
static void leave_out_tried(struct run *run, struct event_command *command)
{
    struct account_spec *list = command->configure.accounts;
    for (int i = 0, last = command->configure.n - 1; i <= last; i++)
        if (strcmp(list[i].name, run->options->account) == 0) {
            struct account_spec tried = list[i];
            list[i] = list[last];
            list[last] = tried;
            command->configure.n--;
            run->result.commands_left_out++;
            return;
        }
}

/* Orders of one bar are made by its event, or by the decision that this waits for. */
static int pair_whole(struct run *run)
{
    return engine_request_waits(engine_replay_engine(run->replay)) ? 0 : pair_made(run);
}

static int give_to_fork(struct run *run, const struct event *event)
{
    struct event given = *event;
    if (event->kind == EVENT_DECISION && run->differs && concerns(&run->would_be, event->decision.account))
        return pair_whole(run); /* what is tried decides itself */
    if (event->kind == EVENT_COMMAND && event->command.kind == COMMAND_ACCOUNT_POLICY &&
        !run->options->same_strategy && concerns(&run->would_be, event->command.policy.account)) {
        run->result.commands_left_out++; /* the tried policy or strategy continues */
        given.kind = EVENT_TIMER;
    } else if (event->kind == EVENT_COMMAND && event->command.kind == COMMAND_CONFIGURE) {
        leave_out_tried(run, &given.command);
    } else if (event->kind == EVENT_COMMAND) {
        uint64_t *id = event->command.kind == COMMAND_CANCEL  ? &given.command.order_id
                       : event->command.kind == COMMAND_AMEND ? &given.command.amend.order_id
                                                              : NULL;
        if (id && (*id = fork_id(run, *id)) == 0) {
            run->result.commands_left_out++;
            given.kind = EVENT_TIMER;
        }
    }
    int r = engine_handle(run->fork, &given);
    if (r == -EINVAL)
        r = 0; /* it names what is not there: the recorded run refused it as well */
    if (r == 0)
        r = ask_tried(run, run->why, sizeof run->why);
    return r < 0 ? r : pair_whole(run);
}

/* Deposits and withdrawals move the peak in proportion: the trading is measured. */
static void deepen(struct what_if_way *way, int64_t *highest, int64_t *deposits,
                   const struct account *account, int64_t equity)
{
    int64_t before = equity - (account->deposits - *deposits);
    if (account->deposits != *deposits)
        *highest = before > 0 && equity > 0 ? (int64_t)((int128_t)*highest * equity / before) : equity;
    *deposits = account->deposits;
    if (equity > *highest)
        *highest = equity;
    double drawdown = *highest > 0 ? 1 - (double)equity / (double)*highest : 0;
    if (drawdown > way->drawdown)
        way->drawdown = drawdown;
}

static void look(struct run *run)
{
    const struct engine *engine = engine_replay_engine(run->replay);
    int was = account_of(run, engine), would_be = account_of(run, run->fork);
    if (was < 0 || would_be < 0)
        return;
    run->result.was.end = engine_equity(engine, was);
    run->result.would_be.end = engine_equity(run->fork, would_be);
    deepen(&run->result.was, &run->highest[0], &run->deposits[0], engine_account(engine, was),
           run->result.was.end);
    deepen(&run->result.would_be, &run->highest[1], &run->deposits[1], engine_account(run->fork, would_be),
           run->result.would_be.end);
}

static void end_spans(struct run *run, int64_t now_ns)
{
    int64_t span_ns = run->options->span_ns;
    if (!run->options->span || span_ns <= 0)
        return;
    if (run->span_end_ns == 0)
        run->span_end_ns = (now_ns / span_ns + 1) * span_ns;
    for (; now_ns >= run->span_end_ns; run->span_end_ns += span_ns)
        run->options->span(run->options->ctx, run->span_end_ns, run->result.was.end,
                           run->result.would_be.end);
}

/* Market data move equity at every frame; it is sampled as often as a strategy could look: once a second. */
static const int64_t LOOK_NS = 1000000000LL;

static int play(struct run *run, char *err, size_t err_size)
{
    const struct what_if_options *options = run->options;
    uint64_t runs = engine_replay_runs(run->replay);
    int64_t next_look_ns = 0;
    int r;
    while ((r = engine_replay_step(run->replay)) == 1) {
        const struct event *event = engine_replay_event(run->replay);
        if (engine_replay_runs(run->replay) != runs) {
            runs = engine_replay_runs(run->replay);
            r = configure_fork(run, engine_replay_engine(run->replay), err, err_size);
            if (r < 0)
                return r;
        }
        end_spans(run, event->recv_ns);
        r = give_to_fork(run, event);
        if (r < 0) {
            snprintf(err, err_size, "event %" PRIu64 ": %s", event->seq,
                     run->why[0] ? run->why : strerror(-r));
            return r;
        }
        run->result.events++;
        run->result.to_seq = event->seq;
        run->result.to_ns = event->recv_ns;
        if (event->recv_ns >= next_look_ns) {
            look(run);
            next_look_ns = event->recv_ns + LOOK_NS;
        }
    }
    if (r < 0) {
        snprintf(err, err_size, "%s", engine_replay_error(run->replay));
        return r;
    }
    look(run);
    if (options->span && run->result.to_ns > 0)
        options->span(options->ctx, run->result.to_ns, run->result.was.end, run->result.would_be.end);
    return 0;
}

/* Plays up to the first event at the time or after it: the two sides separate there. */
static int play_to_fork(struct run *run, char *err, size_t err_size)
{
    int r;
    while ((r = engine_replay_step(run->replay)) == 1) {
        const struct event *event = engine_replay_event(run->replay);
        run->result.at_seq = run->result.to_seq = event->seq;
        run->result.at_ns = run->result.to_ns = event->recv_ns;
        if (event->recv_ns >= run->options->at_ns)
            return fork_engine(run, err, err_size);
    }
    if (r == 0)
        snprintf(err, err_size, "the log ends before that time");
    else
        snprintf(err, err_size, "%s", engine_replay_error(run->replay));
    return r == 0 ? -ENOENT : r;
}

int engine_what_if_run(const struct what_if_options *options, struct what_if_result *ret, char *err,
                       size_t err_size)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    run->options = options;
    run->was = (struct way){.run = run, .result = &run->result.was};
    run->would_be = (struct way){.run = run, .result = &run->result.would_be};
    const struct replay_options replay = {.path = options->path,
                                          .from_ns = options->at_ns,
                                          .to_ns = options->to_ns == INT64_MAX ? 0 : options->to_ns,
                                          .sink = sink_of(&run->was)};
    int r = engine_replay_open(&replay, &run->replay, err, err_size);
    if (r == 0)
        r = play_to_fork(run, err, err_size);
    if (r == 0)
        r = play(run, err, err_size);
    if (r == 0) {
        run->result.runs = engine_replay_runs(run->replay);
        run->result.holes = engine_replay_holes(run->replay);
        *ret = run->result;
    }
    strategy_host_close(run->host);
    engine_destroy(run->fork);
    engine_replay_close(run->replay);
    free(run->was.made);
    free(run->would_be.made);
    free(run->pairs);
    free(run);
    return r;
}
