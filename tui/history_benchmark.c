/* What holding a symbol would have made of the money: its closes over the time of the account's curve. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/account.h"
#include "exchange/bar.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

/* Half of the places at first, so that what comes has room. */
static void begin(struct history_benchmark *b, int64_t from_ns, int64_t to_ns)
{
    *b = (struct history_benchmark){
        .from_ns = from_ns, .step_ns = (to_ns - from_ns) / (HISTORY_BENCHMARK_MAX / 2) + 1, .newest = NAN};
}

/* Drops every second close: the rest are at twice the steps. */
static void halve(struct history_benchmark *b)
{
    b->n = (b->n + 1) / 2;
    b->step_ns *= 2;
    for (int i = 0; i < b->n; i++)
        b->closes[i] = b->closes[2 * i];
}

static int read_close(struct db_reader *db, const struct db_symbol_row *row, int64_t interval_ns,
                      int64_t at_ns, double *ret)
{
    struct bar bar;
    int r = tui_history_bar_until(db, row->symbol.name, interval_ns, at_ns, &bar);

    if (r >= 0)
        *ret = r > 0 ? decimal_to_double(bar.close, row->symbol.price_scale) : NAN;
    return r < 0 ? r : 0;
}

/* Those that are new. */
static int read_closes(struct db_reader *db, struct history_benchmark *b, const struct db_symbol_row *row,
                       int64_t to_ns)
{
    int64_t interval_ns, at_ns;
    int r = db_reader_interval_after(db, row->symbol.name, 0, &interval_ns);

    while (r == 0 && (at_ns = b->from_ns + b->n * b->step_ns) <= to_ns) {
        if (b->n == HISTORY_BENCHMARK_MAX)
            halve(b);
        else if ((r = read_close(db, row, interval_ns, at_ns, &b->closes[b->n])) == 0)
            b->n++;
    }
    return r == 0 ? read_close(db, row, interval_ns, to_ns, &b->newest) : r;
}

struct fee_reading {
    struct history_benchmark *benchmark;
    const struct symbol *symbol;
};

static void take_fee(void *ctx, const struct db_account_row *row)
{
    struct fee_reading *reading = ctx;

    if (strcmp(row->account.name, reading->benchmark->account) == 0)
        reading->benchmark->fee = account_fees(&row->account.rules, reading->symbol)->taker_e6 / 1e6;
}

static int read_new(struct db_reader *db, struct history_benchmark *b, const char *symbol, int64_t to_ns)
{
    struct db_symbol_row row;
    struct fee_reading reading = {b, &row.symbol};
    int r = db_reader_symbol(db, symbol, &row);

    if (r == 0)
        r = db_reader_accounts(db, take_fee, &reading);
    return r == 0 ? read_closes(db, b, &row, to_ns) : r;
}

int tui_history_read_benchmark(struct history_reader *reader, struct history *h, const char *symbol)
{
    struct history_benchmark *b = &h->benchmark;
    const int64_t from_ns = h->n_equity > 0 ? h->equity[0].ts_ns : 0,
                  to_ns = h->n_equity > 0 ? h->equity[h->n_equity - 1].ts_ns : 0;
    const bool same = strcmp(b->symbol, symbol) == 0 && strcmp(b->account, h->equity_account) == 0 &&
                      b->from_ns == from_ns && to_ns >= b->to_ns;

    if (!*symbol || to_ns <= from_ns) {
        *b = (struct history_benchmark){.newest = NAN};
        return 0;
    }
    if (same && to_ns == b->to_ns)
        return 0;
    if (!same)
        begin(b, from_ns, to_ns);
    b->symbol[0] = '\0'; /* until all of it has been read */
    memcpy(b->account, h->equity_account, sizeof(b->account));
    int r = read_new(reader->db, b, symbol, to_ns);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == -ENOENT)
        b->n = 0;
    b->to_ns = to_ns;
    strncpy(b->symbol, symbol, sizeof(b->symbol) - 1);
    return 0;
}

double tui_history_benchmark(const struct history_benchmark *b, int64_t at_ns)
{
    double first = NAN;

    if (b->n == 0 || at_ns < b->from_ns)
        return NAN;
    for (int i = 0; i < b->n && !isfinite(first); i++)
        first = b->closes[i];
    first = isfinite(first) ? first : b->newest;
    int64_t at = (at_ns - b->from_ns) / b->step_ns;
    return (at_ns >= b->to_ns ? b->newest : b->closes[at < b->n ? at : b->n - 1]) / first / (1 + b->fee);
}
