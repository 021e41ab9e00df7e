/* The seal of a stored order or fill: SHA-256 of the row's one spelling, so that a cell altered behind the
 * daemon's back is found by name. */
#ifndef DB_ROW_HASH_H
#define DB_ROW_HASH_H

#include <stdint.h>

#include "exchange/fill.h"

enum { DB_ROW_HASH_SIZE = 32 };

/* `symbol` is the symbol's id in the database, 0 where the row has none (an order refused for its symbol).
 * The spelling is the columns of the table in their order, joined by '|', without the hash. 0 or -ENOMEM. */
int db_hash_order(const struct order *order, int64_t symbol, uint8_t hash[static DB_ROW_HASH_SIZE]);
int db_hash_fill(const struct fill *fill, int64_t symbol, uint8_t hash[static DB_ROW_HASH_SIZE]);

#endif
