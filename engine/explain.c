#include "engine/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/refusal.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"

/* What a step emitted before the order or fill that it belongs to. */
struct emitted_decision {
    int account, symbol;
    struct explained_decision decision;
};
struct emitted_verdict {
    uint64_t order;
    struct explained_verdict verdict;
    char words[ORDER_WORDS_MAX]; /* of its refusal */
};
struct emitted_take {
    uint64_t order;
    struct engine_take take;
    struct bar bar; /* take.bar is of the call only: whether there is one */
};

struct run {
    const struct explain_options *options;
    struct explain_result result;
    struct replay *replay;
    struct engine_trace trace;
    struct explanation **open; /* by ascending id */
    size_t n_open, cap_open;
    struct emitted_decision *decisions;
    size_t n_decisions, cap_decisions;
    bool any_touched; /* an open one, in this step */
    struct emitted_verdict *verdicts;
    size_t n_verdicts, cap_verdicts;
    struct emitted_take *takes;
    size_t n_takes, cap_takes;
    uint64_t seen;      /* of the ids */
    uint64_t last_made; /* the highest order id emitted so far */
    bool stop;
    int r;
};

/* Room for one more at the end; NULL without memory, which ends the run. */
static void *append(struct run *run, void **items, size_t *n, size_t *cap, size_t size)
{
    void *at = engine_live_append(items, n, cap, size);
    if (!at)
        run->r = -ENOMEM;
    return at;
}
#define APPEND(run, of, items) \
    append(run, (void **)&(of)->items, &(of)->n_##items, &(of)->cap_##items, sizeof *(of)->items)

static void explanation_destroy(struct explanation *explanation)
{
    if (!explanation)
        return;
    free(explanation->command.args);
    free(explanation->changes);
    free(explanation->fills);
    free(explanation);
}

/* ---- what the engine emits */

static struct explained_policy policy_of(const struct engine *engine, const struct engine_decision *reported)
{
    const struct engine_policy_decision *p = reported->policy;
    const struct symbol *symbol = engine_symbol(engine, reported->symbol);
    double qty = p->units->qty_units, price = p->units->price_units; /* a quotient is the nearest number */
    struct explained_policy policy = {
        .action = p->action,
        .day_trade = p->policy->day_trade,
        .size = p->day.size,
        .closes = p->day.leaves,
        .scale = p->memory.scale / qty,
        .least = p->memory.least / qty,
        .held = p->memory.qty / qty,
        .held_bars = p->memory.held,
        .cool_bars = p->memory.cool,
        .peak = p->memory.peak / price,
        .equity = decimal_to_double(p->equity, symbol->quote_scale),
        .available = decimal_to_double(p->available, symbol->quote_scale),
        .ordered = p->order.qty / qty,
        .stop = p->order.stop / price,
        .stop_qty = p->order.stop_qty / qty,
        .leaves = p->leaves,
    };
    policy_id_text(p->policy->id, policy.id);
    policy_limits_text(&p->policy->rules.limits, policy.limits);
    policy.n_members = p->policy->n_members;
    for (int i = 0; i < policy.n_members; i++) {
        const char *name = p->policy->member_names[i];
        size_t length = strlen(name), most = EXPLAIN_MEMBER_MAX - 1;
        struct explained_member *member = &policy.members[i];
        name += length > most ? length - most : 0;
        while (((unsigned char)*name & 0xc0) == 0x80) /* the rest of a character that was cut */
            name++;
        snprintf(member->name, sizeof member->name, "%s", name);
        policy_id_text(p->policy->members[i]->id, member->id);
        member->vote = p->votes[i];
    }
    return policy;
}

/* A policy makes at most two orders, with these tags. */
static void on_policy(struct run *run, const struct engine *engine, const struct engine_decision *reported)
{
    const struct engine_policy_decision *p = reported->policy;
    if (p->order.qty == 0 && p->order.stop == 0)
        return;
    struct emitted_decision *at = APPEND(run, run, decisions);
    if (!at)
        return;
    at->account = reported->account;
    at->symbol = reported->symbol;
    at->decision = (struct explained_decision){.have_policy = true,
                                               .policy = policy_of(engine, reported),
                                               .bar = *reported->bar,
                                               .interval_ns = engine->interval_ns};
}

static void on_decision(void *ctx, const struct engine_decision *reported)
{
    struct run *run = ctx;
    const struct engine *engine = engine_replay_engine(run->replay);
    if (reported->policy) {
        on_policy(run, engine, reported);
        return;
    }
    if (!reported->acted || reported->n_intents == 0)
        return;
    struct emitted_decision *at = APPEND(run, run, decisions);
    if (!at)
        return;
    struct explained_decision *to = &at->decision;
    at->account = reported->account;
    at->symbol = reported->symbol;
    const struct account_spec *spec = engine_account_spec(engine, reported->account);
    *to = (struct explained_decision){
        .strategy = spec->strategy,
        .bar = *reported->bar,
        .interval_ns = engine->interval_ns,
        .input = *reported->input,
        .record = *reported->input->record,
        .n_values = reported->n_indicators,
        .n_intents = reported->n_intents,
    };
    memcpy(to->params, spec->params, sizeof to->params);
    for (size_t i = 0; i < reported->n_indicators; i++) {
        snprintf(to->names[i], sizeof to->names[i], "%s", reported->indicator_names[i]);
        to->values[i] = reported->input->indicators[i];
    }
    to->input.indicators = NULL;
    to->input.record = NULL;
    to->input.peers = NULL;
    for (size_t i = 0; i < reported->n_intents; i++) {
        to->intents[i] = reported->intents[i];
        to->intents[i].why = NULL;
        snprintf(to->whys[i], sizeof to->whys[i], "%s",
                 reported->intents[i].why ? reported->intents[i].why : "");
    }
}

/* "": the reason's own words are all. */
static void refusal_words(const struct run *run, const struct order *order, enum order_reason reason,
                          char ret[static ORDER_WORDS_MAX])
{
    char words[ORDER_WORDS_MAX];
    const char *why = engine_refusal_words(engine_replay_engine(run->replay), reason, order, 1, words);
    snprintf(ret, ORDER_WORDS_MAX, "%s", why ? why : "");
}

static void on_verdict(void *ctx, const struct engine_verdict *reported)
{
    struct run *run = ctx;
    struct emitted_verdict *to = APPEND(run, run, verdicts);
    if (!to)
        return;
    *to = (struct emitted_verdict){.order = reported->order->id,
                                   .verdict = {.reason = reported->reason,
                                               .limits = *reported->limits,
                                               .have_facts = reported->facts != NULL}};
    if (reported->facts)
        to->verdict.facts = *reported->facts;
    if (reported->reason != ORDER_OK)
        refusal_words(run, reported->order, reported->reason, to->words);
}

static void on_take(void *ctx, const struct engine_take *reported)
{
    struct run *run = ctx;
    struct emitted_take *take = APPEND(run, run, takes);
    if (!take)
        return;
    *take = (struct emitted_take){.order = reported->order->id, .take = *reported};
    if (reported->bar)
        take->bar = *reported->bar;
}

static struct explanation *find_open(struct run *run, uint64_t id)
{
    size_t low = 0, high = run->n_open;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->open[middle]->order.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->n_open && run->open[low]->order.id == id ? run->open[low] : NULL;
}

static int by_id(const void *key, const void *id)
{
    uint64_t a = *(const uint64_t *)key, b = *(const uint64_t *)id;
    return (a > b) - (a < b);
}

static bool wanted(const struct run *run, const struct order *order)
{
    const struct explain_options *options = run->options;
    if (options->n_ids > 0)
        return bsearch(&order->id, options->ids, options->n_ids, sizeof *options->ids, by_id) != NULL;
    return order->created_ns >= options->from_ns && order->created_ns < options->to_ns;
}

/* Did this decision make the order? Its tag is the intent's, or it is the exit of such an order. */
static bool asked_for(const struct emitted_decision *reported, const struct order *order)
{
    if (reported->account != order->account || reported->symbol != order->symbol || order->by_hand)
        return false;
    if (reported->decision.have_policy)
        return order->type == ORDER_STOP ? reported->decision.policy.stop > 0
                                         : reported->decision.policy.ordered != 0;
    for (size_t i = 0; i < reported->decision.n_intents; i++)
        if (order->parent != 0 || strncmp(reported->decision.whys[i], order->tag, sizeof order->tag) == 0)
            return true;
    return false;
}

static void attach_decision(struct run *run, struct explanation *explanation)
{
    for (size_t i = run->n_decisions; i-- > 0 && !explanation->have_decision;)
        if (asked_for(&run->decisions[i], &explanation->order)) {
            explanation->have_decision = true;
            explanation->decision = run->decisions[i].decision;
        }
}

/* What refused an order of its group refused it too. No verdict so far is of an order after the group's. */
static void attach_verdict(struct run *run, struct explanation *explanation)
{
    const struct order *order = &explanation->order;
    for (size_t i = 0; i < run->n_verdicts; i++) {
        const struct emitted_verdict *emitted = &run->verdicts[i];
        if (emitted->order == order->id) {
            explanation->have_verdict = true;
            explanation->verdict = emitted->verdict;
        }
        bool of_group = emitted->order == order->id || (order->group && emitted->order >= order->group);
        if (of_group && order->state == ORDER_REJECTED && emitted->verdict.reason == order->reason)
            memcpy(explanation->refusal, emitted->words, sizeof explanation->refusal);
    }
}

static void set_names(struct explanation *explanation, const struct engine *engine)
{
    const struct order *order = &explanation->order;
    explanation->have_symbol = order->symbol >= 0 && order->symbol < engine->n_symbols;
    if (explanation->have_symbol)
        explanation->symbol = *engine_symbol(engine, order->symbol);
    if (order->account >= 0 && order->account < engine->n_accounts) {
        const struct account *account = engine_account(engine, order->account);
        memcpy(explanation->account, account->name, sizeof explanation->account);
        memcpy(explanation->currency, account->currency, sizeof explanation->currency);
        explanation->currency_scale = account->currency_scale;
    }
    explanation->latency_ns = engine->latency_ns;
}

static struct explanation *begin(struct run *run, const struct order *order)
{
    struct explanation *explanation = calloc(1, sizeof *explanation);
    struct explanation **at = explanation ? APPEND(run, run, open) : NULL;
    if (!at) {
        free(explanation);
        run->r = -ENOMEM;
        return NULL;
    }
    *at = explanation;
    run->seen++;
    explanation->order = *order;
    attach_decision(run, explanation);
    attach_verdict(run, explanation);
    if (order->state == ORDER_REJECTED && !explanation->have_verdict && !explanation->refusal[0] &&
        order->account >= 0 && order->symbol >= 0)
        refusal_words(run, order, order->reason, explanation->refusal);
    return explanation;
}

/* Does `after` differ from `before` only in a trailing stop's price? */
static bool only_moved(const struct order *before, const struct order *after)
{
    struct order moved = *before;
    if (after->type != ORDER_TRAILING_STOP)
        return false;
    moved.peak = after->peak;
    moved.stop_price = after->stop_price;
    moved.updated_ns = after->updated_ns;
    struct difference difference;
    return engine_compare_orders(&moved, NULL, &(struct recorded_order){.order = *after}, &difference);
}

static void on_order(void *ctx, const struct order *order)
{
    struct run *run = ctx;
    struct explanation *explanation = find_open(run, order->id);
    if (!explanation) {
        if (order->id <= run->last_made || !wanted(run, order))
            goto reported;
        explanation = begin(run, order);
        if (!explanation)
            goto reported;
    }
    explanation->order = *order;
    explanation->touched = run->any_touched = true;
    set_names(explanation, engine_replay_engine(run->replay));
    struct explained_change change = {.order = *order};
    size_t n = explanation->n_changes;
    if (n > 1 && only_moved(&explanation->changes[n - 1].order, order)) {
        change.moves = explanation->changes[n - 1].moves + 1;
        if (change.moves > 1)
            explanation->n_changes--; /* one entry for consecutive moves */
    }
    struct explained_change *to = APPEND(run, explanation, changes);
    if (to)
        *to = change;
reported:
    if (order->id > run->last_made)
        run->last_made = order->id;
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct run *run = ctx;
    struct explanation *explanation = find_open(run, fill->order_id);
    if (!explanation)
        return;
    struct explained_fill *to = APPEND(run, explanation, fills);
    if (!to)
        return;
    *to = (struct explained_fill){.fill = *fill, .queue_ahead = -1};
    explanation->touched = run->any_touched = true;
    for (size_t i = 0; i < run->n_takes; i++)
        if (run->takes[i].order == fill->order_id) {
            const struct engine_take *take = &run->takes[i].take;
            to->have_take = true;
            to->level = take->level;
            to->taken_before = take->taken_before;
            to->queue_ahead = take->queue_ahead;
            to->from_book = take->from_book;
            to->have_bar = take->bar != NULL;
            if (take->bar)
                to->bar = run->takes[i].bar;
            run->takes[i] = run->takes[--run->n_takes];
            break;
        }
}

/* ---- after a step */

static void name_event(const struct run *run, struct explained_event *to)
{
    const struct event *event = engine_replay_event(run->replay);
    if (!event)
        return;
    to->seq = event->seq;
    to->recv_ns = event->recv_ns;
    to->kind = event->kind;
    event_text(event, engine_replay_engine(run->replay), to->text);
}

static void copy_command(struct run *run, struct explanation *explanation)
{
    const struct event *event = engine_replay_event(run->replay);
    if (!event || event->kind != EVENT_COMMAND)
        return;
    const struct event_command *command = &event->command;
    explanation->have_command = true;
    explanation->command = (struct explained_command){
        .kind = command->kind,
        .id = command->command_id,
        .peer_uid = command->peer_uid,
        .peer_pid = command->peer_pid,
        .grouping = command->kind == COMMAND_ORDER ? command->order.grouping : ORDERS_SINGLE,
        .args = strdup(command->args ? command->args : "")};
    if (!explanation->command.args)
        run->r = -ENOMEM;
}

/* Its ids at its venue, once it was given there. */
static void name_at_venue(const struct run *run, struct explanation *explanation)
{
    const struct engine *engine = engine_replay_engine(run->replay);
    const struct event *event = engine_replay_event(run->replay);
    const struct order *order = &explanation->order;
    bool update = event && event->kind == EVENT_VENUE_ORDER && event->venue_order.order_id == order->id;
    bool given =
        order_live(order->state) && order->state != ORDER_HELD && !engine_venue_waits(engine, order->id);
    const char *venue_id = engine_venue_id(engine, order->account, order->id);
    if (!venue_id[0] && update &&
        event->venue_order.update != VENUE_UPDATE_DUPLICATE) /* of before it was kept */
        venue_id = event->venue_order.venue_id;
    if (venue_id[0])
        snprintf(explanation->venue_id, sizeof explanation->venue_id, "%s", venue_id);
    bool worded = update && event->venue_order.update != VENUE_UPDATE_OPEN &&
                  event->venue_order.update != VENUE_UPDATE_FILL &&
                  event->venue_order.update != VENUE_UPDATE_AGAIN &&
                  event->venue_order.update != VENUE_UPDATE_DUPLICATE;
    if (worded)
        memcpy(explanation->venue_words, event->venue_order.text, sizeof explanation->venue_words);
    if ((update || given) && engine_venue_attached(engine, order->account))
        engine_venue_client_id(engine, order->account, order->id, explanation->venue_client_id);
}

static void name_events(struct run *run, struct explanation *explanation)
{
    struct explained_event event = {0};
    name_event(run, &event);
    if (explanation->account[0])
        name_at_venue(run, explanation);
    if (explanation->input.seq == 0) {
        explanation->input = event;
        copy_command(run, explanation);
    }
    for (size_t i = explanation->n_changes; i > 0 && explanation->changes[i - 1].event.seq == 0; i--)
        explanation->changes[i - 1].event = event;
    for (size_t i = explanation->n_fills; i > 0 && explanation->fills[i - 1].event.seq == 0; i--)
        explanation->fills[i - 1].event = event;
}

static void difference_found(struct run *run, const struct explanation *explanation,
                             const struct explained_event *at)
{
    if (run->result.different && run->result.difference_at.seq <= at->seq)
        return;
    run->result.different = true;
    run->result.difference = explanation->difference;
    run->result.difference_at = *at;
}

static int compare_with_record(struct run *run, struct explanation *explanation)
{
    const struct engine_recorded *recorded = run->options->recorded;
    const struct symbol *symbol = explanation->have_symbol ? &explanation->symbol : NULL;
    explanation->compared = explanation->equal = true;
    for (size_t i = 0; i < explanation->n_fills && explanation->equal; i++) {
        struct recorded_fill row;
        const struct explained_fill *fill = &explanation->fills[i];
        int r = recorded->fill(recorded->ctx, fill->fill.id, &row);
        if (r == -ENOENT)
            engine_compare_missing("fills", fill->fill.id, true, &explanation->difference);
        else if (r < 0)
            return r;
        explanation->equal =
            r == 0 && engine_compare_fills(&fill->fill, symbol, &row, &explanation->difference);
        if (!explanation->equal)
            difference_found(run, explanation, &fill->event);
    }
    if (!explanation->equal)
        return 0;
    struct recorded_order row;
    int r = recorded->order(recorded->ctx, explanation->order.id, &row);
    if (r == -ENOENT)
        engine_compare_missing("orders", explanation->order.id, true, &explanation->difference);
    else if (r < 0)
        return r;
    explanation->equal =
        r == 0 && engine_compare_orders(&explanation->order, symbol, &row, &explanation->difference);
    if (!explanation->equal)
        difference_found(run, explanation, &explanation->changes[explanation->n_changes - 1].event);
    return 0;
}

static void finish(struct run *run, size_t at)
{
    struct explanation *explanation = run->open[at];
    run->n_open--;
    memmove(&run->open[at], &run->open[at + 1], (run->n_open - at) * sizeof *run->open);
    if (run->options->recorded && !explanation->incomplete && run->r == 0)
        run->r = compare_with_record(run, explanation);
    run->result.explained++;
    run->result.incomplete += explanation->incomplete;
    run->result.equal += explanation->compared && explanation->equal;
    if (run->r == 0 && run->options->explained && !run->options->explained(run->options->ctx, explanation))
        run->stop = true;
    explanation_destroy(explanation);
}

/* Another engine continues, from a state: orders that it does not know ended where nothing was recorded,
 * and what differs was changed between the runs. */
static void engine_replaced(struct run *run)
{
    const struct engine *engine = engine_replay_engine(run->replay);
    for (size_t i = run->n_open; i-- > 0;) {
        struct explanation *explanation = run->open[i];
        const struct order *live = engine_find_order(engine, explanation->order.id);
        if (explanation->touched || !order_live(explanation->order.state))
            continue;
        if (!live) {
            explanation->incomplete = true;
            finish(run, i);
            continue;
        }
        explanation->order = *live;
        set_names(explanation, engine);
    }
    if (engine->last_order > run->last_made)
        run->last_made = engine->last_order;
}

static void end_touched(struct run *run)
{
    for (size_t i = 0; i < run->n_open; i++)
        if (run->open[i]->touched)
            name_events(run, run->open[i]);
    for (size_t i = run->n_open; i-- > 0;) {
        bool touched = run->open[i]->touched;
        run->open[i]->touched = false;
        if (touched && !order_live(run->open[i]->order.state))
            finish(run, i);
    }
    run->any_touched = false;
}

/* Did the command, which was carried out, cancel it: by its number, as the other leg of its group, or with
 * all? A flatten's own orders, which it places after that, are not cancelled by it. */
static bool cancels(const struct run *run, const struct event_command *command, const struct order *order)
{
    const struct engine *engine = engine_replay_engine(run->replay);
    size_t at = engine_match_find(engine, order->id);
    if (at < engine->n_orders ? !engine->orders[at].cancel_queued
                              : order->state != ORDER_CANCELED || order->reason != ORDER_OK)
        return false;
    if (command->kind != COMMAND_CANCEL)
        return command->kind == COMMAND_FLATTEN;
    const struct order *named = engine_find_order(engine, command->order_id);
    return command->order_id == order->id || (named && named->group != 0 && named->group == order->group);
}

/* An order ends a latency after the command that cancels it, with an event of its own. */
static void note_cancel(struct run *run)
{
    const struct event *event = engine_replay_event(run->replay);
    if (!event || event->kind != EVENT_COMMAND)
        return;
    const struct event_command *command = &event->command;
    for (size_t i = 0; i < run->n_open; i++) {
        struct explanation *explanation = run->open[i];
        if (explanation->canceled_at.seq > 0 || !cancels(run, command, &explanation->order))
            continue;
        name_event(run, &explanation->canceled_at);
        explanation->canceled_by = (struct explained_command){.kind = command->kind,
                                                              .id = command->command_id,
                                                              .peer_uid = command->peer_uid,
                                                              .peer_pid = command->peer_pid};
    }
}

static void after_step(struct run *run)
{
    note_cancel(run);
    if (run->any_touched)
        end_touched(run);
    run->n_decisions = run->n_verdicts = run->n_takes = 0;
    run->result.to_seq = engine_replay_seq(run->replay);
}

/* ---- the run */

/* The log's beginning. 0; -errno with one sentence. */
static int engine_explain_log_begin(const char *path, uint64_t *ret_seq, int64_t *ret_ns, char *err,
                                    size_t err_size)
{
    struct journal_reader *reader;
    struct journal_record record;
    int r = journal_reader_open(path, &reader, err, err_size);
    if (r < 0)
        return r;
    r = journal_reader_next(reader, &record);
    if (r == 1) {
        *ret_seq = record.seq;
        *ret_ns = record.recv_ns;
        r = 0;
    } else {
        snprintf(err, err_size, "%s", r < 0 ? journal_reader_error(reader) : "the log is empty");
        r = r < 0 ? r : -ENOENT;
    }
    journal_reader_close(reader);
    return r;
}

/* The event before which the replay must begin; -ENOENT for an id that was never recorded. */
static int first_input(const struct explain_options *options, uint64_t *ret_seq, char *err, size_t err_size)
{
    const struct engine_recorded *recorded = options->recorded;
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < options->n_ids; i++) {
        struct recorded_order row;
        int r = recorded->order(recorded->ctx, options->ids[i], &row);
        if (r < 0) {
            snprintf(err, err_size,
                     r == -ENOENT ? "order %" PRIu64 " is not in the record"
                                  : "order %" PRIu64 " cannot be read from the record",
                     options->ids[i]);
            return r;
        }
        if (row.order.input_seq < first)
            first = row.order.input_seq;
    }
    *ret_seq = first > 0 ? first - 1 : 0;
    return 0;
}

