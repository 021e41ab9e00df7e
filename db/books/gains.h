/* Realized gains, a row for each part of a lot that a fill closed: of the verb `gains`. */
#ifndef DB_BOOKS_GAINS_H
#define DB_BOOKS_GAINS_H

#include "db/reader.h"
#include "record/json.h"

enum db_gain_method {
    DB_GAIN_FIFO,    /* cost is what the lot cost */
    DB_GAIN_AVERAGE, /* cost is the position's average; lots and their dates are those of FIFO */
};

/* Money is in units of the symbol's quote scale, without fees: gain = proceeds - cost. Of a short the
 * proceeds are what opened it, and it was acquired later than disposed of. */
struct db_gain {
    int account, symbol; /* named by the row's context */
    int64_t epoch;       /* of the account: 1, and one more after each reset */
    bool is_short;
    const char *side, *quote; /* "long" or "short"; the asset of the money */
    int64_t acquired_ns, disposed_ns;
    int64_t qty, proceeds, cost, fees, gain; /* fees: of both fills, its share; of an unknown one none */
    int64_t days;                            /* between the two dates, UTC */
    uint64_t opened_by, closed_by;           /* fills. 0: of before the record's base; a split left nothing */
};
extern const struct record db_gains;

/* The times at which a part was closed: from_ns <= t < to_ns. */
struct db_gains_query {
    int account;            /* its number; -1: all */
    int64_t from_ns, to_ns; /* 0: from the beginning; to the end */
    enum db_gain_method method;
};

/* Each, in the order of the closings, oldest lot first. In a snapshot of the caller's. 0 or the -errno of
 * db_books_walk(). */
int db_gains_read(struct db_reader *reader, const struct db_gains_query *query,
                  void (*row)(void *ctx, const struct db_gain *gain, const struct record_context *context),
                  void *ctx);

#endif
