/* The reader and the recovery: beside a writer, after a clean stop, on an empty database; each query gives
 * back what was put. */
#include "db/reader.h"

#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "db/recover.h"
#include "tests/db/fixture.h"

static const struct db_writer_config config = {0};

static void test_refusals(const char *directory)
{
    char path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX] = "";
    struct db_reader *reader = NULL;
    snprintf(path, sizeof path, "%s/absent.db", directory);
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), -ENOENT);
    CHECK_STR(err, "there is no database yet: papertaped makes it");
    CHECK_INT(access(path, F_OK), -1);

    snprintf(path, sizeof path, "%s/zero.db", directory);
    fclose(fopen(path, "w"));
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), -ENODATA);
    CHECK_STR(err, "the database is empty: papertaped has not filled it yet");

    sqlite3 *db;
    snprintf(path, sizeof path, "%s/foreign.db", directory);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "CREATE TABLE orders (id INTEGER)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), -EMEDIUMTYPE);

    snprintf(path, sizeof path, "%s/newer.db", directory);
    fixture_close(fixture_writer(path, &config));
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), -EOVERFLOW);
    CHECK(strstr(err, "99") != NULL);

    snprintf(path, sizeof path, "%s/text.db", directory);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("not a database\n", file);
    fclose(file);
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), -EMEDIUMTYPE);
    CHECK(reader == NULL);
}

struct seen {
    int rows;
    struct db_symbol_row symbol;
    struct db_order_row order;
    struct db_fill_row fill;
    struct db_ledger_row ledger;
    struct db_position_row position;
    struct db_price_row price;
    struct db_equity_point equity, equity_first;
    struct bar bar, bar_first;
    int64_t alert_id, command_id;
    char text[64];
};

#define SEE(kind, type, member) \
    static void see_##kind(void *ctx, const struct type *row) \
    { \
        struct seen *seen = ctx; \
        seen->rows++; \
        seen->member = *row; \
    }
SEE(symbol, db_symbol_row, symbol)
SEE(order, db_order_row, order)
SEE(fill, db_fill_row, fill)
SEE(ledger, db_ledger_row, ledger)
SEE(position, db_position_row, position)
SEE(price, db_price_row, price)

static void see_equity(void *ctx, const struct db_equity_point *row)
{
    struct seen *seen = ctx;
    CHECK(seen->rows == 0 || row->ts_ns > seen->equity.ts_ns);
    if (seen->rows++ == 0)
        seen->equity_first = *row;
    seen->equity = *row;
}

static void see_bar(void *ctx, const struct bar *row)
{
    struct seen *seen = ctx;
    CHECK(seen->rows == 0 || row->open_ns > seen->bar.open_ns);
    if (seen->rows++ == 0)
        seen->bar_first = *row;
    seen->bar = *row;
}

static void see_alert(void *ctx, const struct db_alert *row)
{
    struct seen *seen = ctx;
    seen->rows++;
    seen->alert_id = (int64_t)row->id;
    snprintf(seen->text, sizeof seen->text, "%s %s %s", db_severity_name(row->severity), row->code,
             row->text);
}

static void see_command(void *ctx, const struct db_command *row)
{
    struct seen *seen = ctx;
    seen->rows++;
    seen->command_id = (int64_t)row->id;
    snprintf(seen->text, sizeof seen->text, "%s %s %s %s", row->cmd, row->args,
             db_command_state_name(row->state), row->result);
}

static void see_account(void *ctx, const struct db_account_row *row)
{
    struct seen *seen = ctx;
    seen->rows++;
    snprintf(seen->text, sizeof seen->text, "%d %s %s %d", row->account.number, row->account.name,
             row->account.currency, row->account.currency_scale);
}

