/* The bookkeeper of fixture.h continues from a database. */
#ifndef TESTS_DB_RESUME_H
#define TESTS_DB_RESUME_H

#include "db/recover.h"
#include "tests/db/fixture.h"

/* From scratch when there is nothing. false, with the reason printed, when it cannot be read. */
static inline bool fixture_resume(struct fixture *f, struct db_writer *writer, const char *path)
{
    struct symbol symbols[FIXTURE_SYMBOLS] = {fixture_symbol(0), fixture_symbol(1)};
    struct db_reader *reader = NULL;
    struct db_recovered *r = NULL;
    char err[DB_ERROR_MAX] = "";
    if (db_reader_open(path, &reader, err, sizeof err) != 0 ||
        db_recover(reader, symbols, FIXTURE_SYMBOLS, &r, err, sizeof err) != 0) {
        printf("recovery: %s\n", err);
        db_reader_close(reader);
        return false;
    }
    db_reader_close(reader);
    if (r->last_ledger == 0) {
        fixture_open(f, writer);
        db_recovered_destroy(r);
        return true;
    }
    *f = (struct fixture){
        .writer = writer,
        .ts_ns = FIXTURE_START + (int64_t)r->last_order * 4000000,
        .order_id = r->last_order,
        .fill_id = r->last_fill,
        .ledger_id = r->last_ledger,
        .seq = 4 * r->last_order,
        .lots = fixture_lots(),
    };
    memcpy(f->hash, r->ledger_hash, sizeof f->hash);
    for (size_t i = 0; i < r->n_balances; i++)
        *(strcmp(r->balances[i].asset, "USDT") == 0 ? &f->cash
                                                    : &f->base[strcmp(r->balances[i].asset, "ETH") == 0]) =
            r->balances[i].total;
    for (size_t i = 0; i < r->n_positions; i++) {
        struct db_recovered_position *from = &r->positions[i];
        f->positions[from->symbol] = from->position;
        position_lots_finish(&f->lots[from->symbol]);
        f->lots[from->symbol] = from->lots;
        from->lots = (struct lots){0};
    }
    for (int i = 0; i < FIXTURE_SYMBOLS; i++)
        db_writer_put_symbol(writer, i, "binance", &symbols[i], FIXTURE_START);
    db_recovered_destroy(r);
    return true;
}

#endif
