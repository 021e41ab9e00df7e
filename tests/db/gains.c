/* The walk over whole random records: after each change the sums of the gains, of both methods and of every
 * epoch, are what the engine's own position says it realized, and nothing of a lot's quantity, cost and fee
 * is lost; at the end positions are the engine's. */
#include "db/books/gains.h"

#include "db/books/lots.h"
#include "db/books/walk.h"
#include "engine/engine.h"
#include "tests/db/books.h"

enum { EVENTS = 30000, RECORDS = 2, RECORDS_LONG = 40, ACCOUNTS = 1024 };

/* Of an account's symbol, in its present epoch. */
static struct sums {
    int64_t fifo, average, fees, open_fees, open_qty, open_cost;
    struct position position;
} sums[ACCOUNTS][DRIVER_SYMBOLS];
static int64_t epochs[ACCOUNTS];
static int64_t causes[DB_BOOKS_RESET + 1], shorts, turns, total, listed;

static void take_ended(const struct db_books_change *change, struct sums *s)
{
    for (size_t i = 0; i < change->n_ended; i++) {
        const struct db_books_part *part = &change->ended[i];
        const int sign = change->ended_short ? -1 : 1;
        CHECK(part->of.qty > 0 && part->of.cost >= 0 && part->of.fee >= 0 && part->value >= 0);
        CHECK(i == 0 || part->of.number > part[-1].of.number);
        s->open_qty -= part->of.qty;
        s->open_cost -= part->of.cost;
        s->open_fees -= part->of.fee;
        if (change->cause != DB_BOOKS_FILL && change->cause != DB_BOOKS_VOID)
            continue;
        s->fifo += sign * (part->value - part->of.cost);
        s->average += sign * (part->value - part->average);
        s->fees += part->of.fee + part->fee;
        total += sign * (part->value - part->of.cost);
        listed++;
        shorts += change->ended_short;
    }
}

static void take_change(void *ctx, const struct db_books_change *change)
{
    struct sums *s = &sums[change->account][change->symbol];
    const struct position *p = change->position;
    (void)ctx;
    causes[change->cause]++;
    CHECK_INT(change->epoch, epochs[change->account] + 1);
    const int64_t cost = s->open_cost, fees = s->open_fees;
    take_ended(change, s);
    turns += change->n_ended && change->n_begun && change->cause == DB_BOOKS_FILL;
    for (size_t i = 0; i < change->n_begun; i++) {
        s->open_qty += change->begun[i].qty;
        s->open_cost += change->begun[i].cost;
        s->open_fees += change->begun[i].fee;
    }
    if (change->cause == DB_BOOKS_SPLIT) {
        CHECK_INT(s->open_cost, cost);
        CHECK_INT(s->open_fees, fees);
    }
    CHECK_INT(s->fifo, p->fifo_realized);
    CHECK_INT(s->average, p->realized);
    CHECK_INT(s->fees + s->open_fees, change->cause == DB_BOOKS_RESET ? s->fees : p->fees);
    if (change->cause == DB_BOOKS_RESET) {
        CHECK(s->open_qty == 0 && s->open_cost == 0 && s->open_fees == 0);
        *s = (struct sums){.position.updated_ns = change->ts_ns};
        return;
    }
    CHECK_INT(s->open_qty, p->qty < 0 ? -p->qty : p->qty);
    CHECK_INT(s->open_cost, p->fifo_cost);
    s->position = *p;
}

static bool take_row(void *ctx, const struct db_ledger_row *entry)
{
    static int resetting = -1;
    const struct ledger_row *row = &entry->row;
    (void)ctx;
    if (resetting >= 0)
        epochs[resetting]++;
    resetting =
        row->kind == LEDGER_RESET && strcmp(row->asset, entry->account->currency) == 0 ? row->account : -1;
    if (row->id == 1) {
        memset(epochs, 0, sizeof epochs);
        memset(sums, 0, sizeof sums);
    }
    return true;
}

static void take_gain(void *ctx, const struct db_gain *gain, const struct record_context *context)
{
    int64_t *sum = ctx;
    CHECK_INT(gain->gain, gain->proceeds - gain->cost);
    CHECK(gain->opened_by > 0 && gain->closed_by != gain->opened_by);
    CHECK_INT(
        gain->is_short ? gain->acquired_ns >= gain->disposed_ns : gain->acquired_ns <= gain->disposed_ns, 1);
    CHECK(context->symbol && context->account);
    sum[0] += gain->gain;
    sum[1]++;
}

