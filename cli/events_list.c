/* events list and events verify: the log's files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/events.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "exchange/journal/journal.h"

static const char *const kinds[JOURNAL_KINDS] = {[JOURNAL_STATE] = "states",
                                                 [JOURNAL_EVENT] = "events",
                                                 [JOURNAL_FRAME] = "frames",
                                                 [JOURNAL_REPLY] = "replies"};

static int list_json(void *ctx, const struct journal_segment_info *s)
{
    json_t *names = json_array();
    for (int kind = JOURNAL_STATE; kind < JOURNAL_KINDS; kind++)
        if (s->kinds >> kind & 1)
            json_array_append_new(names, json_string(kinds[kind]));
    json_t *object = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "name", s->name, "number",
        (json_int_t)s->number, "first_seq", (json_int_t)s->first_seq, "last_seq", (json_int_t)s->last_seq,
        "first_ns", (json_int_t)s->first_ns, "last_ns", (json_int_t)s->last_ns, "blocks",
        (json_int_t)s->blocks, "records", (json_int_t)s->records, "raw_bytes", (json_int_t)s->raw_bytes,
        "file_bytes", (json_int_t)s->file_bytes, "torn_bytes", (json_int_t)s->torn_bytes, "kinds", names);
    return json_array_append_new(ctx, object) == 0 ? 0 : -ENOMEM;
}

static int list_text(void *ctx, const struct journal_segment_info *s)
{
    char from[STORED_CELL], to[STORED_CELL], holds[64] = "";
    uint64_t *n = ctx;
    if ((*n)++ == 0)
        printf("%-44s  %10s  %10s  %-24s  %-24s  %8s  %9s  %10s  %s\n", "segment", "from seq", "to seq",
               "from", "to", "blocks", "records", "bytes", "holds");
    for (int kind = JOURNAL_STATE; kind < JOURNAL_KINDS; kind++)
        if (s->kinds >> kind & 1) {
            strcat(holds, *holds ? " " : "");
            strcat(holds, kinds[kind]);
        }
    printf("%-44s  %10" PRIu64 "  %10" PRIu64 "  %-24s  %-24s  %8" PRIu64 "  %9" PRIu64 "  %10" PRIu64
           "  %s\n",
           s->name, s->first_seq, s->last_seq, cli_stored_time(STORED_TABLE, from, s->first_ns),
           cli_stored_time(STORED_TABLE, to, s->last_ns), s->blocks, s->records, s->file_bytes, holds);
    if (s->torn_bytes > 0)
        printf("%-44s  its last %" PRIu64 " bytes are torn, or still being written\n", "", s->torn_bytes);
    return 0;
}

int cli_events_list(const struct events_asked *asked)
{
    char err[JOURNAL_ERROR_MAX] = "out of memory";
    uint64_t n = 0;
    json_t *segments = json_array();
    int r = asked->json ? journal_list(asked->path, list_json, segments, err, sizeof err)
                        : journal_list(asked->path, list_text, &n, err, sizeof err);
    if (r < 0) {
        json_decref(segments);
        return cli_stored_fail(EXIT_ERROR, asked->verb, "", err);
    }
    if (!asked->json) {
        json_decref(segments);
        return EXIT_OK;
    }
    return cli_stored_print(
        asked->verb, json_pack("{s:s, s:o}", "schema", "papertape.events/1", "segments", segments), 15);
}

/* ---- verify ---- */

static json_t *summary_object(const struct journal_summary *s, const char *failure)
{
    char hash[STORED_CELL];
    if (failure)
        return json_pack("{s:s, s:b, s:s}", "schema", "papertape.events/1", "ok", 0, "failure", failure);
    return json_pack("{s:s, s:b, s:n, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
                     "s:I, s:s}",
                     "schema", "papertape.events/1", "ok", 1, "failure", "segments", (json_int_t)s->segments,
                     "blocks", (json_int_t)s->blocks, "records", (json_int_t)s->records, "states",
                     (json_int_t)s->states, "events", (json_int_t)s->events, "frames", (json_int_t)s->frames,
                     "replies", (json_int_t)s->replies, "holes", (json_int_t)s->holes, "first_seq",
                     (json_int_t)s->first_seq, "last_seq", (json_int_t)s->last_seq, "first_ns",
                     (json_int_t)s->first_ns, "last_ns", (json_int_t)s->last_ns, "raw_bytes",
                     (json_int_t)s->raw_bytes, "file_bytes", (json_int_t)s->file_bytes, "torn_bytes",
                     (json_int_t)s->torn_bytes, "hash", cli_stored_hash(hash, s->hash));
}

static void print_summary(const struct journal_summary *s)
{
    char from[STORED_CELL], to[STORED_CELL], hash[STORED_CELL];
    printf("events ok: %" PRIu64 " segments, %" PRIu64 " blocks, %" PRIu64 " records: %" PRIu64
           " events, %" PRIu64 " states, %" PRIu64 " frames, %" PRIu64 " replies\n",
           s->segments, s->blocks, s->records, s->events, s->states, s->frames, s->replies);
    printf("events %" PRIu64 " to %" PRIu64 ", from %s to %s; %" PRIu64 " bytes, %" PRIu64
           " in the files\nhash %s\n",
           s->first_seq, s->last_seq, cli_stored_time(STORED_TABLE, from, s->first_ns),
           cli_stored_time(STORED_TABLE, to, s->last_ns), s->raw_bytes, s->file_bytes,
           cli_stored_hash(hash, s->hash));
    if (s->holes > 0)
        printf("%" PRIu64 " holes: events that were never recorded, filled by states\n", s->holes);
    if (s->torn_bytes > 0)
        printf("%" PRIu64 " bytes at the end are torn, or still being written\n", s->torn_bytes);
}

int cli_events_verify(const struct events_asked *asked)
{
    char err[JOURNAL_ERROR_MAX];
    struct journal_summary summary = {0};
    int r = journal_verify(asked->path, &summary, err, sizeof err), status = EXIT_OK;
    if (asked->json)
        status = cli_stored_print(asked->verb, summary_object(&summary, r < 0 ? err : NULL), 15);
    else if (r == 0)
        print_summary(&summary);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, asked->verb, "", err) : status;
}
