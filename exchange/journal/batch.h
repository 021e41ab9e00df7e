/* The journal's own: what waits in a batch. */
#ifndef EXCHANGE_JOURNAL_BATCH_H
#define EXCHANGE_JOURNAL_BATCH_H

#include "exchange/journal/journal.h"

/* The record at *at, which it moves to the next; false at the end. Its bytes are the batch's. */
bool journal_batch_next(const struct journal_batch *batch, size_t *at, struct journal_record *ret);

#endif
