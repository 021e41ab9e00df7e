/* What holding a symbol would have made of the money: its closes over the time of the account's curve. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

/* The wanted one, of that time; at its end a step's width does not matter. */
static bool is_read(const struct history_benchmark *b, const char *symbol, int64_t from_ns, int64_t to_ns)
{
    return strcmp(b->symbol, symbol) == 0 && b->from_ns == from_ns && to_ns >= b->to_ns &&
           to_ns - b->to_ns < (b->to_ns - b->from_ns) / HISTORY_BENCHMARK_MAX;
}

int tui_history_read_benchmark(struct history_reader *reader, struct history *h, const char *symbol)
{
    struct history_benchmark *b = &h->benchmark;
    int64_t from_ns = h->n_equity > 0 ? h->equity[0].ts_ns : 0,
            to_ns = h->n_equity > 0 ? h->equity[h->n_equity - 1].ts_ns : 0;
    struct db_symbol_row row;
    struct bar bar;
    int64_t interval_ns;

    if (!*symbol || to_ns <= from_ns) {
        b->symbol[0] = '\0';
        b->n = 0;
        return 0;
    }
    if (is_read(b, symbol, from_ns, to_ns))
        return 0;
    *b = (struct history_benchmark){.from_ns = from_ns, .to_ns = to_ns};
    strncpy(b->symbol, symbol, sizeof(b->symbol) - 1);
    int r = db_reader_symbol(reader->db, symbol, &row);
    if (r == 0)
        r = db_reader_interval_after(reader->db, symbol, 0, &interval_ns);
    for (int i = 0; r >= 0 && i < HISTORY_BENCHMARK_MAX; i++) {
        int64_t at_ns = from_ns + (int64_t)((double)(to_ns - from_ns) * i / (HISTORY_BENCHMARK_MAX - 1));
        r = tui_history_bar_until(reader->db, symbol, interval_ns, at_ns, &bar);
        b->closes[i] = r > 0 ? decimal_to_double(bar.close, row.symbol.price_scale) : NAN;
        b->n = i + 1;
    }
    return r == -ENOENT ? (b->n = 0) : r < 0 ? r : 0;
}

double tui_history_benchmark(const struct history_benchmark *benchmark, int64_t at_ns)
{
    double first = NAN, span = (double)(benchmark->to_ns - benchmark->from_ns);

    for (int i = 0; i < benchmark->n && !isfinite(first); i++)
        first = benchmark->closes[i];
    if (benchmark->n == 0 || at_ns < benchmark->from_ns)
        return NAN;
    int at = (int)((double)(at_ns - benchmark->from_ns) / span * (HISTORY_BENCHMARK_MAX - 1));
    at = at < benchmark->n ? at : benchmark->n - 1;
    return benchmark->closes[at] / first;
}
