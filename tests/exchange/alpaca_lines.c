/* Prints what Alpaca's parsers read from replies and frames, for alpaca_oracle.py: each line of the input is
 * a word and a text; the answer is a line for each thing read, then a line "end CODE". Amounts are units of
 * 10^-9. */
#include "exchange/alpaca/assets.h"
#include "exchange/alpaca/calendar.h"
#include "exchange/alpaca/number.h"
#include "exchange/alpaca/rest_call.h"
#include "exchange/alpaca/trading.h"
#include "tests/check.h"

enum { NAMES_MAX = 64 };

static struct symbol symbols[NAMES_MAX];
static size_t n_symbols;

static const struct symbol *symbol(void *user, struct json_text name)
{
    (void)user;
    for (size_t i = 0; i < n_symbols; i++)
        if (json_text_is(name, symbols[i].name))
            return &symbols[i];
    if (n_symbols == NAMES_MAX || name.len >= SYMBOL_NAME_MAX)
        return NULL;
    struct symbol *one = &symbols[n_symbols++];
    *one = (struct symbol){.price_scale = 9, .qty_scale = 9, .quote_scale = 8};
    memcpy(one->name, name.data, name.len);
    return one;
}

static const char *wide(int128_t value)
{
    static char text[DECIMAL_TEXT_MAX];
    decimal_format(value, 0, text);
    return text;
}

static int message(void *user, const struct symbol *of, const struct market_event *event)
{
    (void)user;
    printf("%s %s ", of->name, market_kind_name(event->kind));
    switch (event->kind) {
    case MARKET_TRADE:
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d\n", event->trade.ts_ns, event->trade.id,
               event->trade.price, event->trade.qty, event->trade.buyer_maker);
        break;
    case MARKET_QUOTE:
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", event->event_ns,
               event->quote.bid, event->quote.bid_qty, event->quote.ask, event->quote.ask_qty);
        break;
    case MARKET_KLINE: {
        const struct bar *bar = &event->kline.bar;
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s", bar->open_ns,
               bar->open, bar->high, bar->low, bar->close, bar->trades, wide(bar->volume));
        printf(" %s\n", wide(bar->quote_volume));
        break;
    }
    case MARKET_TICKER:
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s\n", event->ticker.open, event->ticker.high,
               event->ticker.low, event->ticker.close, wide(event->ticker.volume));
        break;
    default:
        printf("?\n");
    }
    return 0;
}

static void show(struct json_text text)
{
    printf(" %.*s", (int)text.len, text.len ? text.data : "");
}

static int say_reply(const char *text, size_t len)
{
    static struct alpaca_levels levels;
    static const struct alpaca_reply_handler handler = {symbol, message, NULL};
    struct alpaca_reply reply;
    int r = alpaca_parse_reply(text, len, &levels, &handler, &reply);
    if (r == 0) {
        printf("next");
        show(reply.next_page);
        printf("\n");
    }
    return r;
}

static int say_actions(const char *text, size_t len)
{
    static struct venue_action actions[1000];
    struct json_text next;
    struct venue_skipped skipped = {0};
    size_t n, rows;
    int r = alpaca_parse_actions(text, len, INT64_MIN, INT64_MAX, actions, 1000, &n, &rows, &next, &skipped);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct corporate_action *action = &actions[i].action;
        if (actions[i].renamed[0]) {
            printf("%s name %s %" PRId64 " %s\n", actions[i].symbol, actions[i].renamed, action->ex_ns,
                   action->id);
            continue;
        }
        printf("%s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %s\n", actions[i].symbol,
               corporate_action_name(action->kind), action->ex_ns, action->shares, action->per, action->cash,
               action->id);
    }
    return r;
}

static int say_asset(const char *text, size_t len)
{
    struct venue_symbol wanted = {.name = "APCA"};
    int r = alpaca_parse_assets(text, len, &wanted, 1);
    const struct symbol *s = &wanted.symbol;
    if (r == 0)
        printf("%d %s %s %s %s %s %d %d %" PRId64 " %" PRId64 " %c\n", wanted.found, s->name, s->base,
               s->quote, s->venue, s->calendar, s->trading, s->gone, s->filters.step, s->filters.tick,
               s->primary ? s->primary : '-');
    return r;
}

static int say_refusal(const char *text, size_t len)
{
    struct json_text said;
    if (!alpaca_parse_refusal(text, len, &said))
        return 1;
    printf("refusal");
    show(said);
    printf("\n");
    return 0;
}

static int say_trading(const char *text, size_t len)
{
    struct alpaca_trading t;
    int r = alpaca_parse_trading(text, len, &t);
    if (r != 0)
        return r;
    printf("%d", t.kind);
    if (t.kind == TRADING_UPDATE) {
        show(t.event);
        show(t.event_id);
        printf(" %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, t.ts_ns, t.price, t.qty,
               t.position_qty == INT64_MIN ? -1 : t.position_qty);
        show(t.order.id);
        show(t.order.client_id);
        show(t.order.symbol);
        show(t.order.side);
        show(t.order.type);
        show(t.order.time_in_force);
        show(t.order.status);
        printf(" %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, t.order.qty, t.order.filled_qty,
               t.order.filled_avg_price, t.order.limit_price);
        printf(" %d", t.event_kind != ORDER_EVENT_OTHER);
    }
    printf("\n");
    return 0;
}

static int say_number(const char *text, size_t len)
{
    int128_t value = 0, same = 0;
    int r = alpaca_decimal(text, len, 9, &value),
        packed = alpaca_decimal_double(strtod(text, NULL), 9, &same);
    printf("%s", wide(value));
    printf(" %d %s\n", packed, wide(same));
    return r;
}

static int say_time(const char *text, size_t len)
{
    int64_t ns = -1;
    char back[ALPACA_TIME_TEXT_MAX];
    if (!alpaca_time(text, len, &ns))
        return 1;
    alpaca_time_text(ns, back);
    printf("%" PRId64 " %s\n", ns, back);
    return 0;
}

static int say_eastern(const char *text, size_t len)
{
    int day, minute;
    (void)len;
    if (sscanf(text, "%d %d", &day, &minute) != 2)
        return 1;
    int64_t ns = alpaca_eastern_ns(day, minute);
    printf("%" PRId64 " %" PRId32 "\n", ns, alpaca_eastern_day(ns));
    return 0;
}

static int say_calendar(const char *text, size_t len)
{
    static struct trading_day days[400];
    size_t n;
    int r = alpaca_parse_calendar(text, len, days, 400, &n);
    for (size_t i = 0; r == 0 && i < n; i++)
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", days[i].early_ns, days[i].open_ns,
               days[i].close_ns, days[i].late_ns);
    return r;
}

int main(void)
{
    static const struct {
        const char *word;
        int (*say)(const char *text, size_t len);
    } words[] = {
        {"reply ", say_reply},     {"actions ", say_actions}, {"asset ", say_asset},
        {"refusal ", say_refusal}, {"trading ", say_trading}, {"number ", say_number},
        {"time ", say_time},       {"eastern ", say_eastern}, {"calendar ", say_calendar},
    };
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    while ((len = getline(&line, &size, stdin)) > 0) {
        if (line[len - 1] == '\n')
            len--;
        int r = -1;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strncmp(line, words[i].word, strlen(words[i].word)) == 0)
                r = words[i].say(line + strlen(words[i].word), (size_t)len - strlen(words[i].word));
        printf("end %d\n", r);
    }
    free(line);
    return 0;
}
