#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selected.h"
#include "cli/verbs.h"
#include "db/books/totals.h"
#include "db/recover.h"
#include "engine/engine.h"
#include "exchange/exit_status.h"
#include "record/account.h"
#include "record/print.h"
#include "strategy/param_json.h"
#include "strategy/strategy.h"

static const struct stored_column columns[] = {
    {"account", -12},
    {"currency", -8},
    {"cash", 18},
    {"equity", 18},
    {"peak", 0},
    {"drawdown_pct", 12, .decimals = 4},
    {"at_ns", -24},
    {"strategy", -14},
    {"shorts", 6},
    {"fee_maker", 9},
    {"fee_taker", 9},
    {"collateral", 0},
    {"maintenance", 0},
    {"borrow_rate", 0},
    {"exposure_symbol", 0},
    {"exposure_account", 0},
    {"daily_loss", 0},
    {"orders_per_second", 0},
    {"drawdown", 0},
    {"price_band", 0},
    {"cooldown_s", 0},
    {"positions", 0},
    {"killed_ns", -24},
    {"closed_ns", -24},
    {"opening_cash", 0},
    {"params", 0, .json = true},
    {"policy", 0},
    {"session", 0},
    {"margin", 0},
    {"pattern_day_trader", 0},
    {"settlement", 0},
    {"fee_tiers", 0},
    {"regulatory_fees", 0},
    {"withholding", 0},
    {"at_venue", 0},
    {"venue_prefix", 0},
    {"unknown_orders", 0},
};

/* A table of its own for people, of those that have such rules. */
static const struct stored_column margin_columns[] = {
    {"account", -12},           {"margin", -8},     {"settlement", -10},  {"initial_margin", 14},
    {"maintenance_margin", 18}, {"excess", 14},     {"buying_power", 14}, {"debt", 12},
    {"day_trades", 10},         {"day_trader", 10}, {"settled", 14},      {"unsettled", 12},
    {"settles_ns", -24},        {"violations", 10},
};

/* And one of those whose orders are filled at their venue. */
static const struct stored_column venue_columns[] = {
    {"account", -12}, {"at_venue", -10}, {"venue_prefix", -12}, {"unknown_orders", 14}};

/* An account and its totals: units of its currency. */
struct account_line {
    struct db_account account;
    int64_t cash, equity, peak;                /* INT64_MIN: there is no point, or no peak */
    double drawdown_pct;                       /* 0 or below; NaN */
    int64_t at_ns, killed_ns;                  /* 0: none */
    char strategy[STRATEGY_NAME_MAX], *params; /* an object of JSON; NULL: it has no strategy */
    char policy[ACCOUNT_NAME_MAX];             /* of the arena, that trades for it; "": none */
    struct margin_figures margin;              /* INT64_MIN, -1: its rules ask for none */
    bool asked;                                /* they do, and there is a point */
    char at_venue[STORED_CELL], venue_prefix[DB_AT_VENUE_MAX]; /* "": it was never attached, or fills here */
    int64_t unknown_orders;                                    /* -1: likewise */
};

static const struct margin_figures no_figures = {.initial = INT64_MIN,
                                                 .maintenance = INT64_MIN,
                                                 .excess = INT64_MIN,
                                                 .power = INT64_MIN,
                                                 .debt = INT64_MIN,
                                                 .settled = INT64_MIN,
                                                 .unsettled = INT64_MIN,
                                                 .day_trades = -1,
                                                 .violations = -1};

