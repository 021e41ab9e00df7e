/* Accounts, positions and orders as the status reports them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/command/command.h"
#include "daemon/feed/feeds.h"
#include "daemon/status_internal.h"
#include "db/books/totals.h"
#include "exchange/order_stop.h"
#include "record/json.h"
#include "record/order.h"
#include "record/print.h"
#include "record/status.h"

double daemon_status_price(int64_t units, int scale)
{
    return units != 0 ? decimal_to_double(units, scale) : NAN;
}

int daemon_status_decimals_of(int64_t step, int scale)
{
    int n = scale;
    while (step > 0 && n > 0 && step % 10 == 0) {
        step /= 10;
        n--;
    }
    return n;
}

struct totals {
    int64_t realized, fees;
    double short_value;
    bool marked; /* a price is known of all that is held */
};

static struct totals totals_of(const struct engine *engine, int a)
{
    const struct account *account = engine_account(engine, a);
    struct totals totals = {.marked = true};
    for (int s = 0; s < engine_symbols(engine); s++) {
        const struct position *position = &account->positions[s];
        const struct symbol *symbol = engine_symbol(engine, s);
        if (strcmp(symbol->quote, account->currency) != 0)
            continue;
        int64_t mark = engine_price(engine, a, s);
        totals.realized += position->realized;
        totals.fees += position->fees;
        totals.marked &= position->qty == 0 || mark > 0;
        if (position->qty < 0)
            totals.short_value += decimal_to_double(-position->qty, symbol->qty_scale) *
                                  decimal_to_double(mark, symbol->price_scale);
    }
    return totals;
}

json_t *daemon_status_refused(const uint64_t refused[static ORDER_REASONS])
{
    json_t *object = json_object();
    for (int reason = ORDER_OK + 1; reason < ORDER_REASONS; reason++)
        if (refused[reason] > 0)
            json_object_set_new(object, order_reason_name((enum order_reason)reason),
                                json_integer((json_int_t)refused[reason]));
    return object;
}

RECORD_VIEW_OBJECT(account_object, account_view, RECORD_SHOWN_ACCOUNT);
RECORD_VIEW_OBJECT(position_object, position_view, RECORD_SHOWN_POSITION);

/* Why its outside strategy is not asked any more; NULL: it is, or has none. */
static const char *why_halted(const struct engine *engine, int index, char *text, size_t size)
{
    const struct engine_answers answers = engine_answers(engine, index);
    if (!answers.halted)
        return NULL;
    snprintf(text, size, "no decision on %d bars in a row (in all %llu late, %llu invalid, %llu ended)",
             ENGINE_FAILURES_MOST, (unsigned long long)answers.late, (unsigned long long)answers.invalid,
             (unsigned long long)answers.ended);
    return text;
}

/* An account by the rules for stocks; which of them its own ask for. */
struct by_rules {
    struct margin_figures figures;
    bool margin, settlement;
};

static struct by_rules by_rules_of(const struct engine *engine, int index)
{
    const struct account_rules *rules = &engine_account(engine, index)->rules;
    struct by_rules by = {.margin = rules->margin != MARGIN_OFF,
                          .settlement = rules->settlement != SETTLEMENT_OFF};
    if (by.margin || by.settlement)
        engine_margin_figures(engine, index, &by.figures);
    return by;
}

json_t *daemon_status_account(const struct engine *engine, int index)
{
    const struct account *account = engine_account(engine, index);
    const struct account_spec *spec = engine_account_spec(engine, index);
    struct totals totals = totals_of(engine, index);
    int scale = account->currency_scale;
    int64_t equity = engine_equity(engine, index);
    double deposits = (double)account->deposits, peak = (double)account->equity_peak;
    double drawdown_pct = equity < account->equity_peak ? 100 * ((double)equity / peak - 1) : 0.0;
    bool marked = totals.marked;
    const struct by_rules by = by_rules_of(engine, index);
    char halted[128];
    const struct account_view view = {
        .account = account->name,
        .currency = account->currency,
        .strategy = account_spec_trader(spec),
        .halted = why_halted(engine, index, halted, sizeof halted),
        .session = session_choice_names[spec->session],
        .return_pct = marked ? account_return_pct((double)equity, deposits) : NAN,
        .drawdown_pct = marked && peak > 0 ? drawdown_pct : NAN,
        .shorts = account->rules.shorts,
        .short_value = marked ? totals.short_value : NAN,
        .margin = margin_kind_names[account->rules.margin],
        .settlement = margin_settlement_names[account->rules.settlement],
        .day_trades = by.margin ? by.figures.day_trades : -1,
        .day_trader = by.figures.day_trader,
        .settles_ns = by.figures.settles_ns,
        .violations = by.settlement ? by.figures.violations : -1,
        .killed = account->killed_ns != 0,
        .killed_ns = account->killed_ns,
    };
    const struct {
        const char *name;
        int128_t units;
        bool known;
    } amounts[] = {{"cash", account->assets[account->currency_at].total, true},
                   {"equity", equity, marked},
                   {"deposits", account->deposits, true},
                   {"realized", totals.realized, true},
                   {"fees", totals.fees, true},
                   {"day_pnl", equity - engine_day_base(engine, index), marked},
                   {"interest_owed", account->unpaid_interest, true},
                   {"initial_margin", by.figures.initial, by.margin},
                   {"maintenance_margin", by.figures.maintenance, by.margin},
                   {"excess", by.figures.excess, by.margin},
                   {"buying_power", by.figures.power, by.margin || by.settlement},
                   {"debt", by.figures.debt, by.margin},
                   {"settled", by.figures.settled, by.settlement},
                   {"unsettled", by.figures.unsettled, by.settlement}};
    json_t *object = account_object(&view);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        json_object_set_new(object, amounts[i].name,
                            amounts[i].known ? decimal_json(amounts[i].units, scale) : json_null());
    json_object_set_new(object, "limits", record_print(&engine_limits_record, &account->rules, NULL));
    json_object_set_new(object, "refused", daemon_status_refused(account->refused));
    return object;
}