static int older(const char *path, char *err, size_t err_size)
{
    char time[CLOCK_TEXT_MAX];
    uint64_t seq;
    int64_t ns;
    int r = engine_explain_log_begin(path, &seq, &ns, err, err_size);
    if (r < 0)
        return r;
    return fail_with(-ENOENT, err, err_size,
                     "it is older than the log, which begins after event %" PRIu64 ", at %s", seq,
                     clock_utc_text(ns, time));
}

/* Opens the log at the newest state before the orders' events, or before the day. */
static int open_replay(struct run *run, char *err, size_t err_size)
{
    const struct explain_options *options = run->options;
    struct replay_options replay = {.path = options->path,
                                    .sink = {.ctx = run, .order = on_order, .fill = on_fill}};
    run->trace = (struct engine_trace){run, on_decision, on_verdict, on_take};
    replay.sink.trace = &run->trace;
    if (options->n_ids == 0) {
        replay.from_ns = options->from_ns;
        int r = engine_replay_open(&replay, &run->replay, err, err_size);
        if (r != -ENOENT || options->from_ns == 0)
            return r;
        replay.from_ns = 0; /* the day began before the log */
        return engine_replay_open(&replay, &run->replay, err, err_size);
    }
    int r = first_input(options, &replay.from_seq, err, err_size);
    if (r < 0)
        return r;
    r = engine_replay_open(&replay, &run->replay, err, err_size);
    if (r == -ENOENT || (r == 0 && engine_replay_seq(run->replay) > replay.from_seq))
        r = older(options->path, err, err_size); /* from_seq 0 is the oldest state there is */
    return r;
}