static void check_record(const char *path, const struct books *b)
{
    struct db_reader *reader = NULL;
    char err[DB_ERROR_MAX] = "";
    const struct db_books_walk walk = {.account = -1, .row = take_row, .change = take_change};
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    total = listed = 0;
    CHECK_INT(db_books_walk(reader, &walk), 0);
    for (int a = 0; a < engine_accounts(b->engine); a++)
        for (int s = 0; s < DRIVER_SYMBOLS; s++) {
            const struct position *engine = &engine_account(b->engine, a)->positions[s];
            struct position *walked = &sums[a][s].position;
            CHECK_INT(walked->qty, engine->qty);
            CHECK_INT(walked->fifo_realized, engine->fifo_realized);
            CHECK_INT(walked->realized, engine->realized);
            CHECK_INT(walked->fifo_cost, engine->fifo_cost);
            CHECK_INT(walked->cost, engine->cost);
        }
    int64_t sum[2] = {0}, parts[2] = {0};
    CHECK_INT(db_gains_read(reader, &(struct db_gains_query){.account = -1}, take_gain, sum), 0);
    CHECK_INT(sum[0], total);
    CHECK_INT(sum[1], listed);
    const int64_t middle_ns = DRIVER_START_NS + (b->driver.now_ns - DRIVER_START_NS) / 2;
    for (int a = 0; a < engine_accounts(b->engine); a++) {
        struct db_gains_query query = {.account = a, .to_ns = middle_ns, .method = DB_GAIN_FIFO};
        CHECK_INT(db_gains_read(reader, &query, take_gain, parts), 0);
        query = (struct db_gains_query){.account = a, .from_ns = middle_ns};
        CHECK_INT(db_gains_read(reader, &query, take_gain, parts), 0);
    }
    CHECK_INT(parts[0], total);
    CHECK_INT(parts[1], listed);
    db_reader_close(reader);
}

/* ---- lots by hand ---- */

static struct db_books_change after_fill(struct books_lots *lots, enum order_side side, int64_t qty,
                                         int64_t notional, int64_t fee, int64_t ts_ns)
{
    static struct fill fill;
    struct db_books_change change = {.cause = DB_BOOKS_FILL};
    fill = (struct fill){
        .id = fill.id + 1, .side = side, .qty = qty, .notional = notional, .fee = fee, .ts_ns = ts_ns};
    CHECK_INT(db_books_lots_fill(lots, &fill, &change), 0);
    return change;
}

static struct db_books_change after_split(struct books_lots *lots, int64_t shares, int64_t per,
                                          int64_t change_is)
{
    const struct stock_split split = {shares, per, 50};
    struct db_books_change change = {.cause = DB_BOOKS_SPLIT};
    int64_t grown = 0;
    CHECK_INT(db_books_lots_split(lots, 0, &split, 60, &change, &grown), 0);
    CHECK_INT(grown, change_is);
    return change;
}

/* Three lots of one unit: 1 for 2 leaves the second one, with the costs and fees of all; 1 for 2 again leaves
 * nothing. */
static void check_vanishing(void)
{
    struct books_lots lots = {0};
    for (int i = 0; i < 3; i++)
        after_fill(&lots, ORDER_BUY, 1, 100 + i, 7, 10 + i);
    struct db_books_change change = after_split(&lots, 1, 2, -2);
    CHECK_INT(change.n_ended, 3);
    CHECK_INT(change.n_begun, 1);
    CHECK(change.begun[0].qty == 1 && change.begun[0].cost == 303 && change.begun[0].fee == 21);
    CHECK_INT(change.begun[0].opened_ns, 11);
    change = after_split(&lots, 1, 2, -1);
    CHECK_INT(change.cause, DB_BOOKS_VOID);
    CHECK_INT(change.n_ended, 1);
    CHECK(change.ended[0].of.cost == 303 && change.ended[0].value == 0 && change.ended[0].average == 303);
    CHECK_INT(change.position->fifo_realized, -303);
    db_books_lots_finish(&lots);
}

/* Thirds of 100 and of a rebate of 10, taken by a sale that turns the position round. */
static void check_shares(void)
{
    static const int64_t values[] = {33, 33, 34}, fees[] = {-4, -3, -3};
    struct books_lots lots = {0};
    for (int i = 0; i < 3; i++)
        after_fill(&lots, ORDER_BUY, 5, 20, 0, 10 + i);
    const struct db_books_change change = after_fill(&lots, ORDER_SELL, 30, 200, -20, 20);
    CHECK_INT(change.n_ended, 3);
    for (size_t i = 0; i < change.n_ended; i++) {
        CHECK_INT(change.ended[i].value, values[i]);
        CHECK_INT(change.ended[i].fee, fees[i]);
    }
    CHECK_INT(change.n_begun, 1);
    CHECK(change.begun_short && !change.ended_short);
    CHECK(change.begun[0].qty == 15 && change.begun[0].cost == 100 && change.begun[0].fee == -10);
    db_books_lots_finish(&lots);
}

int main(void)
{
    static struct books b;
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    struct random random = random_seeded("gains", 20261129);
    const int records = getenv("PAPERTAPE_LONG") ? RECORDS_LONG : RECORDS;
    check_vanishing();
    check_shares();
    scratch_make(directory);
    for (int i = 0; i < records; i++) {
        snprintf(path, sizeof path, "%s/%d.db", directory, i);
        books_keep(&b, path, random_next(&random), EVENTS);
        check_record(path, &b);
        books_close(&b);
    }
    printf("%" PRId64 " fills, %" PRId64 " splits, %" PRId64 " to nothing, %" PRId64 " resets, %" PRId64
           " turns, %" PRId64 " of shorts\n",
           causes[DB_BOOKS_FILL], causes[DB_BOOKS_SPLIT], causes[DB_BOOKS_VOID], causes[DB_BOOKS_RESET],
           turns, shorts);
    CHECK(causes[DB_BOOKS_SPLIT] > 0 && causes[DB_BOOKS_RESET] > 0 && turns > 0 && shorts > 0);
    return check_done("gains");
}
