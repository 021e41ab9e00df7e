#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/journal/reader.h"

static void count(struct journal_summary *sum, const struct journal_record *record)
{
    if (sum->records++ == 0) {
        sum->first_seq = record->seq;
        sum->first_ns = record->recv_ns;
    }
    if (record->kind == JOURNAL_STATE) {
        sum->holes += sum->states > 0 && record->seq > sum->last_seq;
        sum->states++;
    }
    sum->events += record->kind == JOURNAL_EVENT;
    sum->frames += record->kind == JOURNAL_FRAME;
    sum->replies += record->kind == JOURNAL_REPLY;
    sum->raw_bytes += record->len;
    sum->last_seq = record->seq;
    sum->last_ns = record->recv_ns;
}

int journal_verify(const char *path, struct journal_summary *ret, char *err, size_t err_size)
{
    struct journal_reader *reader;
    struct journal_summary sum = {0};
    struct journal_record record;
    struct journal_tail tail;
    int r = journal_reader_open(path, &reader, err, err_size);
    if (r < 0)
        return r;
    uint32_t first = reader->scan.header.number;
    while ((r = journal_reader_next(reader, &record)) == 1)
        count(&sum, &record);
    if (r == 0) {
        sum.segments = reader->scan.header.number - first + 1;
        sum.blocks = reader->blocks;
        memcpy(sum.hash, reader->scan.chain, sizeof sum.hash);
        for (size_t i = 0; i < reader->segments.n; i++)
            sum.file_bytes += (uint64_t)reader->segments.list[i].size;
        r = journal_reader_tail(reader, &tail);
        sum.torn_bytes = r == 0 ? tail.cut_bytes : 0;
    }
    if (r < 0)
        snprintf(err, err_size, "%s", journal_reader_error(reader));
    else
        *ret = sum;
    journal_reader_close(reader);
    return r;
}
