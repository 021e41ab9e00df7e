#include "cli/account_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "strategy/strategy.h"

enum { E9 = 9, E6 = 6, E4 = 4 }; /* scales of the rules' shares */

static const struct stored_column columns[] = {
    {"account", -12},        {"currency", -8},   {"cash", 18},
    {"equity", 18},          {"peak", 0},        {"drawdown_pct", 12},
    {"at_ns", -24},          {"strategy", -14},  {"shorts", 6},
    {"fee_maker", 9},        {"fee_taker", 9},   {"collateral", 0},
    {"maintenance", 0},      {"borrow_rate", 0}, {"exposure_symbol", 0},
    {"exposure_account", 0}, {"daily_loss", 0},  {"orders_per_second", 0},
    {"drawdown", 0},         {"price_band", 0},  {"cooldown_s", 0},
    {"positions", 0},        {"killed_ns", -24}, {"opening_cash", 0},
    {"params", 0},           {"policy", 0},
};

struct account_line {
    struct db_account_row row;
    struct db_equity_point point;  /* the newest; ts_ns 0: none */
    char policy[ACCOUNT_NAME_MAX]; /* of the arena, that trades for it; "": none */
};

struct accounts_read {
    struct account_line lines[ACCOUNTS_MAX];
    int n, at;
};

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct accounts_read *read = ctx;

    if (read->n < ACCOUNTS_MAX)
        read->lines[read->n++] = (struct account_line){.row = *row};
}

static void take_policy(void *ctx, const struct db_policy *row)
{
    struct accounts_read *read = ctx;

    for (int i = 0; i < read->n; i++)
        if (db_policy_trades_for(row, read->lines[i].row.account.name))
            snprintf(read->lines[i].policy, sizeof read->lines[i].policy, "%s", row->name);
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct accounts_read *read = ctx;

    read->lines[read->at].point = *point;
}

/* In percent, 0 or below; the peak is above zero. */
static double drawdown_pct(const struct account_line *line)
{
    double share = (double)line->point.equity / (double)line->row.equity_peak;

    return share < 1 ? 100 * (share - 1) : 0;
}

/* The strategy's parameters by name; NULL for none. */
static json_t *params_object(const struct db_account *account)
{
    const struct strategy *strategy = account->strategy[0] ? strategy_find(account->strategy) : NULL;
    json_t *object = strategy ? json_object() : NULL;

    for (size_t i = 0; strategy && i < strategy->n_params; i++)
        json_object_set_new(object, strategy->params[i].name, json_real(account->params[i]));
    return object;
}

static json_t *rules_object(const struct db_account *account)
{
    const struct account_rules *rules = &account->rules;
    json_t *params = params_object(account);

    return json_pack(
        "{s:s?, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:i, s:f, s:f, s:o, s:i, s:o}", "strategy",
        account->strategy[0] ? account->strategy : NULL, "params", params ? params : json_null(), "shorts",
        rules->shorts, "fee_maker", cli_stored_number(rules->fees.maker_e6, E6), "fee_taker",
        cli_stored_number(rules->fees.taker_e6, E6), "collateral",
        cli_stored_number(rules->collateral_e4, E4), "maintenance",
        cli_stored_number(rules->maintenance_e4, E4), "borrow_rate",
        cli_stored_number(rules->borrow_rate_e6, E6), "exposure_symbol", rules->risk.exposure_symbol,
        "exposure_account", rules->risk.exposure_account, "daily_loss", rules->risk.daily_loss,
        "orders_per_second", (int)rules->risk.orders_per_second, "drawdown", rules->risk.drawdown,
        "price_band", rules->risk.price_band, "cooldown_s", cli_stored_number(rules->risk.cooldown_ns, E9),
        "positions", (int)rules->risk.positions, "opening_cash",
        cli_stored_number(account->cash, account->currency_scale));
}

static json_t *line_object(const struct account_line *line)
{
    const struct db_account *account = &line->row.account;
    int scale = account->currency_scale;
    bool known = line->point.ts_ns != 0, peaked = known && line->row.equity_peak > 0;
    json_t *object =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "account", account->name, "currency",
                  account->currency, "cash", known ? cli_stored_number(line->point.cash, scale) : json_null(),
                  "equity", known ? cli_stored_number(line->point.equity, scale) : json_null(), "peak",
                  peaked ? cli_stored_number(line->row.equity_peak, scale) : json_null(), "drawdown_pct",
                  peaked ? json_real(drawdown_pct(line)) : json_null(), "at_ns",
                  known ? json_integer(line->point.ts_ns) : json_null());
    json_t *rules = rules_object(account);

    json_object_set_new(object, "policy", line->policy[0] ? json_string(line->policy) : json_null());
    json_object_set_new(object, "killed_ns",
                        line->row.killed_ns ? json_integer(line->row.killed_ns) : json_null());
    if (!object || !rules || json_object_update(object, rules) < 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(rules);
    return object;
}

