
#include "cli/explain_print.h"
#include "cli/stored.h"
#include "record/order.h"
#include "record/print.h"
#include "record/words.h"
#include "strategy/intent.h"
#include "strategy/param_json.h"

static json_t *event_object(const struct explained_event *event)
{
    return json_pack("{s:I, s:I, s:s, s:s}", "seq", (json_int_t)event->seq, "recv_ns",
                     (json_int_t)event->recv_ns, "kind", event_kind_name(event->kind), "text", event->text);
}

/* Who submitted an order and what it trades: said once, of the explanation, and not of each change. */
static const struct record_key once[] = {{"order", ""},   {"account", ""},   {"symbol", ""}, {"side", ""},
                                         {"type", ""},    {"tif", ""},       {"group", ""},  {"parent", ""},
                                         {"by_hand", ""}, {"client_id", ""}, {"tag", ""}};
enum { N_ONCE = sizeof once / sizeof *once };

/* An order as it was after a change. */
static json_t *order_object(const struct explanation *e, const struct order *order)
{
    json_t *object = record_json_object(&record_orders, once, N_ONCE, order,
                                        &(struct record_context){.symbol = &e->symbol});
    json_object_set_new(object, "expires_ns", json_integer(order->expires_ns)); /* 0: never */
    return object;
}

static json_t *once_object(const struct explanation *e)
{
    const struct record_context context = {e->have_symbol ? &e->symbol : NULL, e->account};
    json_t *object = json_object();
    for (int i = 0; i < N_ONCE; i++)
        json_object_set_new(object, once[i].name,
                            record_json(record_find(&record_orders, once[i].name), &e->order, &context));
    json_object_set_new(object, "group", json_integer((json_int_t)e->order.group)); /* 0: none */
    json_object_set_new(object, "parent", json_integer((json_int_t)e->order.parent));
    return object;
}

PRINT_OBJECT(bar_object, struct bar, PRINT_AS(TIME, REQUIRED, open_ns, "open_time_ns"), PRINT_PRICE(open),
             PRINT_PRICE(high), PRINT_PRICE(low), PRINT_PRICE(close),
             PRINT_AS(VOLUME, REQUIRED, volume, "volume"));

PRINT_OBJECT(intent_object, struct intent, PRINT_LATER("kind"), PRINT_REAL(fraction), PRINT_REAL(stop),
             PRINT_REAL(profit), PRINT_REAL(limit), PRINT_WHOLE(good_ns), PRINT_LATER("why"));

static json_t *wanted_object(const struct intent *intent)
{
    static const char *const sizes[] = {"of_equity", "of_position", "of_units"};
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:b}", "side", order_side_name(intent->side),
                     "type", order_type_name(intent->type), "tif", order_tif_name(intent->tif), "size",
                     sizes[intent->size], "qty", intent->qty, "trail", intent->trail, "trail_share",
                     intent->trail_share, "reduce_only", intent->reduce_only);
}

static json_t *intents_array(const struct explained_decision *d)
{
    json_t *intents = json_array();
    for (size_t i = 0; i < d->n_intents; i++) {
        json_t *intent = intent_object(&d->intents[i], NULL);
        if (d->intents[i].kind == INTENT_ORDER)
            json_object_update_missing_new(intent, wanted_object(&d->intents[i]));
        json_object_set_new(intent, "kind", json_string(intent_kind_name(d->intents[i].kind)));
        json_object_set_new(intent, "why", json_string(d->whys[i]));
        json_array_append_new(intents, intent);
    }
    return intents;
}

PRINT_OBJECT(trades_object, struct strategy_record, PRINT_WHOLE(wins), PRINT_WHOLE(losses),
             PRINT_WHOLE(losing), PRINT_REAL(won), PRINT_REAL(lost));
PRINT_OBJECT(figures_object, struct explained_policy, PRINT_TEXT(id), PRINT_REAL(action), PRINT_REAL(scale),
             PRINT_REAL(least), PRINT_AS(REAL, OPTIONAL, held, "qty"), PRINT_REAL(held_bars),
             PRINT_REAL(cool_bars), PRINT_REAL(peak), PRINT_REAL(equity), PRINT_REAL(available),
             PRINT_REAL(ordered), PRINT_REAL(stop), PRINT_REAL(stop_qty), PRINT_BOOL(leaves),
             PRINT_TEXT(limits));