/* Every query answers, with no rows, on a database in which nothing was put. */
static void check_empty(struct db_reader *reader)
{
    struct seen seen = {0};
    char value[8];
    CHECK_INT(db_reader_symbols(reader, see_symbol, &seen), 0);
    CHECK_INT(db_reader_accounts(reader, see_account, &seen), 0);
    CHECK_INT(db_reader_prices(reader, see_price, &seen), 0);
    CHECK_INT(db_reader_positions(reader, see_position, &seen), 0);
    CHECK_INT(db_reader_equity(reader, 0, 0, 40, see_equity, &seen), 0);
    CHECK_INT(db_reader_orders(reader, false, 0, see_order, &seen), 0);
    CHECK_INT(db_reader_fills(reader, 10, see_fill, &seen), 0);
    CHECK_INT(db_reader_ledger(reader, see_ledger, &seen), 0);
    CHECK_INT(db_reader_alerts(reader, DB_ALERTS_OPEN, 5, see_alert, &seen), 0);
    CHECK_INT(db_reader_commands(reader, 5, see_command, &seen), 0);
    CHECK_INT(seen.rows, 0);
    CHECK_INT(db_reader_bars(reader, "BTCUSDT", 60000000000, BAR_VENUE, 0, INT64_MAX, see_bar, &seen),
              -ENOENT);
    CHECK_STR(db_reader_error(reader), "\"BTCUSDT\": there is no such symbol in the database");
    CHECK_INT(db_reader_meta(reader, "paused", value, sizeof value), -ENOENT);

    struct db_recovered *recovered = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_recover(reader, NULL, 0, &recovered, err, sizeof err), 0);
    CHECK_INT(recovered->n_accounts, 0);
    CHECK_INT(recovered->last_ledger, 0);
    CHECK(!recovered->paused);
    db_recovered_destroy(recovered);
}

static void put_market(struct db_writer *writer)
{
    for (int64_t i = 0; i < 100; i++) {
        struct bar bar = {
            .open_ns = i * 60000000000,
            .open = 100 + i,
            .high = 110 + i,
            .low = 90 + i,
            .close = 105 + i,
            .volume = (int128_t)10000000000000 * FIXTURE_UNIT + i, /* 1e13 at 8 decimals */
            .quote_volume = (int128_t)1 << 100,
            .trades = i,
            .first_trade_id = 10 * i,
            .last_trade_id = 10 * i + 9,
        };
        db_writer_put_bar(writer, 1, 60000000000, BAR_VENUE, &bar);
        bar.trades = 1; /* known: it stays as it is */
        db_writer_put_past_bar(writer, 1, 60000000000, &bar);
        db_writer_put_equity(
            writer, &(struct db_equity){0, DB_EQUITY_LIVE, i * 60000000000, 1000 + i, 500, 1099, 0, 1000, 0});
    }
    struct bar older = {.open_ns = -60000000000, .open = 1, .high = 1, .low = 1, .close = 1};
    db_writer_put_past_bar(writer, 1, 60000000000, &older);
    struct db_price price = {
        .symbol = 1, .last = 5, .bid = 4, .ask = 6, .mark = 5, .ts_ns = 1, .recv_wall_ns = 2};
    db_writer_put_price(writer, &price);
    struct db_command command = {.id = 3,
                                 .cmd = "order",
                                 .args = "{\"qty\":\"1\"}",
                                 .state = DB_COMMAND_REFUSED,
                                 .result = "LOT_SIZE"};
    db_writer_put_command(writer, &command);
    struct db_alert alert = {
        .id = 4, .count = 1, .severity = DB_WARNING, .acked_ns = 9, .code = "A", .text = "x"};
    db_writer_put_alert(writer, &alert);
    alert = (struct db_alert){.id = 5, .count = 1, .severity = DB_ERROR, .code = "FEED", .text = "y"};
    db_writer_put_alert(writer, &alert);
    db_writer_put_paused(writer, true);
}

