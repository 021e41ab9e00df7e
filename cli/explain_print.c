#include "cli/explain_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "cli/text.h"
#include "exchange/order_reason.h"
#include "exchange/order_rules.h"

struct shown {
    char text[64];
};

static struct shown decimal(int128_t units, int scale)
{
    struct shown shown;
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    snprintf(shown.text, sizeof shown.text, "%s", text);
    return shown;
}

static struct shown at(int64_t ts_ns)
{
    struct shown shown;
    cli_stored_time(STORED_TABLE, shown.text, ts_ns);
    return shown;
}

/* The fewest digits that are this number and no other. */
static struct shown number(double value)
{
    struct shown shown;
    if (isnan(value))
        return (struct shown){"n/a"};
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(shown.text, sizeof shown.text, "%.*g", digits, value);
        if (strtod(shown.text, NULL) == value)
            break;
    }
    return shown;
}

static struct shown percent(int64_t e6)
{
    struct shown shown = decimal(e6, 4);
    return shown;
}

static void line(const char *indent, const char *text)
{
    fputs(indent, stdout);
    cli_text_print(stdout, text);
    putchar('\n');
}

static void print_event(const struct explained_event *event)
{
    printf("  event %" PRIu64 " at %s\n", event->seq, at(event->recv_ns).text);
    line("    ", event->text);
}

/* ---- the head */

static void print_head(const struct explanation *e)
{
    const struct order *o = &e->order;
    const struct symbol *s = &e->symbol;
    printf("order %" PRIu64 ": ", o->id);
    cli_text_print(stdout, e->account);
    printf(" %s %s %s %s", order_side_name(o->side), decimal(o->qty, s->qty_scale).text,
           e->have_symbol ? s->name : "?", order_type_name(o->type));
    if (o->price)
        printf(" at %s", decimal(o->price, s->price_scale).text);
    if (o->stop_price)
        printf(" stop %s", decimal(o->stop_price, s->price_scale).text);
    if (o->trail)
        printf(" trailing %s behind", decimal(o->trail, s->price_scale).text);
    if (o->trail_e6)
        printf(" trailing %s %% behind", percent(o->trail_e6).text);
    char given[RECORD_GIVEN_TEXT_MAX];
    record_order_given_text(o, given);
    printf(" %s", order_tif_name(o->tif));
    cli_text_print(stdout, given);
    if (o->tag[0]) {
        fputs(" \"", stdout);
        cli_text_print(stdout, o->tag);
        putchar('"');
    }
    if (o->client_id[0]) {
        fputs(" id ", stdout);
        cli_text_print(stdout, o->client_id);
    }
    printf("\n%s%s%s: filled %s of %s for %s %s\n", order_state_name(o->state),
           o->reason == ORDER_OK ? "" : " ", order_reason_name(o->reason),
           decimal(o->filled, s->qty_scale).text, decimal(o->qty, s->qty_scale).text,
           decimal(o->cost, s->quote_scale).text, e->have_symbol ? s->quote : "");
    if (!order_live(o->state) && o->state != ORDER_REJECTED && o->reason == ORDER_VENUE_LOST)
        line(e->venue_words[0] ? "ended at its venue, which papertape had not asked for: "
                               : "ended at its venue, which papertape had not asked for",
             e->venue_words);
    if (e->incomplete)
        puts("what became of it was not recorded in the log: it is not compared");
    else if (e->compared && e->equal)
        printf("equal to the record: the order and %zu fill%s, in every field\n", e->n_fills,
               e->n_fills == 1 ? "" : "s");
    else if (e->compared)
        printf("DIFFERS from the record: %s %" PRIu64 ": %s: the log gives %s, recorded is %s\n",
               e->difference.table, e->difference.id, e->difference.field, e->difference.replayed,
               e->difference.recorded);
    if (e->venue_client_id[0])
        printf("at the venue: client id %s", e->venue_client_id);
    if (e->venue_id[0])
        line(", its id ", e->venue_id);
    else if (e->venue_client_id[0])
        putchar('\n');
    enum order_tif sent = order_rules_sent(s, o);
    if (e->venue_client_id[0] && e->have_symbol && sent != o->tif)
        printf("sent as %s: papertape asks for its cancel at %s\n", order_tif_name(sent),
               o->expires_ns > 0 ? at(o->expires_ns).text : "the end of the session");
    if (o->emulated && o->state == ORDER_PENDING)
        puts("held here (emulated): ordered at its venue once it is due");
    if (o->parent)
        printf("an exit of order %" PRIu64 "\n", o->parent);
    else if (o->group == o->id)
        puts("the first of its group");
    else if (o->group)
        printf("of the group of order %" PRIu64 "\n", o->group);
}