PRINT_OBJECT(input_object, struct strategy_input, PRINT_WHOLE(interval_ns), PRINT_WHOLE(ts_ns),
             PRINT_REAL(open), PRINT_REAL(high), PRINT_REAL(low), PRINT_REAL(close), PRINT_REAL(volume),
             PRINT_REAL(qty), PRINT_REAL(entry), PRINT_REAL(equity), PRINT_REAL(cash),
             PRINT_BOOL(live_orders), PRINT_BOOL(shorts), PRINT_REAL(stop), PRINT_REAL(profit),
             PRINT_WHOLE(positions), PRINT_WHOLE(symbols));

static json_t *members_array(const struct explained_policy *p)
{
    json_t *members = json_array();
    for (int i = 0; i < p->n_members; i++) {
        const struct explained_member *member = &p->members[i];
        json_array_append_new(members,
                              json_pack("{s:s, s:s, s:o, s:o, s:o}", "file", member->name, "id", member->id,
                                        "action", record_json_real((double)member->vote.action), "weight",
                                        record_json_real(member->vote.weight), "sharpe",
                                        record_json_real(member->vote.sharpe)));
    }
    return members;
}

static json_t *policy_object(const struct explanation *e)
{
    const struct explained_policy *p = &e->decision.policy;
    json_t *policy = figures_object(p, NULL);
    if (p->n_members > 0)
        json_object_set_new(policy, "members", members_array(p));
    return json_pack("{s:n, s:o, s:o}", "strategy", "policy", policy, "bar",
                     bar_object(&e->decision.bar, &e->symbol));
}

static json_t *decision_object(const struct explanation *e)
{
    const struct explained_decision *d = &e->decision;
    if (!e->have_decision)
        return json_null();
    if (d->have_policy)
        return policy_object(e);
    json_t *params = json_object(), *values = json_object();
    for (size_t i = 0; d->strategy && i < d->strategy->n_params; i++)
        json_object_set_new(params, d->strategy->params[i].name,
                            strategy_param_json(&d->strategy->params[i], d->params[i]));
    for (size_t i = 0; i < d->n_values; i++)
        json_object_set_new(values, d->names[i], record_json_real(d->values[i]));
    json_t *input = input_object(&d->input, NULL);
    json_object_set_new(input, "record", trades_object(&d->record, NULL));
    return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:o}", "strategy", d->strategy ? d->strategy->name : NULL,
                     "params", params, "bar", bar_object(&d->bar, &e->symbol), "indicators", values,
                     "observation", input, "intents", intents_array(d));
}

static json_t *command_object(const struct explanation *e)
{
    const struct explained_command *c = &e->command;
    if (!e->have_command)
        return json_null();
    json_t *args = c->args ? json_loads(c->args, 0, NULL) : NULL;
    return json_pack("{s:I, s:s, s:s, s:I, s:I, s:o}", "id", (json_int_t)c->id, "cmd",
                     engine_command_kind_name(c->kind), "grouping", engine_order_grouping_name(c->grouping),
                     "peer_uid", (json_int_t)c->peer_uid, "peer_pid", (json_int_t)c->peer_pid, "args",
                     args ? args : json_null());
}

/* The command that cancelled it; null where it ended otherwise. */
static json_t *canceled_object(const struct explanation *e)
{
    const struct explained_command *c = &e->canceled_by;
    if (e->canceled_at.seq == 0 || e->order.state != ORDER_CANCELED || e->order.reason != ORDER_OK)
        return json_null();
    return json_pack("{s:I, s:s, s:I, s:I, s:o}", "id", (json_int_t)c->id, "cmd",
                     engine_command_kind_name(c->kind), "peer_uid", (json_int_t)c->peer_uid, "peer_pid",
                     (json_int_t)c->peer_pid, "event", event_object(&e->canceled_at));
}

PRINT_OBJECT(facts_object, struct risk_facts, PRINT_WHOLE(now_ns), PRINT_BOOL(reduces), PRINT_BOOL(paused),
             PRINT_BOOL(stale), PRINT_BOOL(storage_failing), PRINT_BOOL(killed), PRINT_BOOL(begins),
             PRINT_BOOL(entered), PRINT_WHOLE(positions), PRINT_AS(TIME, OPTIONAL, closed_ns, "closed_ns"),
             PRINT_PRICE_OR_NONE(last, "last"), PRINT_PRICE_OR_NONE(limit_price, "limit"),
             PRINT_PRICE_OR_NONE(stop_price, "stop"), PRINT_QUOTE(order_notional),
             PRINT_QUOTE(symbol_notional), PRINT_QUOTE(account_notional), PRINT_QUOTE(equity),
             PRINT_QUOTE(day_equity), PRINT_QUOTE(peak));

