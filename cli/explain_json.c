
#include "cli/explain_print.h"
#include "cli/stored.h"
#include "strategy/intent.h"

static json_t *event_object(const struct explained_event *event)
{
    return json_pack("{s:I, s:I, s:s, s:s}", "seq", (json_int_t)event->seq, "recv_ns",
                     (json_int_t)event->recv_ns, "kind", event_kind_name(event->kind), "text", event->text);
}

static json_t *order_object(const struct explanation *e, const struct order *o)
{
    const struct symbol *s = &e->symbol;
    return json_pack(
        "{s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:I}", "state",
        order_state_name(o->state), "reason", o->reason == ORDER_OK ? NULL : order_reason_name(o->reason),
        "qty", cli_stored_number(o->qty, s->qty_scale), "filled", cli_stored_number(o->filled, s->qty_scale),
        "price", cli_stored_number_or_null(o->price, s->price_scale), "stop",
        cli_stored_number_or_null(o->stop_price, s->price_scale), "trail",
        cli_stored_number_or_null(o->trail, s->price_scale), "peak",
        cli_stored_number_or_null(o->peak, s->price_scale), "cost",
        cli_stored_number(o->cost, s->quote_scale), "triggered", o->triggered, "amends",
        (json_int_t)o->amends, "created_ns", (json_int_t)o->created_ns, "effective_ns",
        (json_int_t)o->effective_ns, "updated_ns", (json_int_t)o->updated_ns, "expires_ns",
        (json_int_t)o->expires_ns);
}

static json_t *bar_object(const struct explanation *e, const struct bar *bar)
{
    const struct symbol *s = &e->symbol;
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "open_time_ns", (json_int_t)bar->open_ns, "open",
                     cli_stored_number(bar->open, s->price_scale), "high",
                     cli_stored_number(bar->high, s->price_scale), "low",
                     cli_stored_number(bar->low, s->price_scale), "close",
                     cli_stored_number(bar->close, s->price_scale), "volume",
                     json_real(decimal_to_double(bar->volume, s->qty_scale)));
}

static json_t *intents_array(const struct explained_decision *d)
{
    json_t *intents = json_array();
    for (size_t i = 0; i < d->n_intents; i++)
        json_array_append_new(intents, json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:s}", "kind",
                                                 intent_kind_name(d->intents[i].kind), "fraction",
                                                 cli_stored_real(d->intents[i].fraction), "stop",
                                                 cli_stored_real(d->intents[i].stop), "profit",
                                                 cli_stored_real(d->intents[i].profit), "limit",
                                                 cli_stored_real(d->intents[i].limit), "good_ns",
                                                 (json_int_t)d->intents[i].good_ns, "why", d->whys[i]));
    return intents;
}

static json_t *record_object(const struct strategy_record *record)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o}", "wins", (json_int_t)record->wins, "losses",
                     (json_int_t)record->losses, "losing", (json_int_t)record->losing, "won",
                     cli_stored_real(record->won), "lost", cli_stored_real(record->lost));
}

static json_t *members_array(const struct explained_policy *p)
{
    json_t *members = json_array();
    for (int i = 0; i < p->n_members; i++) {
        const struct explained_member *member = &p->members[i];
        json_array_append_new(members,
                              json_pack("{s:s, s:s, s:o, s:o, s:o}", "file", member->name, "id", member->id,
                                        "action", cli_stored_real((double)member->vote.action), "weight",
                                        cli_stored_real(member->vote.weight), "sharpe",
                                        cli_stored_real(member->vote.sharpe)));
    }
    return members;
}