#define RULE(member, ...) RECORD_FIELD_(account.rules.member, __VA_ARGS__)
#define MARGIN_FIELDS \
    PRINT_AS(QUOTE, ABSENT, margin.initial, "initial_margin"), \
        PRINT_AS(QUOTE, ABSENT, margin.maintenance, "maintenance_margin"), \
        PRINT_AS(QUOTE, ABSENT, margin.excess, "excess"), \
        PRINT_AS(QUOTE, ABSENT, margin.power, "buying_power"), PRINT_AS(QUOTE, ABSENT, margin.debt, "debt"), \
        PRINT_AS(SIGNED, UNKNOWN, margin.day_trades, "day_trades"), \
        PRINT_AS(BOOL, REQUIRED, margin.day_trader, "day_trader"), \
        PRINT_AS(QUOTE, ABSENT, margin.settled, "settled"), \
        PRINT_AS(QUOTE, ABSENT, margin.unsettled, "unsettled"), \
        PRINT_AS(TIME, OPTIONAL, margin.settles_ns, "settles_ns"), \
        PRINT_AS(SIGNED, UNKNOWN, margin.violations, "violations")
#define VENUE_FIELDS PRINT_WORD(at_venue), PRINT_WORD(venue_prefix), PRINT_COUNT(unknown_orders)
#define ROW          struct account_line
static const struct record_field fields[] = {
    PRINT_AS(TEXT, REQUIRED, account.name, "account"),
    PRINT_AS(TEXT, REQUIRED, account.currency, "currency"),
    PRINT_AS(QUOTE, ABSENT, cash, "cash"),
    PRINT_AS(QUOTE, ABSENT, equity, "equity"),
    PRINT_AS(QUOTE, ABSENT, peak, "peak"),
    PRINT_REAL(drawdown_pct),
    PRINT_AS(TIME, OPTIONAL, at_ns, "at_ns"),
    PRINT_WORD(strategy),
    PRINT_AS(TIME, OPTIONAL, killed_ns, "killed_ns"),
    PRINT_AS(TIME, OPTIONAL, account.closed_ns, "closed_ns"),
    PRINT_AS(QUOTE, REQUIRED, account.cash, "opening_cash"),
    PRINT_AS(STRING, OPTIONAL, params, "params"),
    PRINT_WORD(policy),
    PRINT_FIELD_(WORD, REQUIRED, account.session, "session", &record_words_session_choice),
    MARGIN_FIELDS,
    VENUE_FIELDS,
    RECORD_RULES(RULE, RULE) RECORD_STOCK_RULES(RULE) RECORD_CLASS_FEES(RULE) RECORD_CHARGES(RULE)};
static const struct record record = RECORD_OF("accounts", fields);
static const struct record_field margin_fields[] = {
    PRINT_AS(TEXT, REQUIRED, account.name, "account"),
    PRINT_FIELD_(WORD, REQUIRED, account.rules.margin, "margin", &record_words_margin),
    PRINT_FIELD_(WORD, REQUIRED, account.rules.settlement, "settlement", &record_words_settlement),
    MARGIN_FIELDS};
static const struct record margin_record = RECORD_OF("margins", margin_fields);
static const struct record_field venue_fields[] = {PRINT_AS(TEXT, REQUIRED, account.name, "account"),
                                                   VENUE_FIELDS};
static const struct record venue_record = RECORD_OF("venue_accounts", venue_fields);
#undef ROW

struct accounts_read {
    struct account_line lines[ACCOUNTS_MAX];
    int n, at;
    int64_t peaks[ACCOUNTS_MAX];
    enum stored_form form;
};

/* The strategy's parameters by name; NULL for none. */
static char *params_text(const struct db_account *account)
{
    const struct strategy *strategy = account->strategy[0] ? strategy_find(account->strategy) : NULL;
    json_t *object = strategy ? json_object() : NULL;

    for (size_t i = 0; strategy && i < strategy->n_params; i++)
        json_object_set_new(object, strategy->params[i].name,
                            strategy_param_json(&strategy->params[i], account->params[i]));
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(object);
    return text;
}

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct accounts_read *read = ctx;

    if (read->n == ACCOUNTS_MAX)
        return;
    struct account_line *line = &read->lines[read->n];
    *line = (struct account_line){.account = row->account,
                                  .cash = INT64_MIN,
                                  .equity = INT64_MIN,
                                  .peak = INT64_MIN,
                                  .drawdown_pct = NAN,
                                  .killed_ns = row->killed_ns,
                                  .margin = no_figures,
                                  .unknown_orders = -1,
                                  .params = params_text(&row->account)};
    snprintf(line->strategy, sizeof line->strategy, "%s", row->account.strategy);
    if (read->form == STORED_TABLE && !line->strategy[0])
        strcpy(line->strategy, "none");
    read->peaks[read->n++] = row->equity_peak;
}

