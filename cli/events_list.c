/* events list and events verify: the log's files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/events.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "exchange/journal/journal.h"
#include "record/print.h"

static const char *const kinds[JOURNAL_KINDS] = {[JOURNAL_STATE] = "states",
                                                 [JOURNAL_EVENT] = "events",
                                                 [JOURNAL_FRAME] = "frames",
                                                 [JOURNAL_REPLY] = "replies"};

struct segment_row {
    struct journal_segment_info info;
    char kinds[96]; /* a list in JSON */
};

#define ROW struct segment_row
static const struct record record = PRINT_RECORD(
    PRINT_AS(STRING, REQUIRED, info.name, "name"), PRINT_AS(UNSIGNED, REQUIRED, info.number, "number"),
    PRINT_AS(UNSIGNED, REQUIRED, info.first_seq, "first_seq"),
    PRINT_AS(UNSIGNED, REQUIRED, info.last_seq, "last_seq"),
    PRINT_AS(TIME, REQUIRED, info.first_ns, "first_ns"), PRINT_AS(TIME, REQUIRED, info.last_ns, "last_ns"),
    PRINT_AS(UNSIGNED, REQUIRED, info.blocks, "blocks"),
    PRINT_AS(UNSIGNED, REQUIRED, info.records, "records"),
    PRINT_AS(UNSIGNED, REQUIRED, info.raw_bytes, "raw_bytes"),
    PRINT_AS(UNSIGNED, REQUIRED, info.file_bytes, "file_bytes"), PRINT_TEXT(kinds),
    PRINT_AS(UNSIGNED, REQUIRED, info.torn_bytes, "torn_bytes"));
#undef ROW

static const struct stored_column columns[] = {
    {"name", -44},
    {"number", 0},
    {"first_seq", 10},
    {"last_seq", 10},
    {"first_ns", -24},
    {"last_ns", -24},
    {"blocks", 8},
    {"records", 9},
    {"raw_bytes", 0},
    {"file_bytes", 10},
    {"kinds", -6, .json = true},
    {"torn_bytes", 10},
};

struct segments {
    const struct events_asked *asked;
    struct stored_list *list;
};

static int print_segment(void *ctx, const struct journal_segment_info *info)
{
    const struct segments *segments = ctx;
    const struct db_selection *period = &segments->asked->selection;
    struct stored_list *list = segments->list;
    struct segment_row segment = {.info = *info};
    bool json = list->form == STORED_JSON;
    size_t n = 0;

    if (info->last_ns < period->from_ns || (info->first_ns >= period->to_ns && period->to_ns != INT64_MAX))
        return 0;
    for (int kind = JOURNAL_STATE; kind < JOURNAL_KINDS; kind++)
        if (info->kinds >> kind & 1)
            n += (size_t)snprintf(segment.kinds + n, sizeof segment.kinds - n, json ? "%s\"%s\"" : "%s%s",
                                  n == 0 ? (json ? "[" : "")
                                  : json ? ","
                                         : " ",
                                  kinds[kind]);
    if (json)
        snprintf(segment.kinds + n, sizeof segment.kinds - n, n == 0 ? "[]" : "]");
    cli_stored_record_row(list, &segment, &(struct record_context){0});
    return list->r;
}

int cli_events_list(const struct events_asked *asked)
{
    char err[JOURNAL_ERROR_MAX] = "out of memory";
    struct stored_list list =
        cli_stored_list_of(&record, columns, sizeof columns / sizeof *columns, asked->form, NULL);

    list.name = "events";
    list.key = "segments";
    int r = journal_list(asked->path, print_segment, &(struct segments){asked, &list}, err, sizeof err);
    if (r == 0 || list.started)
        cli_stored_end(&list);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, asked->verb, "", err) : EXIT_OK;
}

/* ---- verify ---- */

PRINT_OBJECT(summary_object, struct journal_summary, PRINT_LATER("schema"), PRINT_LATER("ok"),
             PRINT_LATER("failure"), PRINT_WHOLE(segments), PRINT_WHOLE(blocks), PRINT_WHOLE(records),
             PRINT_WHOLE(states), PRINT_WHOLE(events), PRINT_WHOLE(frames), PRINT_WHOLE(replies),
             PRINT_WHOLE(holes), PRINT_WHOLE(first_seq), PRINT_WHOLE(last_seq), PRINT_WHOLE(first_ns),
             PRINT_WHOLE(last_ns), PRINT_WHOLE(raw_bytes), PRINT_WHOLE(file_bytes), PRINT_WHOLE(torn_bytes),
             PRINT_AS(HASH, REQUIRED, hash, "hash"));

static json_t *verified_object(const struct journal_summary *summary, const char *failure)
{
    json_t *object = failure ? json_pack("{s:n, s:n, s:s}", "schema", "ok", "failure", failure)
                             : summary_object(summary, NULL);
    json_object_set_new(object, "schema", json_string("papertape.events/1"));
    json_object_set_new(object, "ok", json_boolean(!failure));
    return object;
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
        status = cli_stored_print(asked->verb, verified_object(&summary, r < 0 ? err : NULL), 15);
    else if (r == 0)
        print_summary(&summary);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, asked->verb, "", err) : status;
}
