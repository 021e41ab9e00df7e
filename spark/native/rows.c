#include "spark/native/rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/order.h"
#include "record/field.h"
#include "strategy/strategy.h"

const char *const spark_rows_names[SPARK_ROWS_KINDS] = {
    [SPARK_ROWS_FIGURES] = "figures", [SPARK_ROWS_TRADES] = "trades", [SPARK_ROWS_ROUNDS] = "rounds",
    [SPARK_ROWS_EQUITY] = "equity",   [SPARK_ROWS_SWEEP] = "sweep",
};

static const struct spark_frame_column
    figures_columns[] =
        {
            {"symbol", SPARK_TEXT},      {"currency", SPARK_TEXT},   {"strategy", SPARK_TEXT},
            {"way", SPARK_TEXT},         {"interval", SPARK_TEXT},   {"rows", SPARK_INT},
            {"first_ns", SPARK_INT},     {"last_ns", SPARK_INT},     {"bars_missing", SPARK_INT},
            {"deposits", SPARK_DECIMAL}, {"equity", SPARK_REAL},     {"cash", SPARK_DECIMAL},
            {"orders", SPARK_INT},       {"fills", SPARK_INT},       {"trades", SPARK_INT},
            {"open_trades", SPARK_INT},  {"wins", SPARK_INT},        {"losses", SPARK_INT},
            {"rejected", SPARK_INT},     {"ledger_rows", SPARK_INT}, {"ledger_hash", SPARK_TEXT},
},
    trades_columns[] =
        {
            {"symbol", SPARK_TEXT},   {"timestamp", SPARK_TIME}, {"fill", SPARK_INT},
            {"order", SPARK_INT},     {"ts_ns", SPARK_INT},      {"side", SPARK_TEXT},
            {"price", SPARK_DECIMAL}, {"qty", SPARK_DECIMAL},    {"notional", SPARK_DECIMAL},
            {"fee", SPARK_DECIMAL},   {"fee_asset", SPARK_TEXT}, {"fee_base", SPARK_DECIMAL},
            {"maker", SPARK_BOOL},    {"by", SPARK_TEXT},
},
    rounds_columns[] =
        {
            {"symbol", SPARK_TEXT},    {"side", SPARK_TEXT},        {"entry_ns", SPARK_INT},
            {"exit_ns", SPARK_INT},    {"bars", SPARK_INT},         {"qty", SPARK_DECIMAL},
            {"cost", SPARK_DECIMAL},   {"proceeds", SPARK_DECIMAL}, {"fees", SPARK_DECIMAL},
            {"profit", SPARK_DECIMAL},
},
    equity_columns[] =
        {
            {"symbol", SPARK_TEXT},    {"timestamp", SPARK_TIME}, {"ts_ns", SPARK_INT},
            {"equity", SPARK_DECIMAL}, {"cash", SPARK_DECIMAL},   {"peak", SPARK_DECIMAL},
},
    sweep_columns[] = {
        {"equity", SPARK_REAL}, {"fees", SPARK_REAL},    {"exposure", SPARK_REAL}, {"trades", SPARK_INT},
        {"fills", SPARK_INT},   {"rejected", SPARK_INT}, {"error", SPARK_TEXT},
};

struct columns {
    struct spark_frame_column *to;
    size_t n;
};

static void add(struct columns *c, const char *name, enum spark_cell kind)
{
    c->to[c->n++] = (struct spark_frame_column){name, kind};
}

static void add_all(struct columns *c, const struct spark_frame_column *from, size_t n)
{
    memcpy(c->to + c->n, from, n * sizeof *from);
    c->n += n;
}
#define ADD_ALL(c, from) add_all(c, from, sizeof(from) / sizeof *(from))

static const struct strategy_param *axis_param(const struct spark_trading *trading, int axis)
{
    return &trading->strategy->params[trading->grid.axes[axis].param];
}

static void add_sweep(struct columns *c, const struct spark_trading *trading)
{
    add(c, "symbol", SPARK_TEXT);
    for (int i = 0; i < trading->grid.n_axes; i++) {
        const struct strategy_param *param = axis_param(trading, i);
        add(c, param->name, param->words ? SPARK_TEXT : param->integer ? SPARK_INT : SPARK_REAL);
    }
    add(c, "rank", SPARK_INT);
    for (int m = 0; m < SWEEP_METRICS; m++)
        add(c, backtest_sweep_metric_name((enum sweep_metric)m), SPARK_REAL);
    ADD_ALL(c, sweep_columns);
}

