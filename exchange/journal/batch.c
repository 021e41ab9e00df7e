#include "exchange/journal/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void journal_batch_init(struct journal_batch *batch)
{
    *batch = (struct journal_batch){0};
}

void journal_batch_finish(struct journal_batch *batch)
{
    free(batch->bytes);
    *batch = (struct journal_batch){0};
}

void journal_batch_clear(struct journal_batch *batch)
{
    batch->len = 0;
    batch->last_seq = 0;
}

/* In memory: the record as it was given, then its bytes. */
int journal_batch_add(struct journal_batch *batch, const struct journal_record *record)
{
    if (record->kind < JOURNAL_STATE || record->kind >= JOURNAL_KINDS)
        return -EINVAL;
    if (record->len > JOURNAL_RECORD_MAX)
        return -EMSGSIZE;
    size_t need = batch->len + sizeof *record + record->len;
    if (need > batch->cap) {
        size_t cap = batch->cap ? batch->cap : 4096;
        while (cap < need)
            cap *= 2;
        uint8_t *bytes = realloc(batch->bytes, cap);
        if (!bytes)
            return -ENOMEM;
        batch->bytes = bytes;
        batch->cap = cap;
    }
    memcpy(batch->bytes + batch->len, record, sizeof *record);
    if (record->len > 0)
        memcpy(batch->bytes + batch->len + sizeof *record, record->bytes, record->len);
    batch->len = need;
    batch->last_seq = record->seq;
    return 0;
}

bool journal_batch_next(const struct journal_batch *batch, size_t *at, struct journal_record *ret)
{
    if (*at >= batch->len)
        return false;
    memcpy(ret, batch->bytes + *at, sizeof *ret);
    ret->bytes = batch->bytes + *at + sizeof *ret;
    *at += sizeof *ret + ret->len;
    return true;
}