static void take_policy(void *ctx, const struct db_policy *row)
{
    struct accounts_read *read = ctx;

    for (struct account_line *line = read->lines; line < read->lines + read->n; line++) {
        if (!db_policy_trades_for(row, line->account.name))
            continue;
        snprintf(line->policy, sizeof line->policy, "%s", row->name);
        if (read->form == STORED_TABLE && !line->account.strategy[0])
            snprintf(line->strategy, sizeof line->strategy, "policy %s", row->name);
    }
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct accounts_read *read = ctx;
    struct account_line *line = &read->lines[read->at];

    line->at_ns = point->ts_ns;
    line->cash = point->cash;
    line->equity = point->equity;
    if (read->peaks[read->at] <= 0)
        return;
    line->peak = read->peaks[read->at];
    line->drawdown_pct = fmin(0, 100 * ((double)line->equity / (double)line->peak - 1));
}

static void take_margin(void *ctx, const struct db_margin *row)
{
    struct accounts_read *read = ctx;

    for (struct account_line *line = read->lines; line < read->lines + read->n; line++) {
        const struct account_rules *rules = &line->account.rules;
        if (line->account.number != row->account ||
            (rules->margin == MARGIN_OFF && rules->settlement == SETTLEMENT_OFF))
            continue;
        line->margin = row->figures;
        line->asked = true;
    }
}

static void take_order(void *ctx, const struct db_order_row *row)
{
    struct accounts_read *read = ctx;

    for (struct account_line *line = read->lines; row->account && line < read->lines + read->n; line++)
        if (line->at_venue[0] && line->account.number == row->account->number)
            line->unknown_orders += row->order.state == ORDER_UNKNOWN;
}

static const struct db_selected selected = {"accounts", "id", NULL};

static const struct db_selection *selection_of(const struct option_call *call)
{
    return &((const struct ask_selected *)call->into)->selection;
}

/* How those that are filled at their venue stand there: now alone. */
static int read_at_venue(struct db_reader *reader, const struct option_call *call, struct accounts_read *read)
{
    bool any = false;
    int r = 0;

    if (selection_of(call)->at_ns > 0)
        return 0;

    for (struct account_line *line = read->lines; r == 0 && line < read->lines + read->n; line++) {
        char prefix[DB_AT_VENUE_MAX];
        r = db_reader_at_venue(reader, line->account.name, prefix);
        if (r < 0 || !prefix[0])
            continue;
        bool halted = strcmp(prefix, ENGINE_VENUE_RESET) == 0;
        strcpy(line->at_venue, halted ? "halted" : "attached");
        strcpy(line->venue_prefix, halted ? "" : prefix);
        line->unknown_orders = 0;
        any = true;
    }
    return any && r == 0 ? db_reader_orders(reader, true, 0, take_order, read) : r;
}

static bool has_margin(const struct account_line *line)
{
    return line->asked;
}

static bool has_venue(const struct account_line *line)
{
    return line->at_venue[0] != '\0';
}

/* Prints what was read, if r is 0, of those that `has` says, NULL: all; and lets go of it. Returns r. */
static int put_lines(struct accounts_read *read, int r, bool (*has)(const struct account_line *line),
                     struct stored_list *list)
{
    for (struct account_line *line = read->lines; line < read->lines + read->n; line++) {
        struct symbol currency = {.quote_scale = line->account.currency_scale};
        if (r == 0 && (!has || has(line)))
            cli_stored_record_row(list, line, &(struct record_context){.symbol = &currency});
        free(line->params);
    }
    free(read);
    return r;
}