static json_t *policy_object(const struct explanation *e)
{
    const struct explained_policy *p = &e->decision.policy;
    json_t *policy =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "id", p->id,
                  "action", cli_stored_real((double)p->action), "scale", cli_stored_real(p->scale), "least",
                  cli_stored_real(p->least), "qty", cli_stored_real(p->held), "held_bars",
                  cli_stored_real(p->held_bars), "cool_bars", cli_stored_real(p->cool_bars), "peak",
                  cli_stored_real(p->peak), "equity", cli_stored_real(p->equity), "available",
                  cli_stored_real(p->available), "ordered", cli_stored_real(p->ordered), "stop",
                  cli_stored_real(p->stop), "stop_qty", cli_stored_real(p->stop_qty), "leaves", p->leaves);
    if (p->n_members > 0)
        json_object_set_new(policy, "members", members_array(p));
    return json_pack("{s:n, s:o, s:o}", "strategy", "policy", policy, "bar", bar_object(e, &e->decision.bar));
}

static json_t *decision_object(const struct explanation *e)
{
    const struct explained_decision *d = &e->decision;
    const struct strategy_input *in = &d->input;
    if (!e->have_decision)
        return json_null();
    if (d->have_policy)
        return policy_object(e);
    json_t *params = json_object(), *values = json_object();
    for (size_t i = 0; d->strategy && i < d->strategy->n_params; i++)
        json_object_set_new(params, d->strategy->params[i].name, cli_stored_real(d->params[i]));
    for (size_t i = 0; i < d->n_values; i++)
        json_object_set_new(values, d->names[i], cli_stored_real(d->values[i]));
    json_t *input = json_pack(
        "{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:i, s:i, s:o}",
        "interval_ns", (json_int_t)in->interval_ns, "ts_ns", (json_int_t)in->ts_ns, "open",
        cli_stored_real(in->open), "high", cli_stored_real(in->high), "low", cli_stored_real(in->low),
        "close", cli_stored_real(in->close), "volume", cli_stored_real(in->volume), "qty",
        cli_stored_real(in->qty), "entry", cli_stored_real(in->entry), "equity", cli_stored_real(in->equity),
        "cash", cli_stored_real(in->cash), "live_orders", in->live_orders, "stop", cli_stored_real(in->stop),
        "profit", cli_stored_real(in->profit), "positions", in->positions, "symbols", in->symbols, "record",
        record_object(&d->record));
    return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:o}", "strategy", d->strategy ? d->strategy->name : NULL,
                     "params", params, "bar", bar_object(e, &d->bar), "indicators", values, "observation",
                     input, "intents", intents_array(d));
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

static json_t *facts_object(const struct explanation *e)
{
    const struct risk_facts *f = &e->verdict.facts;
    int scale = e->currency_scale, price_scale = e->symbol.price_scale;
    return json_pack(
        "{s:I, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "now_ns", (json_int_t)f->now_ns, "reduces", f->reduces, "paused", f->paused, "stale", f->stale,
        "storage_failing", f->storage_failing, "killed", f->killed, "begins", f->begins, "entered",
        f->entered, "positions", (int)f->positions, "closed_ns",
        f->closed_ns ? json_integer(f->closed_ns) : json_null(), "last",
        cli_stored_number_or_null(f->last, price_scale), "limit",
        cli_stored_number_or_null(f->limit_price, price_scale), "stop",
        cli_stored_number_or_null(f->stop_price, price_scale), "order_notional",
        cli_stored_number(f->order_notional, scale), "symbol_notional",
        cli_stored_number(f->symbol_notional, scale), "account_notional",
        cli_stored_number(f->account_notional, scale), "equity", cli_stored_number(f->equity, scale),
        "day_equity", cli_stored_number(f->day_equity, scale), "peak", cli_stored_number(f->peak, scale));
}