static int play(struct run *run, char *err, size_t err_size)
{
    const struct explain_options *options = run->options;
    uint64_t to_seq = options->recorded ? options->recorded->event_seq : UINT64_MAX;
    uint64_t runs = engine_replay_runs(run->replay);
    while (!run->stop && run->r == 0 && engine_replay_seq(run->replay) < to_seq) {
        if (options->n_ids > 0 && run->seen == options->n_ids && run->n_open == 0)
            break;
        int r = engine_replay_step(run->replay);
        if (r < 0)
            snprintf(err, err_size, "%s", engine_replay_error(run->replay));
        if (r <= 0)
            return r;
        if (engine_replay_runs(run->replay) != runs) {
            runs = engine_replay_runs(run->replay);
            engine_replaced(run);
        }
        after_step(run);
        const struct event *event = engine_replay_event(run->replay);
        if (options->n_ids == 0 && run->n_open == 0 && event && event->recv_ns >= options->to_ns)
            break;
    }
    if (run->r < 0)
        snprintf(err, err_size, "%s", run->r == -ENOMEM ? "out of memory" : "the record cannot be read");
    return run->r;
}

int engine_explain_run(const struct explain_options *options, struct explain_result *ret, char *err,
                       size_t err_size)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    run->options = options;
    int r = open_replay(run, err, err_size);
    if (r == 0) {
        run->result.from_seq = run->result.to_seq = engine_replay_seq(run->replay);
        const struct engine *engine = engine_replay_engine(run->replay);
        run->last_made = engine->last_order;
        r = play(run, err, err_size);
    }
    while (run->n_open > 0) {
        if (r == 0 && run->r == 0 && !run->stop)
            finish(run, 0);
        else
            explanation_destroy(run->open[--run->n_open]);
    }
    if (r == 0)
        r = run->r;
    run->result.missing = options->n_ids > run->seen ? options->n_ids - run->seen : 0;
    if (r == 0)
        *ret = run->result;
    free(run->decisions);
    free(run->verdicts);
    free(run->takes);
    free(run->open);
    engine_replay_close(run->replay);
    free(run);
    return r;
}