static json_t *verdict_object(const struct explanation *e)
{
    const struct explained_verdict *verdict = &e->verdict;
    const struct account_rules rules = {.risk = verdict->limits};
    struct symbol money = {.price_scale = e->symbol.price_scale, .quote_scale = e->currency_scale};
    if (!e->have_verdict)
        return json_null();
    /* Else refused here, or with its group. */
    bool accepted = e->order.state != ORDER_REJECTED || cli_explain_venue_refused(e);
    return json_pack("{s:b, s:s?, s:s?, s:o, s:o}", "accepted", accepted, "reason",
                     accepted ? NULL : order_reason_name(e->order.reason), "words",
                     accepted ? NULL : cli_explain_refusal(e), "limits",
                     record_print(&engine_limits_record, &rules, NULL), "facts",
                     verdict->have_facts ? facts_object(&verdict->facts, &money) : json_null());
}

PRINT_OBJECT(take_object, struct explained_fill, PRINT_AS(PRICE, REQUIRED, level.price, "level_price"),
             PRINT_AS(QTY, REQUIRED, level.qty, "level_qty"), PRINT_QTY(taken_before),
             PRINT_AS(QTY, UNKNOWN, queue_ahead, "queue_ahead"), PRINT_BOOL(from_book));
PRINT_OBJECT(fill_bar_object, struct bar, PRINT_WHOLE(open_ns), PRINT_PRICE(open), PRINT_PRICE(high),
             PRINT_PRICE(low), PRINT_PRICE(close));

static json_t *fill_object(const struct explanation *e, const struct explained_fill *fill)
{
    static const struct record_key keys[] = {{"fill"},           {"event"},      {"order", ""},
                                             {"account", ""},    {"symbol", ""}, {"side", ""},
                                             {"fee_percent", ""}};
    const struct record_context context = {.symbol = &e->symbol};
    json_t *object =
        record_json_object(&record_fills, keys, sizeof keys / sizeof *keys, &fill->fill, &context);
    cli_fills_derived(object, &fill->fill, &context);
    json_object_set_new(object, "event", event_object(&fill->event));
    json_object_set_new(object, "fee_rate", decimal_json(fill->fill.fee_e6, 6));
    json_object_set_new(object, "take", fill->have_take ? take_object(fill, &e->symbol) : json_null());
    json_object_set_new(object, "bar",
                        fill->have_bar ? fill_bar_object(&fill->bar, &e->symbol) : json_null());
    return object;
}

static json_t *difference_object(const struct explanation *e)
{
    const struct difference *d = &e->difference;
    if (!e->compared || e->equal)
        return json_null();
    return json_pack("{s:s, s:I, s:s, s:s, s:s}", "table", d->table, "id", (json_int_t)d->id, "field",
                     d->field, "replayed", d->replayed, "recorded", d->recorded);
}

static json_t *origin_object(const struct db_order_policy *origin)
{
    char id[POLICY_ID_TEXT];
    if (!origin)
        return json_null();
    policy_id_text(origin->id, id);
    return json_pack("{s:s, s:s}", "id", id, "backend", origin->backend);
}

json_t *cli_explain_object(const struct explanation *e, const struct db_order_policy *origin)
{
    json_t *object = once_object(e), *changes = json_array(), *fills = json_array();
    for (size_t i = 0; i < e->n_changes; i++) {
        const struct explained_change *c = &e->changes[i];
        json_array_append_new(changes,
                              json_pack("{s:o, s:o, s:i}", "event",
                                        c->event.seq ? event_object(&c->event) : json_null(), "order",
                                        order_object(e, &c->order), "moves", (int)c->moves));
    }
    for (size_t i = 0; i < e->n_fills; i++)
        json_array_append_new(fills, fill_object(e, &e->fills[i]));
    json_object_set_new(object, "venue_words", record_json_text(e->venue_words));
    json_object_set_new(object, "venue_client_id", record_json_text(e->venue_client_id));
    json_object_set_new(object, "venue_order_id", record_json_text(e->venue_id));
    int r = json_object_update_new(
        object, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}", "final",
                          order_object(e, &e->order), "event", event_object(&e->input), "command",
                          command_object(e), "decision", decision_object(e), "verdict", verdict_object(e),
                          "fills", fills, "changes", changes, "canceled_by", canceled_object(e), "equal",
                          e->compared ? json_boolean(e->equal) : json_null(), "incomplete", e->incomplete,
                          "difference", difference_object(e), "recorded_policy", origin_object(origin)));
    if (r < 0)
        json_decref(object);
    return r < 0 ? NULL : object;
}
