#include "record/ledger_row.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "record/ledger_kinds.h"
#include "record/words.h"

#define ROW struct ledger_row
const struct record record_ledger = RECORD_LIST("ledger", RECORD_LEDGER_ROW);
#undef ROW

static const struct {
    const char *name, *contra;
} kinds[LEDGER_KINDS] = {
#define NAMES(kind, name, contra) [LEDGER_##kind] = {name, contra},
    LEDGER_KIND_NAMES(NAMES)
#undef NAMES
};

const char *ledger_kind_name(enum ledger_kind kind)
{
    return kinds[kind].name;
}

const char *ledger_row_word(const struct ledger_row *row)
{
    return row->kind == LEDGER_DEPOSIT && row->amount < 0 ? "withdrawal" : ledger_kind_name(row->kind);
}

int ledger_kind_parse(const char *name)
{
    for (int kind = 0; kind < LEDGER_KINDS; kind++)
        if (strcmp(kinds[kind].name, name) == 0)
            return kind;
    return -EINVAL;
}

const char *ledger_contra_name(enum ledger_kind kind)
{
    return kinds[kind].contra;
}

size_t ledger_row_text(const struct ledger_row *row, char buf[static LEDGER_TEXT_MAX])
{
    int n = snprintf(buf, LEDGER_TEXT_MAX,
                     "%" PRIu64 "|%" PRId64 "|%d|%s|%d|%s|%" PRId64 "|%" PRId64 "|%" PRIu64 "|%" PRIu64,
                     row->id, row->ts_ns, row->account, row->asset, row->scale, ledger_kind_name(row->kind),
                     row->amount, row->balance, row->order_id, row->fill_id);
    return (size_t)n;
}

int ledger_row_chain(struct ledger_row *row, const uint8_t previous[static LEDGER_HASH_SIZE])
{
    uint8_t input[LEDGER_HASH_SIZE + LEDGER_TEXT_MAX], hash[EVP_MAX_MD_SIZE];
    memcpy(input, previous, LEDGER_HASH_SIZE);
    size_t n = ledger_row_text(row, (char *)input + LEDGER_HASH_SIZE);
    if (EVP_Digest(input, LEDGER_HASH_SIZE + n, hash, NULL, EVP_sha256(), NULL) != 1)
        return -ENOMEM;
    memcpy(row->hash, hash, LEDGER_HASH_SIZE);
    return 0;
}