json_t *daemon_status_accounts(const struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    json_t *accounts = engine ? json_array() : json_null();
    for (int a = 0; engine && a < engine_accounts(engine); a++) {
        json_t *account = daemon_status_account(engine, a);
        daemon_status_execution(daemon, engine_account(engine, a)->name, account);
        json_array_append_new(accounts, account);
    }
    return accounts;
}

json_t *daemon_status_totals(const struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    struct db_totals totals = {0};
    for (int a = 0; engine && a < engine_accounts(engine); a++) {
        const struct account *account = engine_account(engine, a);
        db_totals_add(&totals, account->currency, account->currency_scale, totals_of(engine, a).marked,
                      engine_equity(engine, a), account->deposits);
    }
    for (int s = 0; engine && totals.n > 1 && s < engine_symbols(engine); s++) {
        struct engine_symbol_view view;
        engine_symbol_view(engine, s, &view);
        if (!view.stale && daemon_command_symbol_used(daemon, engine, s))
            db_totals_price(&totals, engine_symbol(engine, s), view.last);
    }
    return engine ? db_totals_json(&totals) : json_null();
}

/* The nearest protective stop that is live for a position, 0 for none. */
static int64_t resting_stop(const struct engine *engine, int account, int symbol, enum order_side side)
{
    int64_t nearest = 0;

    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        if (order->account == account && order->symbol == symbol)
            nearest = order_nearer_stop(order, side, nearest);
    }
    return nearest;
}

static json_t *held_object(const struct daemon *daemon, const struct engine *engine, int a, int s)
{
    const struct position *position = &engine_account(engine, a)->positions[s];
    const struct symbol *symbol = engine_symbol(engine, s);
    bool is_long = position->qty > 0;
    struct engine_symbol_view view;
    int64_t mark = engine_price(engine, a, s);
    engine_symbol_view(engine, s, &view);
    double qty = decimal_to_double(position->qty, symbol->qty_scale);
    double cost = decimal_to_double(position->cost, symbol->quote_scale);
    double fifo_cost = decimal_to_double(position->fifo_cost, symbol->quote_scale);
    double worth = qty * decimal_to_double(mark, symbol->price_scale);
    const struct position_view shown = {
        .account = engine_account(engine, a)->name,
        .symbol = symbol->name,
        .side = is_long ? "L" : "S",
        .qty = qty,
        .entry = cost / fabs(qty),
        .fifo_entry = fifo_cost / fabs(qty),
        .mark = daemon_status_price(mark, symbol->price_scale),
        .mark_ts_ns = mark == view.mark ? view.mark_ns : 0, /* else it is one of outside the session */
        .upnl = mark <= 0 ? NAN
                : is_long ? worth - cost
                          : worth + cost,
        .stop = daemon_status_price(resting_stop(engine, a, s, is_long ? ORDER_SELL : ORDER_BUY),
                                    symbol->price_scale),
        .age_ms = feeds_symbol_age_ms(daemon->feeds, s),
        .qty_decimals = daemon_status_decimals_of(symbol->filters.step, symbol->qty_scale),
    };
    return position_object(&shown);
}

json_t *daemon_status_positions(const struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    json_t *array = engine ? json_array() : json_null();
    for (int a = 0; engine && a < engine_accounts(engine); a++)
        for (int s = 0; s < engine_symbols(engine); s++)
            if (engine_account(engine, a)->positions[s].qty != 0)
                json_array_append_new(array, held_object(daemon, engine, a, s));
    return array;
}

/* The first members of an order in the status, and those that it leaves out. */
static const struct record_key order_keys[] = {{"order"},
                                               {"account"},
                                               {"symbol"},
                                               {"side"},
                                               {"type"},
                                               {"tif"},
                                               {"state"},
                                               {"qty"},
                                               {"filled"},
                                               {"price"},
                                               {"stop"},
                                               {"trail"},
                                               {"trail_percent", "trail_pct"},
                                               {"reason", ""},
                                               {"cost", ""},
                                               {"created_ns", ""},
                                               {"effective_ns", ""},
                                               {"updated_ns", ""},
                                               {"input_seq", ""},
                                               {"amends", ""},
                                               {"by_hand", ""}};

static json_t *order_object(const struct engine *engine, const struct order *order)
{
    const struct record_context context = {engine_symbol(engine, order->symbol),
                                           engine_account(engine, order->account)->name};
    return record_json_object(&record_orders, order_keys, sizeof order_keys / sizeof *order_keys, order,
                              &context);
}

json_t *daemon_status_orders(const struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    json_t *array = engine ? json_array() : json_null();
    for (size_t i = 0; engine && i < engine_orders(engine); i++)
        json_array_append_new(array, order_object(engine, engine_order(engine, i)));
    return array;
}
