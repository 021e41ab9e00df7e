/* SHA256_Init() and its like: EVP_Digest() finds the algorithm by its name for each row, which takes four
 * times as long as the hash. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "record/ledger_row.h"

#include <errno.h>
#include <openssl/sha.h>
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

static char *put_unsigned(char *to, uint64_t value)
{
    char digits[20]; /* of UINT64_MAX, the last one first */
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    while (n > 0)
        *to++ = digits[--n];
    *to++ = '|';
    return to;
}

static char *put_signed(char *to, int64_t value)
{
    if (value < 0)
        *to++ = '-';
    return put_unsigned(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static char *put_word(char *to, const char *word)
{
    size_t n = strlen(word);
    memcpy(to, word, n);
    to[n] = '|';
    return to + n + 1;
}

size_t ledger_row_text(const struct ledger_row *row, char buf[static LEDGER_TEXT_MAX])
{
    char *to = put_unsigned(buf, row->id);
    to = put_signed(to, row->ts_ns);
    to = put_signed(to, row->account);
    to = put_word(to, row->asset);
    to = put_signed(to, row->scale);
    to = put_word(to, ledger_kind_name(row->kind));
    to = put_signed(to, row->amount);
    to = put_signed(to, row->balance);
    to = put_unsigned(to, row->order_id);
    to = put_unsigned(to, row->fill_id);
    *--to = '\0'; /* instead of a last | */
    return (size_t)(to - buf);
}

int ledger_row_chain(struct ledger_row *row, const uint8_t previous[static LEDGER_HASH_SIZE])
{
    char text[LEDGER_TEXT_MAX];
    SHA256_CTX hash;
    if (SHA256_Init(&hash) != 1 || SHA256_Update(&hash, previous, LEDGER_HASH_SIZE) != 1 ||
        SHA256_Update(&hash, text, ledger_row_text(row, text)) != 1 || SHA256_Final(row->hash, &hash) != 1)
        return -ENOMEM;
    return 0;
}