/* ---- the cause */

static void print_params(const struct explained_decision *d)
{
    for (size_t i = 0; d->strategy && i < d->strategy->n_params; i++) {
        const struct strategy_param *param = &d->strategy->params[i];
        char word[STRATEGY_WORD_MAX];
        bool named = strategy_param_word(param, d->params[i], word) != NULL;
        printf("%s%s %s", i ? ", " : " (", param->name, named ? word : number(d->params[i]).text);
    }
    if (d->strategy && d->strategy->n_params > 0)
        putchar(')');
}

static void print_entry(const struct intent *intent)
{
    bool sells = intent->kind == INTENT_SHORT;
    printf("  it wanted to %s for %s of equity", sells ? "sell short" : "buy", number(intent->fraction).text);
    if (intent->limit > 0)
        printf(" at %s or %s", number(intent->limit).text, sells ? "more" : "less");
    if (intent->limit > 0 && intent->good_ns > 0)
        printf(" until %s", at(intent->good_ns).text);
    if (intent->stop > 0)
        printf(", and a stop at %s", number(intent->stop).text);
    if (intent->profit > 0)
        printf(", and a profit at %s", number(intent->profit).text);
}

static void print_order(const struct intent *intent)
{
    printf("  it wanted an order: %s %s of ", order_side_name(intent->side), order_type_name(intent->type));
    if (intent->size == INTENT_OF_UNITS)
        printf("%s", number(intent->qty).text);
    else
        printf("%s of %s", number(intent->fraction).text,
               intent->size == INTENT_OF_EQUITY ? "equity" : "the position");
    if (intent->stop > 0)
        printf(", triggered at %s", number(intent->stop).text);
    if (intent->limit > 0)
        printf(", at %s or better", number(intent->limit).text);
    if (intent->trail > 0)
        printf(", %s behind the best price", number(intent->trail).text);
    if (intent->trail_share > 0)
        printf(", %s of it behind the best price", number(intent->trail_share).text);
    printf(", %s", order_tif_name(intent->tif));
    if (intent->good_ns > 0)
        printf(" until %s", at(intent->good_ns).text);
    if (intent->reduce_only)
        printf(", only to reduce");
}

static void print_intent(const struct explained_decision *d, size_t i)
{
    const struct intent *intent = &d->intents[i];
    switch (intent->kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        print_entry(intent);
        break;
    case INTENT_EXIT:
        if (intent->fraction > 0 && intent->fraction < 1)
            printf("  it wanted to %s %s of the position", d->input.qty < 0 ? "buy back" : "sell",
                   number(intent->fraction).text);
        else
            printf("  it wanted to %s", d->input.qty < 0 ? "buy everything back" : "sell everything");
        break;
    case INTENT_ORDER:
        print_order(intent);
        break;
    case INTENT_CANCEL:
        printf("  it wanted its orders of the symbol cancelled");
        break;
    case INTENT_STOP:
        printf("  it wanted the stop at %s", number(intent->stop).text);
        break;
    case INTENT_TARGET:
        printf("  it wanted to hold %s of equity", number(intent->fraction).text);
        break;
    default:
        printf("  it wanted something else");
    }
    if (d->whys[i][0]) {
        fputs(": \"", stdout);
        cli_text_print(stdout, d->whys[i]);
        putchar('"');
    }
    putchar('\n');
}

static void print_bar(const struct explanation *e)
{
    const struct bar *bar = &e->decision.bar;
    const struct symbol *s = &e->symbol;
    printf(" saw the bar of %s:\n", at(bar->open_ns).text);
    printf("    open %s, high %s, low %s, close %s, volume %s\n", decimal(bar->open, s->price_scale).text,
           decimal(bar->high, s->price_scale).text, decimal(bar->low, s->price_scale).text,
           decimal(bar->close, s->price_scale).text, decimal(bar->volume, s->qty_scale).text);
}

