/* Real recordings: every frame is understood, and the bars built from the trades are those of a plain
 * grouping. Skipped without them (PAPERTAPE_SHARED names their folder). */
#include <zlib.h>

#include "exchange/binance/format.h"
#include "tests/check.h"

enum { RECORDING_LINE = 1 << 22, TRADES_MAX = 1 << 17 };

static struct symbol symbols[] = {
    {.name = "BTCUSDT"}, {.name = "ETHUSDT"}, {.name = "NKNUSDT"},
    {.name = "BLZETH"},  {.name = "LRCBTC"},  {.name = "RUNEEUR"},
};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

static struct market_trade trades[SYMBOLS][TRADES_MAX];
static size_t n_trades[SYMBOLS];
static uint64_t counts[MARKET_KINDS], other, bad;

static bool read_recording(struct venue_parser *parser, const char *name)
{
    char path[4096];
    static char line[RECORDING_LINE];
    snprintf(path, sizeof path, "%s/data/recorded/binance/%s", getenv("PAPERTAPE_SHARED"), name);
    gzFile file = gzopen(path, "rb");
    if (!file)
        return false;
    while (gzgets(file, line, sizeof line)) {
        const char *frame = strchr(line, '{');
        if (!frame)
            continue;
        struct market_event event;
        int r = binance_parse(parser, frame, strlen(frame), &event);
        if (r < 0 && bad++ < 5)
            printf("%s: %d: %.300s\n", name, r, frame);
        other += r == 1;
        counts[event.kind] += r == 0;
        if (r == 0 && event.kind == MARKET_TRADE && n_trades[event.symbol] < TRADES_MAX)
            trades[event.symbol][n_trades[event.symbol]++] = event.trade;
    }
    gzclose(file);
    return true;
}

/* Every closed bar holds the trades of its interval, no more and no less. */
static void check_bars(int symbol, const char *interval)
{
    const struct market_trade *t = trades[symbol];
    size_t n = n_trades[symbol], closed = 0, incomplete = 0, jumps = 0;
    struct bar_builder builder;
    struct bar bar;
    int64_t ns = 0;
    CHECK_INT(bar_interval_parse(interval, &ns), 0);
    bar_builder_init(&builder, ns);
    for (size_t i = 0; i < n; i++) {
        jumps += i > 0 && t[i].id != t[i - 1].id + 1;
        enum bar_built built = bar_builder_trade(&builder, t[i].ts_ns, t[i].id, t[i].price, t[i].qty, &bar);
        incomplete += built == BAR_INCOMPLETE;
        if (built != BAR_CLOSED)
            continue;
        closed++;
        int128_t volume = 0, quote_volume = 0;
        int64_t count = 0, high = 0, low = INT64_MAX, open = 0, close = 0;
        for (size_t k = 0; k < n; k++)
            if (t[k].ts_ns / ns * ns == bar.open_ns) {
                open = count++ ? open : t[k].price;
                high = t[k].price > high ? t[k].price : high;
                low = t[k].price < low ? t[k].price : low;
                close = t[k].price;
                volume += t[k].qty;
                quote_volume += (int128_t)t[k].price * t[k].qty;
            }
        CHECK(bar.open == open && bar.high == high && bar.low == low && bar.close == close &&
              bar.trades == count && bar.volume == volume && bar.quote_volume == quote_volume);
    }
    CHECK_INT(builder.gaps, jumps);
    printf("%s %s: %zu trades, %zu bars, %zu incomplete, %zu jumps\n", symbols[symbol].name, interval, n,
           closed, incomplete, jumps);
    CHECK(closed > 0);
}

int main(void)
{
    struct venue_parser *parser;
    for (int s = 0; s < SYMBOLS; s++)
        symbols[s].price_scale = symbols[s].qty_scale = symbols[s].quote_scale = 8;
    if (!getenv("PAPERTAPE_SHARED") || binance_parser_create(symbols, SYMBOLS, &parser) < 0) {
        puts("skipped: PAPERTAPE_SHARED is not set");
        return CHECK_SKIP;
    }
    bool found = read_recording(parser, "btcusdt_2024-08-08.jsonl.gz");
    found |= read_recording(parser, "ethusdt_2024-08-08.jsonl.gz");
    if (!found || !read_recording(parser, "book_sync_2021-10.ws.gz")) {
        binance_parser_destroy(parser);
        printf("skipped: no recordings in %s/data/recorded/binance\n", getenv("PAPERTAPE_SHARED"));
        return CHECK_SKIP;
    }
    binance_parser_destroy(parser);
    for (int kind = 0; kind < MARKET_KINDS; kind++)
        printf("%s %ju  ", market_kind_name((enum market_kind)kind), (uintmax_t)counts[kind]);
    printf("other %ju\n", (uintmax_t)other);
    CHECK_INT(bad, 0);
    CHECK_INT(other, 2); /* the two REST replies among the frames */
    CHECK(counts[MARKET_TRADE] && counts[MARKET_AGG_TRADE] && counts[MARKET_KLINE] && counts[MARKET_QUOTE] &&
          counts[MARKET_DEPTH]);
    for (int s = 0; s < 2; s++) {
        check_bars(s, "1m");
        check_bars(s, "1s");
    }
    return check_done("exchange/recordings");
}