static void check_contents(struct db_reader *reader, const struct fixture *f)
{
    struct seen seen = {0};
    CHECK_INT(db_reader_begin(reader), 0);
    CHECK_INT(db_reader_symbols(reader, see_symbol, &seen), 0);
    CHECK_INT(seen.rows, 2);
    struct symbol symbol = fixture_symbol(1);
    CHECK_STR(seen.symbol.symbol.name, "ETHUSDT");
    CHECK_STR(seen.symbol.venue, "binance");
    CHECK_INT(memcmp(&seen.symbol.symbol.filters, &symbol.filters, sizeof symbol.filters), 0);
    seen = (struct seen){0};
    CHECK_INT(db_reader_accounts(reader, see_account, &seen), 0);
    CHECK_STR(seen.text, "0 main USDT 8");

    seen = (struct seen){0};
    CHECK_INT(db_reader_orders(reader, false, 0, see_order, &seen), 0);
    CHECK_INT(seen.rows, f->order_id);
    CHECK_INT(seen.order.order.id, f->order_id);
    CHECK_INT(seen.order.order.state, ORDER_PENDING);
    CHECK_STR(seen.order.order.tag, "cross up");
    CHECK_STR(seen.order.symbol->symbol.name, "BTCUSDT");
    CHECK_STR(seen.order.account->name, "main");
    seen = (struct seen){0};
    CHECK_INT(db_reader_orders(reader, true, 3, see_order, &seen), 0);
    CHECK_INT(seen.rows, 1);
    seen = (struct seen){0};
    CHECK_INT(db_reader_orders(reader, false, 3, see_order, &seen), 0);
    CHECK_INT(seen.rows, 3);
    CHECK_INT(seen.order.order.id, f->order_id - 2);
    seen = (struct seen){0};
    CHECK_INT(db_reader_fills(reader, 0, see_fill, &seen), 0);
    CHECK_INT(seen.rows, f->fill_id);
    CHECK_INT(seen.fill.fill.id, f->fill_id);
    CHECK_INT(seen.fill.fill.side, ORDER_SELL);
    seen = (struct seen){0};
    CHECK_INT(db_reader_fills(reader, 5, see_fill, &seen), 0);
    CHECK_INT(seen.rows, 5);
    CHECK_INT(seen.fill.fill.id, f->fill_id - 4);
    seen = (struct seen){0};
    CHECK_INT(db_reader_ledger(reader, see_ledger, &seen), 0);
    CHECK_INT(seen.rows, f->ledger_id);
    CHECK_INT(memcmp(seen.ledger.row.hash, f->hash, sizeof f->hash), 0);
    CHECK_INT(seen.ledger.row.balance, f->cash);
    seen = (struct seen){0};
    CHECK_INT(db_reader_positions(reader, see_position, &seen), 0);
    CHECK_INT(seen.rows, 2);
    CHECK_INT(memcmp(&seen.position.position, &f->positions[1], sizeof f->positions[1]), 0);

    seen = (struct seen){0};
    CHECK_INT(db_reader_prices(reader, see_price, &seen), 0);
    CHECK_INT(seen.rows, 1);
    CHECK_INT(seen.price.price.ask, 6);
    CHECK_STR(seen.price.symbol->symbol.name, "ETHUSDT");
    seen = (struct seen){0};
    CHECK_INT(db_reader_equity(reader, 0, 0, 0, see_equity, &seen), 0);
    CHECK_INT(seen.rows, 99); /* without the one at 0 */
    CHECK_INT(seen.equity_first.ts_ns, 60000000000);
    seen = (struct seen){0};
    CHECK_INT(db_reader_equity(reader, 0, 20 * INT64_C(60000000000), 10, see_equity, &seen), 0);
    CHECK_INT(seen.rows, 10);
    CHECK_INT(seen.equity.equity, 1099);
    CHECK(seen.equity_first.ts_ns >= 20 * INT64_C(60000000000));
    seen = (struct seen){0};
    CHECK_INT(db_reader_equity(reader, 0, 0, 1, see_equity, &seen), 0);
    CHECK_INT(seen.rows, 1);
    CHECK_INT(seen.equity.equity, 1099);

    seen = (struct seen){0};
    CHECK_INT(
        db_reader_bars(reader, "ETHUSDT", 60000000000, BAR_VENUE, 60000000000, 180000000000, see_bar, &seen),
        0);
    CHECK_INT(seen.rows, 3);
    CHECK_INT(seen.bar.trades, 3);
    CHECK(seen.bar.volume == (int128_t)10000000000000 * FIXTURE_UNIT + 3);
    CHECK(seen.bar.quote_volume == (int128_t)1 << 100);
    seen = (struct seen){0};
    CHECK_INT(db_reader_last_bars(reader, "ETHUSDT", 60000000000, BAR_VENUE, 10, see_bar, &seen), 0);
    CHECK_INT(seen.rows, 10);
    CHECK_INT(seen.bar_first.open, 190);
    CHECK_INT(seen.bar.last_trade_id, 999);
    seen = (struct seen){0};
    CHECK_INT(db_reader_last_bars(reader, "ETHUSDT", 60000000000, BAR_TRADES, 10, see_bar, &seen), 0);
    CHECK_INT(seen.rows, 0);

    int64_t n = -1, open_ns = -1;
    CHECK_INT(db_reader_count_bars(reader, "ETHUSDT", 60000000000, BAR_VENUE, 60000000000, 180000000000, &n),
              0);
    CHECK_INT(n, 3);
    CHECK_INT(db_reader_count_bars(reader, "ETHUSDT", 60000000000, BAR_TRADES, INT64_MIN, INT64_MAX, &n), 0);
    CHECK_INT(n, 0);
    CHECK_INT(db_reader_count_bars(reader, "NONE", 60000000000, BAR_VENUE, 0, 1, &n), -ENOENT);
    CHECK_INT(db_reader_first_bar(reader, "ETHUSDT", 60000000000, BAR_VENUE, &open_ns), 0);
    CHECK_INT(open_ns, -60000000000);
    CHECK_INT(db_reader_first_bar(reader, "ETHUSDT", 60000000000, BAR_TRADES, &open_ns), -ENOENT);

    CHECK_INT(db_reader_alerts(reader, DB_ALERTS_ALL, 0, see_alert, &seen), 0);
    CHECK_INT(seen.rows, 2);
    CHECK_INT(seen.alert_id, 4);
    seen = (struct seen){0};
    CHECK_INT(db_reader_alerts(reader, DB_ALERTS_OPEN, 0, see_alert, &seen), 0);
    CHECK_STR(seen.text, "error FEED y");
    CHECK_INT(db_reader_commands(reader, 1, see_command, &seen), 0);
    CHECK_STR(seen.text, "order {\"qty\":\"1\"} refused LOT_SIZE");
    char value[2];
    CHECK_INT(db_reader_meta(reader, "paused", value, sizeof value), 0);
    CHECK_STR(value, "1");
    CHECK_INT(db_reader_meta(reader, "paused", value, 1), -ENOSPC);
    db_reader_end(reader);
}

