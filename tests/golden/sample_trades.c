#include "tests/golden/sample.h"

#include <stdio.h>
#include <string.h>

#include "exchange/fill_rules.h"
#include "fixtures/dashboard.h"

enum { ACCOUNTS = 3, SYMBOLS = 3, HELD_SCALE = 8 };

static const int64_t second_ns = 1000000000, e8 = 100000000;

struct trades {
    struct db_writer *writer;
    uint64_t order, fill, ledger;
    uint8_t hash[LEDGER_HASH_SIZE];
    int64_t balances[ACCOUNTS][SYMBOLS + 1]; /* the last: the currency */
    struct position positions[ACCOUNTS][SYMBOLS];
    struct lots lots[ACCOUNTS][SYMBOLS];
};

static int64_t unit_of(int symbol)
{
    return symbol == 2 ? 10000 : e8;
}

static int64_t moment(const struct trades *t)
{
    return fixture_now_ns - 86400 * second_ns + (int64_t)(t->order + t->ledger) * 17 * second_ns;
}

static void put_ledger(struct trades *t, int account, int asset, enum ledger_kind kind, int64_t amount,
                       const struct fill *fill)
{
    static const char *const assets[] = {"BTC", "ETH", "AAPL"};
    int64_t *balance = &t->balances[account][asset];
    *balance += amount;
    struct ledger_row row = {.id = ++t->ledger,
                             .ts_ns = moment(t),
                             .account = account,
                             .scale = asset == 2                         ? 9
                                      : account == 2 && asset == SYMBOLS ? 6
                                                                         : HELD_SCALE,
                             .kind = kind,
                             .amount = amount,
                             .balance = *balance,
                             .order_id = fill ? fill->order_id : 0,
                             .fill_id = fill ? fill->id : 0};
    snprintf(row.asset, sizeof row.asset, "%s",
             asset < SYMBOLS ? assets[asset]
             : account == 2  ? "USD"
                             : "USDT");
    if (ledger_row_chain(&row, t->hash) < 0)
        return;
    memcpy(t->hash, row.hash, sizeof t->hash);
    db_writer_put_ledger(t->writer, &row);
}

static struct order order_of(struct trades *t, int account, int symbol, enum order_type type,
                             enum order_state state)
{
    const uint64_t id = ++t->order;
    const int64_t ts_ns = moment(t), unit = unit_of(symbol), qty = symbol == 2 ? 1000000000 : e8 / 100;
    struct order order = {.id = id,
                          .account = account,
                          .symbol = symbol,
                          .side = id % 2 ? ORDER_BUY : ORDER_SELL,
                          .type = type,
                          .tif = (enum order_tif)(type == ORDER_LIMIT ? id % (ORDER_GTD + 1) : ORDER_GTC),
                          .state = state,
                          .qty = qty * (int64_t)(1 + id % 7),
                          .price = order_has_limit(type) ? 700 * unit + (int64_t)id * (unit / 100) : 0,
                          .created_ns = ts_ns,
                          .effective_ns = ts_ns + 50000000,
                          .updated_ns = ts_ns + (int64_t)id * 1000,
                          .input_seq = 100 + id,
                          .amends = (uint32_t)(id % 3),
                          .by_hand = id % 2,
                          .post_only = type == ORDER_LIMIT && id % 4 == 0,
                          .reduce_only = id % 5 == 0};
    if (type == ORDER_TRAILING_STOP)
        order.trail = id % 2 ? 3 * unit : 0, order.trail_e6 = id % 2 ? 0 : 15000, order.peak = 710 * unit;
    if (order_is_stop(type))
        order.stop_price = 690 * unit, order.triggered = id % 3 == 0;
    if (order.tif == ORDER_GTD || order.tif == ORDER_DAY)
        order.expires_ns = fixture_now_ns + 60 * second_ns;
    if (id % 6 == 0)
        order.group = id, order.parent = id > 1 ? id - 1 : 0;
    if (id % 4 == 1)
        snprintf(order.client_id, sizeof order.client_id, "client-%ju:A/b_c.d", (uintmax_t)id);
    snprintf(order.tag, sizeof order.tag, "%s",
             id % 7 == 0 ? "a,\"b\" \xc3\xa9"
             : id % 2    ? "by hand"
                         : "cross up");
    return order;
}

static void put_fill(struct trades *t, struct order *order, int64_t qty, bool maker)
{
    const int symbol = order->symbol, account = order->account, sign = order->side == ORDER_BUY ? 1 : -1;
    struct fill fill = {.id = ++t->fill,
                        .order_id = order->id,
                        .account = account,
                        .symbol = symbol,
                        .side = order->side,
                        .ts_ns = order->updated_ns,
                        .price = 700 * unit_of(symbol) + (int64_t)t->fill * (unit_of(symbol) / 100),
                        .qty = qty,
                        .fee_e6 = maker ? 900 : 1000,
                        .maker = maker,
                        .input_seq = order->input_seq + 1};
    fill.notional = fill_notional(order->side, fill.price, qty, symbol == 2 ? 10000000 : e8);
    fill.fee = fill_fee(fill.notional, fill.fee_e6);
    order->filled += qty;
    order->cost += fill.notional;
    struct position *position = &t->positions[account][symbol];
    if (position_apply(position, &t->lots[account][symbol], fill.side, qty, fill.notional, fill.ts_ns) < 0)
        return;
    position->fees += fill.fee;
    db_writer_put_fill(t->writer, &fill);
    int64_t held = t->balances[account][symbol];
    if (sign < 0 && held < qty)
        put_ledger(t, account, symbol, LEDGER_BORROW, qty - held, &fill);
    put_ledger(t, account, symbol, LEDGER_TRADE, sign * qty, &fill);
    put_ledger(t, account, SYMBOLS, LEDGER_TRADE, -sign * fill.notional, &fill);
    put_ledger(t, account, SYMBOLS, LEDGER_FEE, -fill.fee, &fill);
    db_writer_put_position(t->writer, account, symbol, position);
}