/* 1: there is no such account, and no table. */
static int read_margins(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    struct accounts_read *read = calloc(1, sizeof *read);

    (void)call;
    if (!read)
        return -ENOMEM;
    int r = db_reader_accounts(reader, take_account, read);
    if (r == 0)
        r = db_reader_margins(reader, take_margin, read);
    r = put_lines(read, r, has_margin, list);
    return r == 0 && list->rows == 0 ? 1 : r;
}

/* Likewise. */
static int read_venues(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    struct accounts_read *read = calloc(1, sizeof *read);

    if (!read)
        return -ENOMEM;
    int r = db_reader_accounts(reader, take_account, read);
    if (r == 0)
        r = read_at_venue(reader, call, read);
    r = put_lines(read, r, has_venue, list);
    return r == 0 && list->rows == 0 ? 1 : r;
}

/* A line of the table for each currency, where there is more than one account. */
static char *totals_text(const struct db_totals *totals)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    for (int i = 0; to && i < totals->n; i++) {
        char equity[STORED_CELL];
        const struct db_total *total = &totals->list[i];
        if (total->unknown > 0)
            snprintf(equity, sizeof equity, "-");
        else
            cli_stored_decimal(STORED_TABLE, equity, total->equity, total->scale);
        fprintf(to, "total %s: equity %s in %d account%s\n", total->currency, equity, total->accounts,
                total->accounts == 1 ? "" : "s");
    }
    if (to && totals->n > 1)
        fputs("each currency by itself: what is stored has no rate between them\n", to);
    if (to)
        fclose(to);
    return text;
}

/* ", \"totals\": […]" */
static char *totals_members(const struct db_totals *totals)
{
    json_t *list = db_totals_json(totals);
    char *text = list ? decimal_json_text(list, 15) : NULL, *members = NULL;

    if (!text || asprintf(&members, ",\"totals\":%s", text) < 0)
        members = NULL;
    free(text);
    json_decref(list);
    return members;
}

/* The sums by currency, of the newest points. */
static int add_totals(struct db_reader *reader, const struct accounts_read *read, struct stored_list *list)
{
    struct db_totals totals = {0};
    int r = db_totals_read(reader, true, &totals);

    if (r == 0 && list->form == STORED_JSON)
        list->tail = totals_members(&totals);
    else if (r == 0 && list->form == STORED_TABLE && read->n > 1)
        list->tail = totals_text(&totals);
    return r;
}

static int read_accounts(struct db_reader *reader, const struct option_call *call, struct stored_list *list)
{
    struct accounts_read *read = calloc(1, sizeof *read);

    if (!read)
        return -ENOMEM;
    read->form = list->form;
    int r = db_reader_accounts(reader, take_account, read);
    if (r == 0)
        r = db_reader_policies(reader, take_policy, read);
    if (r == 0)
        r = db_reader_margins(reader, take_margin, read);
    if (r == 0)
        r = read_at_venue(reader, call, read);
    for (; r == 0 && read->at < read->n; read->at++)
        r = db_reader_equity(reader, read->lines[read->at].account.number, INT64_MIN, 1, take_point, read);
    if (r == 0)
        r = add_totals(reader, read, list);
    return put_lines(read, r, NULL, list);
}

int cli_account_list(struct option_call *call)
{
    struct stored_list list =
        cli_stored_list_of(&record, columns, sizeof columns / sizeof *columns, cli_stored_form(call), NULL);

    int status =
        cli_selected_print_list(call, "account", &list, selection_of(call), &selected, read_accounts);
    if (status != EXIT_OK || list.form != STORED_TABLE)
        return status;
    struct stored_list margins = cli_stored_list_of(
        &margin_record, margin_columns, sizeof margin_columns / sizeof *margin_columns, STORED_TABLE, NULL);

    struct stored_list venues = cli_stored_list_of(
        &venue_record, venue_columns, sizeof venue_columns / sizeof *venue_columns, STORED_TABLE, NULL);

    status = cli_selected_print_list(call, "account", &margins, selection_of(call), &selected, read_margins);
    return status == EXIT_OK
               ? cli_selected_print_list(call, "account", &venues, selection_of(call), &selected, read_venues)
               : status;
}