size_t spark_rows_columns(enum spark_output rows, const struct spark_trading *trading,
                          struct spark_frame_column columns[static SPARK_FRAME_COLUMNS_MAX])
{
    struct columns c = {columns, 0};
    switch (rows) {
    case SPARK_ROWS_FIGURES:
        ADD_ALL(&c, figures_columns);
        for (int i = 0; i < backtest_figures.n; i++)
            add(&c, backtest_figures.fields[i].name, SPARK_REAL);
        add(&c, "error", SPARK_TEXT);
        break;
    case SPARK_ROWS_TRADES:
        ADD_ALL(&c, trades_columns);
        break;
    case SPARK_ROWS_ROUNDS:
        ADD_ALL(&c, rounds_columns);
        break;
    case SPARK_ROWS_EQUITY:
        ADD_ALL(&c, equity_columns);
        break;
    case SPARK_ROWS_SWEEP:
        add_sweep(&c, trading);
        break;
    case SPARK_ROWS_KINDS:
        break;
    }
    return c.n;
}

static void put_hash(struct spark_frame *frame, const uint8_t hash[static LEDGER_HASH_SIZE])
{
    char text[2 * LEDGER_HASH_SIZE + 1];
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
    spark_frame_text(frame, text);
}

static void put_figures(const struct spark_result *result, struct spark_frame *frame)
{
    const struct backtest_report *r = &result->report;
    for (int i = 0; i < backtest_figures.n; i++) {
        const struct record_field *field = &backtest_figures.fields[i];
        double value = *(const double *)((const char *)r + field->offset);
        bool percent = (field->flags & RECORD_PERCENT) == RECORD_PERCENT;
        spark_frame_real(frame, percent ? 100 * value : value);
    }
}

static void put_account(const struct spark_result *result, struct spark_frame *frame)
{
    const struct market *market = result->market;
    const struct backtest *backtest = &result->backtest;
    const struct backtest_account *account = &backtest->accounts[0];
    const struct backtest_report *r = &result->report;
    const struct account_spec *spec = &result->account;
    spark_frame_text(frame, spec->currency);
    spark_frame_text(frame, spec->strategy->name);
    spark_frame_text(frame, account->way == BACKTEST_COLUMNS ? "columns" : "engine");
    spark_frame_text(frame, bar_interval_name(market->interval_ns));
    spark_frame_int(frame, (int64_t)(backtest->to - backtest->from));
    spark_frame_int(frame, market_open_ns(market, backtest->from));
    spark_frame_int(frame, market_open_ns(market, backtest->to));
    spark_frame_int(frame, (int64_t)market->series[0].missing);
    spark_frame_decimal(frame, spec->cash, spec->currency_scale);
    spark_frame_real(frame, r->final_equity);
    spark_frame_decimal(frame, account->final_cash, spec->currency_scale);
    spark_frame_int(frame, (int64_t)account->n_orders);
    spark_frame_int(frame, (int64_t)account->n_fills);
    spark_frame_int(frame, (int64_t)r->trades.n);
    spark_frame_int(frame, (int64_t)r->open_trades);
    spark_frame_int(frame, (int64_t)r->trades.wins);
    spark_frame_int(frame, (int64_t)r->trades.losses);
    spark_frame_int(frame, (int64_t)r->refused);
    spark_frame_int(frame, (int64_t)account->n_ledger);
    put_hash(frame, result->hash);
}

static void put_fill(const struct spark_result *result, const struct fill *fill, struct spark_frame *frame)
{
    const struct symbol *symbol = &result->market->series[0].symbol;
    spark_frame_time(frame, fill->ts_ns);
    spark_frame_int(frame, (int64_t)fill->id);
    spark_frame_int(frame, (int64_t)fill->order_id);
    spark_frame_int(frame, fill->ts_ns);
    spark_frame_text(frame, order_side_name(fill->side));
    spark_frame_decimal(frame, fill->price, symbol->price_scale);
    spark_frame_decimal(frame, fill->qty, symbol->qty_scale);
    spark_frame_decimal(frame, fill->notional, symbol->quote_scale);
    spark_frame_decimal(frame, fill->fee, symbol->quote_scale);
    spark_frame_text(frame, symbol->quote);
    if (fill->fee_base)
        spark_frame_decimal(frame, fill->fee_base, symbol->qty_scale);
    else
        spark_frame_null(frame);
    spark_frame_bool(frame, fill->maker);
    spark_frame_text(frame, fill->basis == FILL_BASIS_NONE ? NULL : fill_basis_name(fill->basis));
}