static const char *plain(char *buf, double value)
{
    snprintf(buf, STORED_CELL, "%.10g", value);
    return buf;
}

static void print_line(struct stored_list *list, const struct account_line *line)
{
    const struct db_account *account = &line->row.account;
    const struct account_rules *rules = &account->rules;
    enum stored_form form = list->form;
    int scale = account->currency_scale;
    bool known = line->point.ts_ns != 0, peaked = known && line->row.equity_peak > 0;
    enum {
        CASH,
        EQUITY,
        PEAK,
        DRAWDOWN,
        AT,
        MAKER,
        TAKER,
        COLLATERAL,
        MAINTENANCE,
        BORROW,
        SYMBOL,
        ALL,
        LOSS,
        RATE,
        FALL,
        BAND,
        COOLDOWN,
        POSITIONS,
        KILLED,
        OPENING,
        CELLS
    };
    char cell[CELLS][STORED_CELL], trader[STORED_CELL];

    if (form == STORED_JSON) {
        cli_stored_object(list, line_object(line));
        return;
    }
    json_t *object = params_object(account);
    char *params = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    snprintf(trader, sizeof trader, "%s%s", line->policy[0] ? "policy " : "none", line->policy);
    snprintf(cell[DRAWDOWN], STORED_CELL, "%.4f", peaked ? drawdown_pct(line) : 0);
    const char *const cells[] = {
        account->name,
        account->currency,
        known ? cli_stored_decimal(form, cell[CASH], line->point.cash, scale) : "",
        known ? cli_stored_decimal(form, cell[EQUITY], line->point.equity, scale) : "",
        peaked ? cli_stored_decimal(form, cell[PEAK], line->row.equity_peak, scale) : "",
        peaked ? cell[DRAWDOWN] : "",
        known ? cli_stored_time(form, cell[AT], line->point.ts_ns) : "",
        form == STORED_CSV || account->strategy[0] ? account->strategy : trader,
        rules->shorts ? "1" : "0",
        cli_stored_decimal(form, cell[MAKER], rules->fees.maker_e6, E6),
        cli_stored_decimal(form, cell[TAKER], rules->fees.taker_e6, E6),
        cli_stored_decimal(form, cell[COLLATERAL], rules->collateral_e4, E4),
        cli_stored_decimal(form, cell[MAINTENANCE], rules->maintenance_e4, E4),
        cli_stored_decimal(form, cell[BORROW], rules->borrow_rate_e6, E6),
        plain(cell[SYMBOL], rules->risk.exposure_symbol),
        plain(cell[ALL], rules->risk.exposure_account),
        plain(cell[LOSS], rules->risk.daily_loss),
        cli_stored_integer(cell[RATE], rules->risk.orders_per_second),
        plain(cell[FALL], rules->risk.drawdown),
        plain(cell[BAND], rules->risk.price_band),
        cli_stored_decimal(form, cell[COOLDOWN], rules->risk.cooldown_ns, E9),
        cli_stored_integer(cell[POSITIONS], rules->risk.positions),
        line->row.killed_ns ? cli_stored_time(form, cell[KILLED], line->row.killed_ns) : "",
        cli_stored_decimal(form, cell[OPENING], account->cash, scale),
        params ? params : "",
        line->policy,
    };
    cli_stored_row(list, cells);
    free(params);
    json_decref(object);
}

int cli_account_list(struct option_call *call)
{
    struct accounts_read *read;
    struct db_reader *reader;
    int r = cli_stored_open("account", call->state, &reader);
    if (r != EXIT_OK)
        return r;
    read = calloc(1, sizeof *read);
    r = read ? db_reader_begin(reader) : -ENOMEM;
    if (r == 0)
        r = db_reader_accounts(reader, take_account, read);
    if (r == 0)
        r = db_reader_policies(reader, take_policy, read);
    for (; r == 0 && read->at < read->n; read->at++)
        r = db_reader_equity(reader, read->lines[read->at].row.account.number, INT64_MIN, 1, take_point,
                             read);
    db_reader_end(reader);
    struct stored_list list = {.name = "accounts",
                               .form = cli_stored_form(call),
                               .columns = columns,
                               .n_columns = sizeof columns / sizeof *columns};
    cli_stored_begin(&list);
    for (int i = 0; r == 0 && i < read->n; i++)
        print_line(&list, &read->lines[i]);
    cli_stored_end(&list);
    free(read);
    return cli_stored_close("account", reader, r < 0 ? r : list.r);
}