static void check_recovery(struct db_reader *reader, const struct fixture *f, uint64_t last_order)
{
    /* The daemon may list its symbols in another order, and more of them. */
    struct symbol symbols[3] = {fixture_symbol(1), {.name = "SOLUSDT"}, fixture_symbol(0)};
    struct db_recovered *r = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_recover(reader, symbols, 3, &r, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!r)
        return;
    CHECK_INT(r->n_accounts, 1);
    CHECK_STR(r->accounts[0].account.name, "main");
    CHECK_INT(r->accounts[0].deposits, FIXTURE_CASH);
    CHECK_INT(r->accounts[0].peak, 1099);
    CHECK_INT(r->accounts[0].day_equity, 1000);
    CHECK_INT(r->n_balances, 3);
    for (size_t i = 0; i < r->n_balances; i++) {
        const struct db_recovered_balance *b = &r->balances[i];
        int64_t expected = strcmp(b->asset, "USDT") == 0 ? f->cash : f->base[strcmp(b->asset, "ETH") == 0];
        CHECK_INT(b->total, expected);
        CHECK_INT(b->scale, FIXTURE_SCALE);
    }
    CHECK_INT(r->n_positions, 2);
    for (size_t i = 0; i < r->n_positions; i++) {
        const struct db_recovered_position *p = &r->positions[i];
        CHECK(p->symbol == 0 || p->symbol == 2);
        CHECK_INT(memcmp(&p->position, &f->positions[p->symbol == 0], sizeof p->position), 0);
    }
    CHECK_INT(r->n_orders, 1);
    CHECK_INT(r->orders[0].id, f->order_id);
    CHECK_INT(r->orders[0].symbol, 2);
    CHECK_INT(r->last_order, last_order);
    CHECK_INT(r->last_fill, f->fill_id);
    CHECK_INT(r->last_ledger, f->ledger_id);
    CHECK_INT(r->last_command, 3);
    CHECK_INT(r->last_alert, 5);
    CHECK_INT(memcmp(r->ledger_hash, f->hash, sizeof f->hash), 0);
    CHECK(r->paused);
    db_recovered_destroy(r);

    CHECK_INT(db_recover(reader, symbols, 2, &r, err, sizeof err), -ENOENT);
    CHECK_STR(err, "BTCUSDT: there is a position of it: add it to the symbols of [venue binance], or of "
                   "[market] where that is binance, again");
    symbols[2].price_scale = 2;
    CHECK_INT(db_recover(reader, symbols, 3, &r, err, sizeof err), -EINVAL);
    CHECK(strstr(err, "BTCUSDT: the venue now says BTC/USDT with 2, 8 and 8 decimals") != NULL);
}

static void see_nothing(void *ctx, const struct db_order_row *row)
{
    (void)row;
    ++*(int *)ctx;
}

/* Wherever memory ends while the rows, their symbols and accounts are read: never reported as damage. */
static void check_out_of_memory(const char *path)
{
    int n = 0, failed = 0, r = -ENOMEM;
    for (int64_t room = 0; r < 0; room += 256) {
        struct db_reader *reader = fixture_reader(path);
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + room);
        r = db_reader_orders(reader, false, 0, see_nothing, &n);
        sqlite3_hard_heap_limit64(0);
        failed += r < 0;
        CHECK_STR(r < 0 ? db_reader_error(reader) : "out of memory", "out of memory");
        CHECK(r == 0 || r == -ENOMEM);
        db_reader_close(reader);
    }
    CHECK(failed > 2);
}