/* An order with what it has filled, in one group. */
static void put_order(struct trades *t, struct order *order)
{
    db_writer_group_begin(t->writer);
    if (order->state == ORDER_FILLED) {
        put_fill(t, order, order->qty - order->qty / 4, false);
        put_fill(t, order, order->qty / 4, true);
    } else if (order->state == ORDER_PARTIAL) {
        put_fill(t, order, order->qty / 2, true);
    }
    db_writer_put_order(t->writer, order);
    db_writer_group_end(t->writer);
}

static void put_orders(struct trades *t)
{
    for (int state = 0; state < ORDER_STATES; state++)
        for (int type = 0; type < ORDER_TYPES; type++) {
            struct order order =
                order_of(t, (state + type) % ACCOUNTS, 0, (enum order_type)type, (enum order_state)state);
            order.symbol = order.account == 2 ? 2 : (int)(order.id % 2);
            if (order.account == 2)
                order.qty = 1000000000, order.price = order.price ? 7000000 : 0;
            if (state == ORDER_REJECTED)
                order.reason = ORDER_RISK_EXPOSURE;
            put_order(t, &order);
        }
    for (int reason = 1; reason < ORDER_REASONS; reason++) {
        struct order order = order_of(t, reason % 2, reason % 2, ORDER_MARKET, ORDER_REJECTED);
        order.reason = (enum order_reason)reason;
        if (reason == ORDER_UNKNOWN_SYMBOL || reason == ORDER_UNKNOWN_ACCOUNT)
            order.account = order.symbol = -1;
        put_order(t, &order);
    }
    const struct db_order_policy origin = {.order_id = 2, .id = {0x9f, 0x3c}, .backend = "gpu: NVIDIA H200"};
    db_writer_put_order_policy(t->writer, &origin);
}

static void put_money(struct trades *t)
{
    for (int account = 0; account < ACCOUNTS; account++)
        put_ledger(t, account, SYMBOLS, LEDGER_DEPOSIT, (account + 1) * 10000 * (account == 2 ? 1000000 : e8),
                   NULL);
    put_ledger(t, 0, SYMBOLS, LEDGER_TRANSFER, -10 * e8, NULL);
    put_ledger(t, 1, SYMBOLS, LEDGER_TRANSFER, 10 * e8, NULL);
    put_ledger(t, 1, SYMBOLS, LEDGER_DEPOSIT, -5 * e8, NULL);
}

static void put_more_money(struct trades *t)
{
    put_ledger(t, 1, SYMBOLS, LEDGER_INTEREST, -12345, NULL);
    put_ledger(t, 2, 2, LEDGER_SPLIT, 3000000000, NULL);
    put_ledger(t, 2, SYMBOLS, LEDGER_DIVIDEND, 245000, NULL);
    put_ledger(t, 1, SYMBOLS, LEDGER_RESET, -t->balances[1][SYMBOLS], NULL);
}

static void put_equity(struct trades *t)
{
    for (int i = 0; i < 100; i++)
        for (int account = 0; account < ACCOUNTS; account++) {
            const int64_t unit = account == 2 ? 1000000 : e8;
            const int64_t equity = (account + 1) * 10000 * unit + (i % 13 - 6) * 7 * unit;
            db_writer_put_equity(t->writer,
                                 &(struct db_equity){account, DB_EQUITY_LIVE,
                                                     fixture_now_ns - (100 - i) * 60 * second_ns, equity,
                                                     5000 * unit, (account + 1) * 10050 * unit, 19943,
                                                     10000 * unit, account == 1 ? fixture_now_ns : 0});
        }
}

static void put_commands(struct trades *t)
{
    for (uint64_t i = 1; i <= 9; i++) {
        const struct db_command command = {.id = i,
                                           .ts_ns = fixture_now_ns - (int64_t)(900 - i) * second_ns,
                                           .peer_uid = 1000,
                                           .peer_pid = 77,
                                           .cmd = i % 2 ? "order" : "account_transfer",
                                           .args = "{\"symbol\":\"DOGE\",\"text\":\"\\u001b\"}",
                                           .state = (enum db_command_state)(i % 3),
                                           .result = i % 3 == 0   ? ""
                                                     : i % 3 == 1 ? "order 3"
                                                                  : "UNKNOWN_SYMBOL",
                                           .key = i % 4 == 1 ? "key-1" : "",
                                           .order_id = i % 2 ? i : 0};
        db_writer_put_command(t->writer, &command);
    }
}

void sample_put_trades(struct db_writer *writer)
{
    static struct trades t;
    t = (struct trades){.writer = writer};
    put_money(&t);
    put_orders(&t);
    put_more_money(&t);
    put_equity(&t);
    put_commands(&t);
    for (int account = 0; account < ACCOUNTS; account++)
        for (int symbol = 0; symbol < SYMBOLS; symbol++)
            position_lots_finish(&t.lots[account][symbol]);
}
