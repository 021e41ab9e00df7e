/* The database's record, for the verbs that compare a replay of the log with it: one snapshot of it, by id.
 */
#ifndef CLI_RECORDED_H
#define CLI_RECORDED_H

#include "db/reader.h"
#include "engine/compare.h"

struct recorded_rows {
    struct engine_recorded recorded; /* looks up here: valid as long as this */
    struct recorded_order *orders;
    struct recorded_fill *fills;
    struct ledger_row *ledger;
    struct recorded_cause *causes;
    struct receivable_row *receivables;
    struct recorded_fee_rate *fee_rates;
    size_t n_orders, n_fills, n_ledger, n_causes, n_receivables, n_fee_rates;
    size_t cap_orders, cap_fills, cap_ledger, cap_causes, cap_receivables, cap_fee_rates;
    bool failed; /* out of memory */
};

/* Reads orders, fills and, with `ledger`, ledger rows, their causes, what became of dividends and the rates
 * by volume. 0; -ENODATA for a database that was never written with a log; -ENOMEM; errors of the reader. On
 * failure nothing is to be freed. */
int cli_recorded_load(struct db_reader *reader, bool ledger, struct recorded_rows *ret);
void cli_recorded_finish(struct recorded_rows *rows);

/* By its number where it is digits and `is_client_id` is not set, else by its account's name for it (the
 * newest); NULL when there is none. */
const struct recorded_order *cli_recorded_find(const struct recorded_rows *rows, const char *id,
                                               bool is_client_id);

#endif