/* Each interval of a symbol once, in order, and no other symbol's. */
static void test_intervals(const char *directory)
{
    static const int64_t of[][3] = {{60000000000, 300000000000, 3600000000000}, {86400000000000}};
    static const char *const names[] = {"BTCUSDT", "ETHUSDT"};
    char path[SCRATCH_PATH_MAX];

    snprintf(path, sizeof path, "%s/intervals.db", directory);
    struct db_writer *writer = fixture_writer(path, &config);
    for (int symbol = 0; symbol < 2; symbol++) {
        struct symbol listed = fixture_symbol(symbol);
        db_writer_put_symbol(writer, symbol, "binance", &listed, FIXTURE_START);
        for (int i = 0; i < 9; i++) {
            struct bar bar = {.open_ns = i * of[0][2], .open = 1, .high = 1, .low = 1, .close = 1};
            db_writer_put_bar(writer, symbol, of[symbol][symbol ? 0 : 2 - i % 3], BAR_VENUE, &bar);
        }
    }
    fixture_close(writer);
    struct db_reader *reader = fixture_reader(path);
    for (int symbol = 0; symbol < 2; symbol++) {
        int64_t interval_ns = 0;
        for (int i = 0; i < (symbol ? 1 : 3); i++) {
            CHECK_INT(db_reader_interval_after(reader, names[symbol], interval_ns, &interval_ns), 0);
            CHECK_INT(interval_ns, of[symbol][i]);
        }
        CHECK_INT(db_reader_interval_after(reader, names[symbol], interval_ns, &interval_ns), -ENOENT);
        CHECK_INT(db_reader_interval_after(reader, "NONE", 0, &interval_ns), -ENOENT);
        CHECK_INT(interval_ns, of[symbol][symbol ? 0 : 2]);
    }
    int64_t first_ns;
    CHECK_INT(db_reader_interval_after(reader, "BTCUSDT", of[0][0] - 1, &first_ns), 0);
    CHECK_INT(first_ns, of[0][0]);
    db_reader_close(reader);
}

int main(void)
{
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    scratch_make(directory);
    test_refusals(directory);
    test_intervals(directory);

    snprintf(path, sizeof path, "%s/papertape.db", directory);
    struct db_writer *writer = fixture_writer(path, &config);
    struct db_reader *reader = fixture_reader(path);
    check_empty(reader);
    db_reader_close(reader);
    fixture_close(writer);
    reader = fixture_reader(path); /* after a clean stop, with nothing in it */
    check_empty(reader);
    db_reader_close(reader);

    writer = fixture_writer(path, &config);
    reader = fixture_reader(path); /* beside a writer, before it puts anything */
    struct fixture f;
    fixture_open(&f, writer);
    for (int i = 0; i < 5; i++)
        fixture_trade(&f);
    fixture_order(&f, 0, ORDER_BUY, FIXTURE_UNIT, FIXTURE_UNIT);
    put_market(writer);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    check_contents(reader, &f);
    check_recovery(reader, &f, f.order_id);

    /* A snapshot does not move while the writer continues. */
    struct seen seen = {0};
    CHECK_INT(db_reader_begin(reader), 0);
    CHECK_INT(db_reader_fills(reader, 0, see_fill, &seen), 0);
    int before = seen.rows;
    struct fixture later = f;
    struct order order = fixture_order(&later, 1, ORDER_BUY, FIXTURE_UNIT, FIXTURE_UNIT);
    CHECK_INT(db_writer_flush(writer, 30000), 0);
    seen = (struct seen){0};
    CHECK_INT(db_reader_orders(reader, false, 0, see_order, &seen), 0);
    CHECK_INT(seen.order.order.id, f.order_id);
    db_reader_end(reader);
    seen = (struct seen){0};
    CHECK_INT(db_reader_orders(reader, false, 0, see_order, &seen), 0);
    CHECK_INT(seen.order.order.id, order.id);
    seen = (struct seen){0};
    CHECK_INT(db_reader_fills(reader, 0, see_fill, &seen), 0);
    CHECK_INT(seen.rows, before);
    order.state = ORDER_CANCELED;
    db_writer_put_order(writer, &order);
    db_reader_close(reader);
    fixture_close(writer);

    /* The log is kept, empty, so that a reader needs to create nothing. */
    struct stat st;
    char log[SCRATCH_PATH_MAX + 8];
    snprintf(log, sizeof log, "%s-wal", path);
    CHECK_INT(stat(log, &st), 0);
    CHECK_INT(st.st_size, 0);
    reader = fixture_reader(path);
    check_recovery(reader, &f, order.id);
    db_reader_close(reader);
    check_out_of_memory(path);
    return check_done("reader");
}