static void put_round(const struct spark_result *result, const struct backtest_trade *trade,
                      struct spark_frame *frame)
{
    const struct symbol *symbol = &result->market->series[0].symbol;
    spark_frame_text(frame, trade->qty < 0 ? "short" : "long");
    spark_frame_int(frame, trade->entry_ns);
    if (trade->exit_ns)
        spark_frame_int(frame, trade->exit_ns);
    else
        spark_frame_null(frame);
    spark_frame_int(frame, (int64_t)(trade->exit_row - trade->entry_row));
    spark_frame_decimal(frame, trade->qty < 0 ? -trade->qty : trade->qty, symbol->qty_scale);
    spark_frame_decimal(frame, trade->cost, symbol->quote_scale);
    spark_frame_decimal(frame, trade->proceeds, symbol->quote_scale);
    spark_frame_decimal(frame, trade->fees, symbol->quote_scale);
    spark_frame_decimal(frame, trade->profit, symbol->quote_scale);
}

static void put_point(const struct spark_result *result, const struct backtest_point *point,
                      struct spark_frame *frame)
{
    int scale = result->account.currency_scale;
    spark_frame_time(frame, point->ts_ns);
    spark_frame_int(frame, point->ts_ns);
    spark_frame_decimal(frame, point->equity, scale);
    spark_frame_decimal(frame, point->cash, scale);
    spark_frame_decimal(frame, point->peak, scale);
}

static void put_axes(const struct spark_trading *trading, size_t combination, struct spark_frame *frame)
{
    double params[STRATEGY_PARAMS_MAX];
    char word[STRATEGY_WORD_MAX];
    memcpy(params, trading->params, sizeof params);
    (void)backtest_grid_set(&trading->grid, trading->strategy, combination, params);
    for (int i = 0; i < trading->grid.n_axes; i++) {
        const struct strategy_param *param = axis_param(trading, i);
        double value = params[trading->grid.axes[i].param];
        if (param->words)
            spark_frame_text(frame, strategy_param_word(param, value, word));
        else if (param->integer)
            spark_frame_int(frame, (int64_t)value);
        else
            spark_frame_real(frame, value);
    }
}

static void put_run(const struct spark_trading *trading, const struct sweep_result *run, size_t rank,
                    struct spark_frame *frame)
{
    put_axes(trading, run->combination, frame);
    spark_frame_int(frame, (int64_t)rank);
    for (int m = 0; m < SWEEP_METRICS; m++)
        spark_frame_real(frame, run->metrics[m]);
    spark_frame_real(frame, run->final_equity);
    spark_frame_real(frame, run->fees);
    spark_frame_real(frame, run->exposure);
    spark_frame_int(frame, (int64_t)run->trades);
    spark_frame_int(frame, (int64_t)run->fills);
    spark_frame_int(frame, (int64_t)run->refused);
}

static size_t count(enum spark_output rows, const struct spark_trading *trading,
                    const struct spark_result *result)
{
    size_t top = (size_t)trading->top;
    switch (rows) {
    case SPARK_ROWS_FIGURES:
        return 1;
    case SPARK_ROWS_TRADES:
        return result->backtest.accounts[0].n_fills;
    case SPARK_ROWS_ROUNDS:
        return result->backtest.accounts[0].n_trades;
    case SPARK_ROWS_EQUITY:
        return result->backtest.to - result->backtest.from;
    case SPARK_ROWS_SWEEP:
        return top > 0 && top < result->sweep.n ? top : result->sweep.n;
    case SPARK_ROWS_KINDS:
        break;
    }
    return 0;
}

int spark_rows_put(enum spark_output rows, const struct spark_trading *trading, struct spark_result *result,
                   const char *symbol, size_t i, struct spark_frame *frame)
{
    struct backtest_point point;
    if (i >= count(rows, trading, result))
        return 0;
    spark_frame_text(frame, symbol);
    if (rows == SPARK_ROWS_FIGURES) {
        put_account(result, frame);
        put_figures(result, frame);
    } else if (rows == SPARK_ROWS_TRADES) {
        put_fill(result, &result->backtest.accounts[0].fills[i], frame);
    } else if (rows == SPARK_ROWS_ROUNDS) {
        put_round(result, &result->backtest.accounts[0].trades[i], frame);
    } else if (rows == SPARK_ROWS_EQUITY) {
        if (backtest_equity_next(&result->equity, &point))
            put_point(result, &point, frame);
    } else {
        put_run(trading, &result->sweep.results[i], i + 1, frame);
    }
    int r = spark_frame_row(frame);
    return r < 0 ? r : 1;
}

int spark_rows_put_error(enum spark_output rows, const char *symbol, const char *why,
                         struct spark_frame *frame)
{
    if (rows != SPARK_ROWS_FIGURES && rows != SPARK_ROWS_SWEEP)
        return 0;
    spark_frame_text(frame, symbol);
    while (frame->at + 1 < frame->n_columns && !frame->failed)
        spark_frame_null(frame);
    spark_frame_text(frame, why);
    return spark_frame_row(frame);
}
