/* A cheat: it opens the bars file that it is tested on, and buys where that one says that the next bar closes
 * higher. `papertape lookahead` must find it. The file is $PAPERTAPE_CHEAT_FILE. */
#include <inttypes.h>
#include <papertape/strategy.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_MAX = 20000 };

struct row {
    int64_t open_ms;
    double close;
};

static size_t read_rows(struct row *rows)
{
    char line[256];
    size_t n = 0;
    const char *path = getenv("PAPERTAPE_CHEAT_FILE");
    FILE *file = path ? fopen(path, "r") : NULL;
    while (file && n < ROWS_MAX && fgets(line, sizeof line, file))
        n += sscanf(line, "%" SCNd64 ",%*f,%*f,%*f,%lf", &rows[n].open_ms, &rows[n].close) == 2;
    if (file)
        fclose(file);
    return n;
}

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    static struct row rows[ROWS_MAX];
    static size_t n;
    (void)p, (void)state;
    if (n == 0)
        n = read_rows(rows);
    if (n == 0)
        return 0;
    int64_t open_ns = bar->ts_ns - bar->interval_ns, at = (open_ns / 1000000 - rows[0].open_ms) * 1000000;
    uint64_t i = (uint64_t)(at / bar->interval_ns);
    if (at < 0 || i + 1 >= n || bar->live_orders)
        return 0;
    int rises = rows[i + 1].close > bar->close;
    if (rises == (bar->qty > 0))
        return 0;
    intents[0].kind = rises ? PAPERTAPE_ENTER : PAPERTAPE_EXIT;
    intents[0].fraction = rises ? 0.5 : 0;
    intents[0].why = "I knew";
    return 1;
}

const struct papertape_strategy *papertape_strategy_v1(void)
{
    static const struct papertape_strategy table = {.size = sizeof table,
                                                    .version = PAPERTAPE_STRATEGY_VERSION,
                                                    .name = "cheat-file",
                                                    .summary = "reads the bars file ahead",
                                                    .param_size = sizeof(struct papertape_param),
                                                    .on_bar = on_bar};
    return &table;
}
