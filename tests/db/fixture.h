/* A small bookkeeper for the tests of db/: it trades, and writes everything that the engine would, so that
 * every invariant of the ledger holds. */
#ifndef TESTS_DB_FIXTURE_H
#define TESTS_DB_FIXTURE_H

#include "db/books.h"
#include "db/reader.h"
#include "db/writer.h"
#include "exchange/fill_rules.h"

#include "tests/check.h"
#include "tests/scratch.h"

enum { FIXTURE_SYMBOLS = 2, FIXTURE_SCALE = 8 };

#define FIXTURE_UNIT  INT64_C(100000000) /* 1 at scale 8 */
#define FIXTURE_START INT64_C(1723161255342000000)
#define FIXTURE_CASH  (INT64_C(10000000) * FIXTURE_UNIT)

struct fixture {
    struct db_writer *writer;
    int account;
    int64_t ts_ns;
    uint64_t order_id, fill_id, ledger_id, seq;
    uint8_t hash[LEDGER_HASH_SIZE];
    int64_t cash, base[FIXTURE_SYMBOLS];
    struct position positions[FIXTURE_SYMBOLS];
    struct lots *lots; /* [FIXTURE_SYMBOLS] */
};

static const char *const fixture_names[FIXTURE_SYMBOLS] = {"BTCUSDT", "ETHUSDT"};
static const char *const fixture_bases[FIXTURE_SYMBOLS] = {"BTC", "ETH"};

static inline struct db_reader *fixture_reader(const char *path)
{
    struct db_reader *reader = NULL;
    char err[DB_ERROR_MAX] = "";
    if (db_reader_open(path, &reader, err, sizeof err) != 0) {
        fprintf(stderr, "%s: %s\n", path, err);
        exit(EXIT_FAILURE);
    }
    return reader;
}

/* One that is queued, of which nothing else is known. */
static inline struct db_training fixture_training(const char *name, int64_t created_ns)
{
    return (struct db_training){
        .name = name,
        .state = "queued",
        .reason = "",
        .cause = "",
        .device = "",
        .backend = "",
        .config = "[ppo]\nepochs = 4\n",
        .verdict = "",
        .verdict_text = "",
        .checkpoint = "",
        .policy = "",
        .steps_s = NAN,
        .episode_return = NAN,
        .cpu_s = NAN,
        .memory_bytes = -1,
        .created_ns = created_ns,
    };
}

static inline struct symbol fixture_symbol(int index)
{
    struct symbol symbol = {
        .quote = "USDT",
        .price_scale = FIXTURE_SCALE,
        .qty_scale = FIXTURE_SCALE,
        .quote_scale = FIXTURE_SCALE,
        .trading = true,
        .filters = {.tick = 1000000,
                    .step = 1000,
                    .notional_min = 5 * FIXTURE_UNIT,
                    .notional_min_market = true},
    };
    strcpy(symbol.name, fixture_names[index]);
    strcpy(symbol.base, fixture_bases[index]);
    return symbol;
}

static inline void fixture_ledger(struct fixture *f, const char *asset, enum ledger_kind kind, int64_t amount,
                                  int64_t *balance, uint64_t order_id, uint64_t fill_id)
{
    *balance += amount;
    struct ledger_row row = {
        .id = ++f->ledger_id,
        .ts_ns = f->ts_ns,
        .account = f->account,
        .scale = FIXTURE_SCALE,
        .kind = kind,
        .amount = amount,
        .balance = *balance,
        .order_id = order_id,
        .fill_id = fill_id,
    };
    strcpy(row.asset, asset);
    CHECK_INT(ledger_row_chain(&row, f->hash), 0);
    memcpy(f->hash, row.hash, sizeof f->hash);
    db_writer_put_ledger(f->writer, &row);
}

/* Lots live as long as the program. */
static inline struct lots *fixture_lots(void)
{
    static struct lots lots[1024][FIXTURE_SYMBOLS];
    static size_t n;
    return lots[n++];
}

/* Symbols, one account, its opening deposit. */
static inline void fixture_open(struct fixture *f, struct db_writer *writer)
{
    *f = (struct fixture){.writer = writer, .ts_ns = FIXTURE_START, .lots = fixture_lots()};
    struct db_account account = {
        .name = "main", .currency = "USDT", .currency_scale = FIXTURE_SCALE, .created_ns = FIXTURE_START};
    db_writer_group_begin(writer);
    db_writer_put_account(writer, &account);
    db_writer_put_meta(writer, DB_CAUSES_AFTER_KEY, "1000000"); /* no row has a cause */
    for (int i = 0; i < FIXTURE_SYMBOLS; i++) {
        struct symbol symbol = fixture_symbol(i);
        db_writer_put_symbol(writer, i, "binance", &symbol, FIXTURE_START);
    }
    fixture_ledger(f, "USDT", LEDGER_DEPOSIT, FIXTURE_CASH, &f->cash, 0, 0);
    db_writer_group_end(writer);
}

