/* Plays a tape of orders, money and prices with accounts for US stocks, and prints what the engine says of
 * them: margin_oracle.py writes the tape and computes the same by itself. One word a line begins it:
 *
 *   days N, then N lines EARLY OPEN CLOSE LATE      the calendar's, ns
 *   account MARGIN DAY_TRADER SETTLEMENT SHORTS FEE_E6 RATE_E6 CASH
 *   at NS            a timer        phase open|closed NEXT_NS
 *   quote SYMBOL P                  price SYMBOL P: quoted and traded
 *   order ACCOUNT SYMBOL buy|sell QTY P (0: at market)
 *   cancel                          the last order
 *   money ACCOUNT AMOUNT            save: the engine continues from its own state
 *   show ACCOUNT
 *
 * Symbols: 0 and 1 stocks, whose prices have 2 and 4 decimals, 2 a coin. Money is in cents. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/event.h"
#include "tests/engine/reload.h"

enum { SYMBOLS = 3, ACCOUNTS = 8, LINE_BYTES = 256 };

static struct symbol symbols[SYMBOLS];
static struct account_spec accounts[ACCOUNTS];
static int n_accounts;
static struct trading_day *days;
static size_t n_days;
static struct engine *engine;
static int64_t now_ns;
static uint64_t seq, quotes, last_order;
static int64_t trades;
static enum order_reason last_reason;

static void on_done(void *ctx, const struct event_command *command, enum order_reason reason,
                    uint64_t order_id)
{
    (void)ctx;
    (void)command;
    last_reason = reason;
    last_order = order_id;
}

/* The ledger's rows by account: a balance is the sum of its rows and never negative, and what is borrowed of
 * the currency is the sum of its BORROW rows. */
static struct {
    int64_t balance, borrowed;
} booked[ACCOUNTS];

static void on_ledger(void *ctx, const struct ledger_row *row)
{
    (void)ctx;
    CHECK(row->balance >= 0);
    if (strcmp(row->asset, "USD") != 0)
        return;
    booked[row->account].balance += row->amount;
    booked[row->account].borrowed += row->kind == LEDGER_BORROW ? row->amount : 0;
    CHECK_INT(row->balance, booked[row->account].balance);
}

static void on_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                     const char *text)
{
    (void)of;
    (void)ctx;
    if (getenv("MARGIN_TAPE"))
        fprintf(stderr, "%" PRId64 " %s %s\n", ts_ns, code, text);
}

static const struct engine_sink sink = {.command_done = on_done, .alert = on_alert, .ledger = on_ledger};

static void send(struct event *event)
{
    event->seq = ++seq;
    event->recv_ns = now_ns;
    if (engine_handle(engine, event) < 0) {
        printf("refused event %" PRIu64 "\n", seq);
        exit(1);
    }
}

static struct symbol symbol_of(const char *name, const char *base, int price_scale, int qty_scale,
                               const char *calendar)
{
    struct symbol symbol = {.price_scale = price_scale,
                            .qty_scale = qty_scale,
                            .quote_scale = 2,
                            .trading = true,
                            .filters = {.price_min = 1, .tick = 1, .qty_min = 1, .step = 1}};
    snprintf(symbol.name, sizeof symbol.name, "%s", name);
    snprintf(symbol.base, sizeof symbol.base, "%s", base);
    snprintf(symbol.quote, sizeof symbol.quote, "USD");
    snprintf(symbol.calendar, sizeof symbol.calendar, "%s", calendar);
    return symbol;
}

static void open_engine(void)
{
    char err[ENGINE_ERROR_MAX] = "";
    symbols[0] = symbol_of("AAA", "AAA", 2, 0, "stocks");
    symbols[1] = symbol_of("PNY", "PNY", 4, 0, "stocks");
    symbols[2] = symbol_of("COIN/USD", "COIN", 2, 4, "");
    const struct engine_config config = {.symbols = symbols,
                                         .n_symbols = SYMBOLS,
                                         .accounts = accounts,
                                         .n_accounts = n_accounts,
                                         .interval_ns = 60 * INT64_C(1000000000)};
    if (engine_create(&config, &sink, &engine) < 0) {
        printf("no engine: %s\n", err);
        exit(1);
    }
    engine_start(engine, now_ns);
    const struct trading_calendar calendar = {.name = "stocks",
                                              .days = days,
                                              .n = n_days,
                                              .from_ns = days[0].early_ns,
                                              .to_ns = days[n_days - 1].late_ns};
    struct event event;
    if (engine_calendar_event(&calendar, &event) < 0)
        exit(1);
    send(&event);
}

static void timer(void)
{
    struct event event = {.kind = EVENT_TIMER};
    send(&event);
}

static void quote_at(int symbol, int64_t price)
{
    const int64_t many = INT64_C(1000000000);
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_QUOTE, .symbol = symbol, .quote = {++quotes, price, many, price, many}}};
    send(&event);
}

static void price_to(int symbol, int64_t price)
{
    quote_at(symbol, price);
    trades++;
    struct event trade = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_TRADE,
                                     .symbol = symbol,
                                     .trade = {.ts_ns = now_ns,
                                               .id = trades,
                                               .first_id = trades,
                                               .last_id = trades,
                                               .price = price,
                                               .qty = 1}}};
    send(&trade);
    timer();
}