static void print_members(const struct explained_policy *p)
{
    for (int i = 0; i < p->n_members; i++) {
        const struct explained_member *member = &p->members[i];
        printf("    member %d, %s (%.12s): %s, weight %s", i + 1, member->name, member->id,
               number((double)member->vote.action).text, number(member->vote.weight).text);
        if (!isnan(member->vote.sharpe))
            printf(", Sharpe of its shadow account %s a bar", number(member->vote.sharpe).text);
        putchar('\n');
    }
}

static void print_policy(const struct explanation *e)
{
    const struct explained_policy *p = &e->decision.policy;
    printf("  the policy %.12s", p->id);
    print_bar(e);
    printf("    held %s for %s bars, equity %s, free cash %s\n", number(p->held).text,
           number(p->held_bars).text, number(p->equity).text, number(p->available).text);
    if (p->day_trade)
        printf("    its direction is %s, its size %s of equity\n", number(p->action).text,
               number(p->size).text);
    else
        printf("    its action %s stands for %s\n", number(p->action).text,
               number(p->action * p->scale).text);
    if (p->closes)
        puts("    the next bar is its session's last: all is sold");
    print_members(p);
    if (strcmp(p->limits, "none") != 0)
        printf("    under limits: %s\n", p->limits);
    if (p->leaves)
        puts("  the close had reached its stop: it wanted all sold that can be");
    else if (p->ordered != 0)
        printf("  it wanted to %s %s at market\n", p->ordered > 0 ? "buy" : "sell",
               number(p->ordered > 0 ? p->ordered : -p->ordered).text);
    if (p->stop > 0)
        printf("  it wanted the stop at %s for %s\n", number(p->stop).text, number(p->stop_qty).text);
}

static void print_decision(const struct explanation *e)
{
    const struct explained_decision *d = &e->decision;
    const struct strategy_input *in = &d->input;
    if (d->have_policy) {
        print_policy(e);
        return;
    }
    printf("  the strategy %s", d->strategy ? d->strategy->name : "?");
    print_params(d);
    print_bar(e);
    for (size_t i = 0; i < d->n_values; i++)
        printf("    %-24s %s\n", d->names[i], number(d->values[i]).text);
    printf("    held %s at %s, equity %s, free cash %s, stop %s, %s\n", number(in->qty).text,
           number(in->entry).text, number(in->equity).text, number(in->cash).text,
           in->stop > 0 ? number(in->stop).text : "none",
           in->live_orders ? "an order at work" : "no order at work");
    if (in->profit > 0)
        printf("    profit %s\n", number(in->profit).text);
    if (in->symbols > 1)
        printf("    %d of %d symbols held or being entered\n", in->positions, in->symbols);
    if (d->record.wins + d->record.losses > 0)
        printf("    trades closed: %" PRIu32 " won %s, %" PRIu32 " lost %s, %" PRIu32 " losses in a row\n",
               d->record.wins, number(d->record.won).text, d->record.losses, number(d->record.lost).text,
               d->record.losing);
    for (size_t i = 0; i < d->n_intents; i++)
        print_intent(d, i);
}

static void print_command(const struct explained_command *c)
{
    printf("  command %" PRIu64 ", %s%s%s, from user %" PRId64 ", process %" PRId64 "\n", c->id,
           engine_command_kind_name(c->kind), c->grouping == ORDERS_SINGLE ? "" : " ",
           c->grouping == ORDERS_SINGLE ? "" : engine_order_grouping_name(c->grouping), c->peer_uid,
           c->peer_pid);
    if (c->args && c->args[0])
        line("    ", c->args);
}

static void print_origin(const struct db_order_policy *origin)
{
    char id[POLICY_ID_TEXT];
    policy_id_text(origin->id, id);
    printf("  recorded: given by policy %s,\n", id);
    line("    computed by ", origin->backend);
}