static json_t *verdict_object(const struct explanation *e)
{
    const struct risk_limits *l = &e->verdict.limits;
    if (!e->have_verdict)
        return json_null();
    json_t *limits =
        json_pack("{s:f, s:f, s:f, s:i, s:f, s:f, s:o, s:i}", "exposure_symbol", l->exposure_symbol,
                  "exposure_account", l->exposure_account, "daily_loss", l->daily_loss, "orders_per_second",
                  (int)l->orders_per_second, "drawdown", l->drawdown, "price_band", l->price_band,
                  "cooldown_s", cli_stored_number(l->cooldown_ns, 9), "positions", (int)l->positions);
    json_t *facts = e->verdict.have_facts ? facts_object(e) : json_null();
    bool accepted = e->order.state != ORDER_REJECTED; /* or refused with its group */
    return json_pack("{s:b, s:s?, s:o, s:o}", "accepted", accepted, "reason",
                     accepted ? NULL : order_reason_name(e->order.reason), "limits", limits, "facts", facts);
}

static json_t *fill_object(const struct explanation *e, const struct explained_fill *f)
{
    const struct fill *fill = &f->fill;
    const struct symbol *s = &e->symbol;
    json_t *take = json_null();
    if (f->have_take)
        take = json_pack("{s:o, s:o, s:o, s:o, s:b}", "level_price",
                         cli_stored_number(f->level.price, s->price_scale), "level_qty",
                         cli_stored_number(f->level.qty, s->qty_scale), "taken_before",
                         cli_stored_number(f->taken_before, s->qty_scale), "queue_ahead",
                         f->queue_ahead < 0 ? json_null() : cli_stored_number(f->queue_ahead, s->qty_scale),
                         "from_book", f->from_book);
    json_t *bar = json_null();
    if (f->have_bar)
        bar = json_pack("{s:I, s:o, s:o, s:o, s:o}", "open_ns", (json_int_t)f->bar.open_ns, "open",
                        cli_stored_number(f->bar.open, s->price_scale), "high",
                        cli_stored_number(f->bar.high, s->price_scale), "low",
                        cli_stored_number(f->bar.low, s->price_scale), "close",
                        cli_stored_number(f->bar.close, s->price_scale));
    return json_pack("{s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:f, s:b, s:o, s:o}", "fill", (json_int_t)fill->id,
                     "event", event_object(&f->event), "ts_ns", (json_int_t)fill->ts_ns, "price",
                     cli_stored_number(fill->price, s->price_scale), "qty",
                     cli_stored_number(fill->qty, s->qty_scale), "notional",
                     cli_stored_number(fill->notional, s->quote_scale), "fee",
                     cli_stored_number(fill->fee, s->quote_scale), "fee_rate", (double)fill->fee_e6 / 1e6,
                     "maker", fill->maker, "take", take, "bar", bar);
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
    const struct order *o = &e->order;
    json_t *changes = json_array(), *fills = json_array();
    for (size_t i = 0; i < e->n_changes; i++) {
        const struct explained_change *c = &e->changes[i];
        json_array_append_new(changes,
                              json_pack("{s:o, s:o, s:i}", "event",
                                        c->event.seq ? event_object(&c->event) : json_null(), "order",
                                        order_object(e, &c->order), "moves", (int)c->moves));
    }
    for (size_t i = 0; i < e->n_fills; i++)
        json_array_append_new(fills, fill_object(e, &e->fills[i]));
    return json_pack(
        "{s:I, s:s, s:s?, s:s, s:s, s:s, s:I, s:I, s:b, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:b, s:o, s:o}",
        "order", (json_int_t)o->id, "account", e->account, "symbol", e->have_symbol ? e->symbol.name : NULL,
        "side", order_side_name(o->side), "type", order_type_name(o->type), "tif", order_tif_name(o->tif),
        "group", (json_int_t)o->group, "parent", (json_int_t)o->parent, "by_hand", o->by_hand, "client_id",
        o->client_id, "tag", o->tag, "final", order_object(e, o), "event", event_object(&e->input), "command",
        command_object(e), "decision", decision_object(e), "verdict", verdict_object(e), "fills", fills,
        "changes", changes, "equal", e->compared ? json_boolean(e->equal) : json_null(), "incomplete",
        e->incomplete, "difference", difference_object(e), "recorded_policy", origin_object(origin));
}