static void order(int account, int symbol, const char *side, int64_t qty, int64_t price)
{
    struct order leg = {.account = account,
                        .symbol = symbol,
                        .side = strcmp(side, "buy") == 0 ? ORDER_BUY : ORDER_SELL,
                        .type = price ? ORDER_LIMIT : ORDER_MARKET,
                        .qty = qty,
                        .price = price,
                        .by_hand = true};
    struct event event = {.kind = EVENT_COMMAND,
                          .command = {.kind = COMMAND_ORDER, .order = {.legs = &leg, .n_legs = 1}}};
    send(&event);
    printf("%s\n", last_reason == ORDER_OK ? "OK" : order_reason_name(last_reason));
    timer();
}

static void cancel(void)
{
    struct event event = {.kind = EVENT_COMMAND, .command = {.kind = COMMAND_CANCEL, .order_id = last_order}};
    send(&event);
    timer();
}

static void money(int account, int64_t amount)
{
    struct event event = {
        .kind = EVENT_COMMAND,
        .command = {.kind = COMMAND_ACCOUNT_DEPOSIT, .money = {.account = account, .amount = amount}}};
    send(&event);
    printf("%s\n", last_reason == ORDER_OK ? "OK" : order_reason_name(last_reason));
}

static void show(int index)
{
    struct margin_figures f;
    const struct account *account = engine_account(engine, index);
    engine_margin_figures(engine, index, &f);
    CHECK_INT(f.debt, booked[index].borrowed);
    CHECK(f.debt == 0 || account->assets[account->currency_at].total == 0);
    printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %" PRId64
           " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
           f.equity, f.initial, f.maintenance, f.excess, f.power, f.debt, f.day_trades, f.day_trader,
           f.settled, f.unsettled, f.settles_ns, f.violations, account->unpaid_interest);
    for (int s = 0; s < SYMBOLS; s++)
        printf(" %" PRId64, account->positions[s].qty);
    putchar('\n');
}

static int word_at(const char *const names[], int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    printf("unknown word %s\n", word);
    exit(1);
}

static void add_account(const char *line)
{
    char margin[16], trader[16], settlement[16];
    struct account_spec *spec = &accounts[n_accounts];
    int shorts, fee, rate;
    int64_t cash;
    if (sscanf(line, "account %15s %15s %15s %d %d %d %" SCNd64, margin, trader, settlement, &shorts, &fee,
               &rate, &cash) != 7)
        exit(1);
    *spec = (struct account_spec){.currency = "USD", .currency_scale = 2, .cash = cash};
    snprintf(spec->name, sizeof spec->name, "a%d", n_accounts++);
    spec->rules = (struct account_rules){
        .fees = {fee, fee},
        .shorts = shorts != 0,
        .collateral_e4 = 15000,
        .maintenance_e4 = 12500,
        .borrow_rate_e6 = rate,
        .margin = (enum margin_kind)word_at(margin_kind_names, MARGIN_KINDS, margin),
        .day_trader = (enum day_trader_rule)word_at(margin_day_trader_names, DAY_TRADER_RULES, trader),
        .settlement = (enum settlement_rule)word_at(margin_settlement_names, SETTLEMENT_RULES, settlement)};
}

static void read_days(size_t n)
{
    days = calloc(n, sizeof *days);
    for (size_t i = 0; days && i < n; i++)
        if (scanf("%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "\n", &days[i].early_ns, &days[i].open_ns,
                  &days[i].close_ns, &days[i].late_ns) == 4)
            n_days++;
}

static void phase_at(const char *word, int64_t next_ns)
{
    struct event event = {
        .kind = EVENT_SESSION,
        .session = {.calendar = "stocks",
                    .phase = strcmp(word, "open") == 0 ? MARKET_PHASE_OPEN : MARKET_PHASE_CLOSED,
                    .next_ns = next_ns}};
    send(&event);
}

static void play(const char *line)
{
    char word[16], side[8];
    int64_t a, b, c;
    int account, symbol;
    if (sscanf(line, "at %" SCNd64, &a) == 1) {
        now_ns = a;
        if (!engine)
            open_engine();
        timer();
    } else if (sscanf(line, "phase %15s %" SCNd64, word, &a) == 2) {
        phase_at(word, a);
    } else if (sscanf(line, "quote %d %" SCNd64, &symbol, &a) == 2) {
        quote_at(symbol, a);
    } else if (sscanf(line, "price %d %" SCNd64, &symbol, &a) == 2) {
        price_to(symbol, a);
    } else if (sscanf(line, "order %d %d %7s %" SCNd64 " %" SCNd64, &account, &symbol, side, &b, &c) == 5) {
        order(account, symbol, side, b, c);
    } else if (sscanf(line, "money %d %" SCNd64, &account, &a) == 2) {
        money(account, a);
    } else if (sscanf(line, "show %d", &account) == 1) {
        show(account);
    } else if (strncmp(line, "cancel", 6) == 0) {
        cancel();
    } else if (strncmp(line, "save", 4) == 0) {
        reload_engine(&engine);
    } else {
        printf("unknown line %s", line);
        exit(1);
    }
}

int main(void)
{
    char line[LINE_BYTES];
    size_t n;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "days %zu", &n) == 1)
            read_days(n);
        else if (strncmp(line, "account", 7) == 0)
            add_account(line);
        else
            play(line);
    }
    if (engine)
        engine_destroy(engine);
    free(days);
    return check_failures > 0;
}