static void print_cause(const struct explanation *e, const struct db_order_policy *origin)
{
    puts("\nWhat caused it");
    print_event(&e->input);
    if (e->have_command)
        print_command(&e->command);
    if (e->have_decision)
        print_decision(e);
    else if (!e->have_command)
        puts("  the engine itself: what was ordered before this event asked for it");
    if (origin)
        print_origin(origin);
}

/* ---- the verdict */

static void print_limit(const char *what, double share)
{
    if (share > 0)
        printf("; %s %s %% of equity", what, number(100 * share).text);
}

static void print_facts(const struct explanation *e)
{
    const struct risk_facts *f = &e->verdict.facts;
    int scale = e->currency_scale;
    printf("  facts: worth %s %s; held and on order before, the order's way: %s of %s, %s of all; equity %s, "
           "at the day's start %s, at its highest %s\n",
           decimal(f->order_notional, scale).text, e->currency, decimal(f->symbol_notional, scale).text,
           e->have_symbol ? e->symbol.name : "?", decimal(f->account_notional, scale).text,
           decimal(f->equity, scale).text, decimal(f->day_equity, scale).text, decimal(f->peak, scale).text);
    printf("         %s; data %s; storage %s%s\n",
           f->paused   ? "trading paused"
           : f->killed ? "the account is killed by its drawdown"
                       : "trading on",
           f->stale ? "too old" : "fresh", f->storage_failing ? "failing" : "works",
           f->reduces ? "; it only reduces a position" : "");
    printf("         last price %s; other symbols held or being entered: %" PRId32 "%s",
           decimal(f->last, e->symbol.price_scale).text, f->positions, f->entered ? ", and this one" : "");
    if (f->closed_ns)
        printf("; closed before at %s", at(f->closed_ns).text);
    putchar('\n');
}

bool cli_explain_venue_refused(const struct explanation *e)
{
    return e->order.state == ORDER_REJECTED && e->have_verdict && e->verdict.reason == ORDER_OK &&
           (e->order.reason == ORDER_VENUE_REFUSED || e->order.reason == ORDER_VENUE_LOST);
}

const char *cli_explain_refusal(const struct explanation *e)
{
    return e->refusal[0] ? e->refusal : order_reason_words(e->order.reason);
}

static const char *refused_by(const struct explanation *e)
{
    if (!e->have_verdict)
        return e->order.group ? ", with its group, before the risk gate was asked"
                              : ", before the risk gate was asked";
    if (e->verdict.reason == ORDER_OK)
        return e->order.group ? ", as another order of its group was" : "";
    return e->verdict.have_facts ? "" : ", before the risk gate was asked";
}

static void print_verdict(const struct explanation *e)
{
    const struct risk_limits *l = &e->verdict.limits;
    puts("\nVerdict");
    if (cli_explain_venue_refused(e)) {
        printf("  accepted here, and %s: %s",
               e->order.reason == ORDER_VENUE_LOST ? "never at the venue" : "refused by the venue",
               order_reason_name(e->order.reason));
        line(": ", e->venue_words);
    } else if (e->order.state == ORDER_REJECTED)
        printf("  refused: %s%s: %s\n", order_reason_name(e->order.reason), refused_by(e),
               cli_explain_refusal(e));
    else if (e->order.parent)
        printf("  accepted: held until order %" PRIu64 " has filled\n", e->order.parent);
    else
        printf("  accepted: on its way for %s ms, effective at %s\n",
               decimal(e->order.effective_ns - e->order.created_ns, 6).text, at(e->order.effective_ns).text);
    if (!e->have_verdict)
        return;
    if (e->verdict.have_facts)
        print_facts(e);
    printf("  limits: orders a second %" PRId32, l->orders_per_second);
    print_limit("a symbol", l->exposure_symbol);
    print_limit("all", l->exposure_account);
    print_limit("a day's loss", l->daily_loss);
    print_limit("drawdown", l->drawdown);
    if (l->price_band > 0)
        printf("; prices within %s %% of the last", number(100 * l->price_band).text);
    if (l->cooldown_ns > 0)
        printf("; cooldown %s s", decimal(l->cooldown_ns, 9).text);
    if (l->positions > 0)
        printf("; positions %" PRId32, l->positions);
    putchar('\n');
}

/* ---- the fills */