static inline struct order fixture_order(struct fixture *f, int symbol, enum order_side side, int64_t price,
                                         int64_t qty)
{
    f->ts_ns += 1000000;
    struct order order = {
        .id = ++f->order_id,
        .account = f->account,
        .symbol = symbol,
        .side = side,
        .type = ORDER_LIMIT,
        .qty = qty,
        .price = price,
        .created_ns = f->ts_ns,
        .effective_ns = f->ts_ns + 1000,
        .updated_ns = f->ts_ns,
        .input_seq = ++f->seq,
        .tag = "cross up",
    };
    db_writer_put_order(f->writer, &order);
    return order;
}

/* One execution, with all that follows from it, in one group. Returns the ticket of its last row. */
static inline uint64_t fixture_fill(struct fixture *f, struct order *order, int64_t price, int64_t qty)
{
    f->ts_ns += 1000000;
    struct fill fill = {
        .id = ++f->fill_id,
        .order_id = order->id,
        .account = f->account,
        .symbol = order->symbol,
        .side = order->side,
        .ts_ns = f->ts_ns,
        .price = price,
        .qty = qty,
        .notional = fill_notional(order->side, price, qty, FIXTURE_UNIT),
        .input_seq = ++f->seq,
    };
    fill.fee_e6 = 1000;
    fill.fee = fill_fee(fill.notional, fill.fee_e6);
    order->filled += qty;
    order->cost += fill.notional;
    order->state = order->filled == order->qty ? ORDER_FILLED : ORDER_PARTIAL;
    order->updated_ns = f->ts_ns;

    struct position *position = &f->positions[order->symbol];
    int sign = order->side == ORDER_BUY ? 1 : -1;
    CHECK_INT(position_apply(position, &f->lots[order->symbol], order->side, qty, fill.notional, f->ts_ns),
              0);
    position->fees += fill.fee;

    db_writer_group_begin(f->writer);
    db_writer_put_fill(f->writer, &fill);
    fixture_ledger(f, fixture_bases[order->symbol], LEDGER_TRADE, sign * qty, &f->base[order->symbol],
                   order->id, fill.id);
    fixture_ledger(f, "USDT", LEDGER_TRADE, -sign * fill.notional, &f->cash, order->id, fill.id);
    fixture_ledger(f, "USDT", LEDGER_FEE, -fill.fee, &f->cash, order->id, fill.id);
    db_writer_put_order(f->writer, order);
    uint64_t ticket = db_writer_put_position(f->writer, f->account, order->symbol, position);
    db_writer_group_end(f->writer);
    return ticket;
}

/* A round of trading: a buy in two parts, a sale of most of it, on both symbols, and one refused order. */
static inline uint64_t fixture_trade(struct fixture *f)
{
    uint64_t ticket = 0;
    for (int symbol = 0; symbol < FIXTURE_SYMBOLS; symbol++) {
        int64_t price = (61837 - 59000 * symbol) * FIXTURE_UNIT + (int64_t)f->seq * 1000000, qty = 123457;
        struct order buy = fixture_order(f, symbol, ORDER_BUY, price, 3 * qty);
        fixture_fill(f, &buy, price, qty);
        fixture_fill(f, &buy, price - 1000000, 2 * qty);
        struct order sale = fixture_order(f, symbol, ORDER_SELL, price, 2 * qty + 1);
        ticket = fixture_fill(f, &sale, price + 1000000, 2 * qty + 1);
    }
    struct order refused = fixture_order(f, 0, ORDER_BUY, 1, 1);
    refused.state = ORDER_REJECTED;
    refused.reason = ORDER_MIN_NOTIONAL;
    return db_writer_put_order(f->writer, &refused) ? ticket + 2 : 0;
}

/* The writer of a database of its own, or the end of the program. */
static inline struct db_writer *fixture_writer(const char *path, const struct db_writer_config *config)
{
    struct db_writer *writer = NULL;
    char err[DB_ERROR_MAX] = "";
    if (db_writer_open(path, config, &writer, err, sizeof err) != 0) {
        fprintf(stderr, "%s: %s\n", path, err);
        exit(EXIT_FAILURE);
    }
    return writer;
}

/* Everything that was put is stored. */
static inline void fixture_close(struct db_writer *writer)
{
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_writer_close(writer, 60000, err, sizeof err), 0);
    CHECK_STR(err, "");
}

#endif
