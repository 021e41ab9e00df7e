#include "db/row_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>

enum { TEXT_MAX = 512 }; /* 14 numbers of at most 20 characters, names, a tag */

static int seal(const char *text, int length, uint8_t hash[static DB_ROW_HASH_SIZE])
{
    return EVP_Digest(text, (size_t)length, hash, NULL, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
}

int db_hash_order(const struct order *o, int64_t symbol, uint8_t hash[static DB_ROW_HASH_SIZE])
{
    char text[TEXT_MAX];
    int n = snprintf(text, sizeof text,
                     "%" PRIu64 "|%d|%" PRId64 "|%s|%s|%s|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64
                     "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRIu64 "|%d|%s",
                     o->id, o->account, symbol, order_side_name(o->side), order_type_name(o->type),
                     order_state_name(o->state), order_reason_name(o->reason), o->qty, o->filled, o->price,
                     o->stop_price, o->cost, o->created_ns, o->effective_ns, o->updated_ns, o->input_seq,
                     o->by_hand, o->tag);
    return seal(text, n, hash);
}

int db_hash_fill(const struct fill *f, int64_t symbol, uint8_t hash[static DB_ROW_HASH_SIZE])
{
    char text[TEXT_MAX];
    int n = snprintf(text, sizeof text,
                     "%" PRIu64 "|%" PRIu64 "|%d|%" PRId64 "|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64
                     "|%" PRId64 "|%d|%" PRIu64,
                     f->id, f->order_id, f->account, symbol, order_side_name(f->side), f->ts_ns, f->price,
                     f->qty, f->notional, f->fee, f->maker, f->input_seq);
    return seal(text, n, hash);
}