static void print_rounding(const char *what, int128_t exact, int scale, int64_t taken, int to_scale,
                           const char *how)
{
    if (scale > DECIMAL_SCALE_MAX) {
        printf("%s%s", what, decimal(taken, to_scale).text);
        return;
    }
    struct shown full = decimal(exact, scale), rounded = decimal(taken, to_scale);
    printf("%s%s", what, full.text);
    if (exact != (int128_t)taken * decimal_pow10(scale - to_scale))
        printf(", rounded %s to %s", how, rounded.text);
}

static void print_fill(const struct explanation *e, const struct explained_fill *f)
{
    const struct fill *fill = &f->fill;
    const struct symbol *s = &e->symbol;
    print_event(&f->event);
    printf("    fill %" PRIu64 ": %s at %s, %s", fill->id, decimal(fill->qty, s->qty_scale).text,
           decimal(fill->price, s->price_scale).text, fill->maker ? "as maker" : "as taker");
    if (fill->basis != FILL_BASIS_NONE)
        printf(", by %s", fill_basis_words(fill->basis));
    if (f->have_bar) {
        printf(": the market was at %s %s\n    of the bar of %s: open %s, high %s, low %s, close %s",
               decimal(f->level.price, s->price_scale).text,
               fill->ts_ns == f->bar.open_ns ? "at the open" : "inside", at(f->bar.open_ns).text,
               decimal(f->bar.open, s->price_scale).text, decimal(f->bar.high, s->price_scale).text,
               decimal(f->bar.low, s->price_scale).text, decimal(f->bar.close, s->price_scale).text);
    } else if (f->have_take && fill->basis < FILL_BASIS_IMPACT) {
        printf(": %s showed %s at %s",
               f->from_book  ? "the order book"
               : fill->maker ? "the market"
                             : "the best quote",
               decimal(f->level.qty, s->qty_scale).text, decimal(f->level.price, s->price_scale).text);
        if (f->taken_before > 0)
            printf(", %s of it taken before", decimal(f->taken_before, s->qty_scale).text);
        if (fill->maker && f->queue_ahead >= 0)
            printf("; %s stood before it in the queue", decimal(f->queue_ahead, s->qty_scale).text);
    }
    printf("\n    notional %s x %s", decimal(fill->price, s->price_scale).text,
           decimal(fill->qty, s->qty_scale).text);
    print_rounding(" = ", (int128_t)fill->price * fill->qty, s->price_scale + s->qty_scale, fill->notional,
                   s->quote_scale, fill->side == ORDER_BUY ? "up" : "down");
    printf(" %s\n", s->quote);
    if (fill->basis == FILL_BASIS_VENUE) {
        bool of_base = fill->fee_base > 0;
        printf("    fee %s %s, as its venue takes it\n",
               of_base ? decimal(fill->fee_base, s->qty_scale).text : decimal(fill->fee, s->quote_scale).text,
               of_base ? s->base : s->quote);
        return;
    }
    printf("    fee %s %% of %s", percent(fill->fee_e6).text, decimal(fill->notional, s->quote_scale).text);
    print_rounding(" = ", (int128_t)fill->notional * fill->fee_e6, s->quote_scale + 6, fill->fee,
                   s->quote_scale, "up");
    printf(" %s\n", s->quote);
}

/* ---- its outcome */

/* The numbers that an amend changed. */
static void print_amend(const struct order *was, const struct order *is, const struct symbol *s)
{
    const struct {
        const char *name;
        int64_t was, is;
        int scale;
    } numbers[] = {{"quantity", was->qty, is->qty, s->qty_scale},
                   {"limit", was->price, is->price, s->price_scale},
                   {"stop", was->stop_price, is->stop_price, s->price_scale},
                   {"trail", was->trail, is->trail, s->price_scale},
                   {"trail %", was->trail_e6, is->trail_e6, 4}};
    const char *between = " amended: ";
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].was != numbers[i].is) {
            printf("%s%s %s, was %s", between, numbers[i].name, decimal(numbers[i].is, numbers[i].scale).text,
                   decimal(numbers[i].was, numbers[i].scale).text);
            between = "; ";
        }
    if (between[0] == ' ')
        printf(" amended to the same numbers");
}

/* `before`: the change before it, or NULL. */
static void print_change(const struct explanation *e, const struct explained_change *before,
                         const struct explained_change *c)
{
    const struct order *o = &c->order;
    const struct symbol *s = &e->symbol;
    printf("  %s %-8s", at(o->updated_ns).text, order_state_name(o->state));
    if (before && o->amends > before->order.amends)
        print_amend(&before->order, o, s);
    else if (before && o->qty != before->order.qty) /* at its venue, by what is left to reduce */
        printf(" %s of it: so much is held, in whole lots", decimal(o->qty, s->qty_scale).text);
    else if (before && before->order.emulated && !o->emulated && o->state == ORDER_PENDING)
        printf(" due, no longer held here");
    else if (before && o->triggered && !before->order.triggered)
        printf(" triggered");
    else if (before && o->amends > 0 && o->state == before->order.state && order_live(o->state) &&
             order_works_as_limit(o) && o->filled == before->order.filled && c->moves == 0)
        printf(" at the end of the queue again");
    if (c->moves > 0)
        printf(" the stop followed the price %u time%s, to %s", c->moves, c->moves == 1 ? "" : "s",
               decimal(o->stop_price, s->price_scale).text);
    else if (o->filled > 0)
        printf(" filled %s", decimal(o->filled, s->qty_scale).text);
    if (o->reason != ORDER_OK)
        printf(" %s", order_reason_name(o->reason));
    bool commanded = o->state == ORDER_CANCELED && o->reason == ORDER_OK && e->canceled_at.seq > 0;
    if (commanded)
        printf(" by command %" PRIu64 ", %s", e->canceled_by.id,
               engine_command_kind_name(e->canceled_by.kind));
    if (c->event.seq)
        printf("  event %" PRIu64, commanded ? e->canceled_at.seq : c->event.seq);
    putchar('\n');
    if (commanded) {
        line("      ", e->canceled_at.text);
        return;
    }
    if (c->event.seq && c->event.recv_ns > o->updated_ns)
        printf("      (the first event after its moment) ");
    if (c->event.seq)
        line(c->event.recv_ns > o->updated_ns ? "" : "      ", c->event.text);
}

/* "Fills: 12, on average at 60012.5, fees 0.00002 BTC" */
static void print_fills_sum(const struct explanation *e)
{
    const struct symbol *s = &e->symbol;
    int128_t qty = 0, notional = 0, fee = 0, fee_base = 0;
    for (size_t i = 0; i < e->n_fills; i++) {
        qty += e->fills[i].fill.qty;
        notional += e->fills[i].fill.notional;
        fee += e->fills[i].fill.fee;
        fee_base += e->fills[i].fill.fee_base;
    }
    double average = decimal_to_double(notional, s->quote_scale) / decimal_to_double(qty, s->qty_scale);
    printf("\nFills: %zu, on average at %.10g, fees ", e->n_fills, average);
    if (fee_base > 0)
        printf("%s %s%s", decimal(fee_base, s->qty_scale).text, s->base, fee > 0 ? " and " : "");
    if (fee > 0 || fee_base == 0)
        printf("%s %s", decimal(fee, s->quote_scale).text, s->quote);
    putchar('\n');
}

/* Of more than MANY rows, the first and the last few. */
enum { MANY = 10, FEW = 4 };
static bool left_out(size_t i, size_t n, bool full, const char *what)
{
    if (full || n <= MANY || i < FEW || i >= n - FEW)
        return false;
    if (i == FEW)
        printf("  … %zu more %s, with --full\n", n - 2 * FEW, what);
    return true;
}

void cli_explain_print(const struct explanation *e, const struct db_order_policy *origin, bool full)
{
    print_head(e);
    print_cause(e, origin);
    print_verdict(e);
    if (e->n_fills > 0)
        print_fills_sum(e);
    for (size_t i = 0; i < e->n_fills; i++)
        if (!left_out(i, e->n_fills, full, "fills"))
            print_fill(e, &e->fills[i]);
    puts("\nWhat became of it");
    for (size_t i = 0; i < e->n_changes; i++)
        if (!left_out(i, e->n_changes, full, "changes"))
            print_change(e, i > 0 ? &e->changes[i - 1] : NULL, &e->changes[i]);
}
