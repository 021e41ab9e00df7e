/* events show: the recorded input, in words. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/ask.h"
#include "cli/events.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "engine/event_text.h"
#include "engine/record.h"
#include "engine/state.h"
#include "exchange/exit_status.h"
#include "exchange/journal/journal.h"
#include "strategy/policy/cache.h"

enum { WORDS_MAX = EVENT_TEXT_MAX + 64, FRAME_SHOWN = 160 };

struct show {
    const struct events_asked *asked;
    struct journal_reader *reader;
    struct engine *engine; /* of the newest state: it has the symbols' names and scales; NULL: none */
    struct event_memory memory;
    struct stored_list list;
    struct policy_cache *cache; /* of the log's policies, and */
    struct policies policies;   /* where they are found */
};

/* The engine of a state, for its names; a log of frames alone has none, and one that this program cannot
 * load is ignored. */
static void take_state(struct show *show, const struct journal_record *record)
{
    static const struct engine_sink sink;
    struct state_record state;
    struct engine *engine;
    char err[ENGINE_ERROR_MAX];
    if (engine_state_record_decode(record->bytes, record->len, &state) < 0 ||
        engine_load(state.state, state.len, &sink, show->memory.policies, &engine, err) < 0)
        return;
    if (show->engine)
        engine_destroy(show->engine);
    show->engine = engine;
}

static void state_words(const struct journal_record *record, char words[static WORDS_MAX])
{
    struct state_record state;
    if (record->len == 0)
        snprintf(words, WORDS_MAX, "STATE none: a log of frames");
    else if (engine_state_record_decode(record->bytes, record->len, &state) < 0)
        snprintf(words, WORDS_MAX, "STATE of another program, %zu bytes", record->len);
    else
        snprintf(words, WORDS_MAX, "STATE %s, run %" PRIu64 ", by %s, %zu bytes",
                 engine_state_why_name(state.why), state.run, state.program, record->len);
}

/* 0; errors of event_decode(). */
static int record_words(struct show *show, const struct journal_record *record, char words[static WORDS_MAX],
                        const char **ret_kind)
{
    struct event event = {.seq = record->seq, .recv_ns = record->recv_ns};
    int r;
    switch (record->kind) {
    case JOURNAL_STATE:
        *ret_kind = "state";
        take_state(show, record);
        state_words(record, words);
        return 0;
    case JOURNAL_FRAME:
    case JOURNAL_REPLY:
        *ret_kind = record->kind == JOURNAL_FRAME ? "frame" : "reply";
        snprintf(words, WORDS_MAX, "%s %zu bytes: %.*s", record->kind == JOURNAL_FRAME ? "FRAME" : "REPLY",
                 record->len, record->len < FRAME_SHOWN ? (int)record->len : FRAME_SHOWN,
                 (const char *)record->bytes);
        return 0;
    default:
        *ret_kind = "event";
        r = event_decode(record->bytes, record->len, &show->memory, &event);
        if (r == -ENOTSUP || r == -ENOPKG)
            snprintf(words, WORDS_MAX, "of a newer program, %zu bytes", record->len);
        else if (r == 0)
            event_text(&event, show->engine, words);
        return r == -ENOTSUP || r == -ENOPKG ? 0 : r;
    }
}

static void print(struct show *show, const struct journal_record *record, const char *kind, const char *words)
{
    char time[STORED_CELL], shown[WORDS_MAX];
    cli_text_clean(shown, sizeof shown, words);
    if (show->asked->json)
        cli_stored_object(&show->list,
                          json_pack("{s:I, s:I, s:s, s:s}", "seq", (json_int_t)record->seq, "recv_ns",
                                    (json_int_t)record->recv_ns, "kind", kind, "words", shown));
    else
        printf("%10" PRIu64 "  %s  %s\n", record->seq, cli_stored_time(STORED_TABLE, time, record->recv_ns),
               shown);
}

/* Goes to the record that was asked for, with the engine of the state before it. 1; 0: it is after the end.
 */
static int go(struct show *show)
{
    const struct events_asked *asked = show->asked;
    struct journal_record record;
    int r = asked->seq >= 0 ? journal_reader_seek_seq(show->reader, (uint64_t)asked->seq)
                            : journal_reader_seek_time(show->reader, asked->at_ns);
    if (r == 0 && (r = journal_reader_next(show->reader, &record)) == 1)
        take_state(show, &record);
    if (r < 0 && r != -ENOENT) /* before the first state: from the beginning */
        return r;
    return asked->seq >= 0 ? journal_reader_find_seq(show->reader, (uint64_t)asked->seq)
                           : journal_reader_find_time(show->reader, asked->at_ns);
}

/* -ENOENT, with what there is. */
static int beyond_end(struct show *show, char *err, size_t err_size)
{
    struct journal_tail tail;
    int r = journal_reader_tail(show->reader, &tail);
    if (r < 0)
        snprintf(err, err_size, "%s", journal_reader_error(show->reader));
    else if (tail.last_seq == 0)
        snprintf(err, err_size, "--seq %" PRId64 ": the log holds no events", show->asked->seq);
    else
        snprintf(err, err_size, "--seq %" PRId64 ": the log ends with event %" PRIu64, show->asked->seq,
                 tail.last_seq);
    return r < 0 ? r : -ENOENT;
}

static int show_records(struct show *show, char *err, size_t err_size)
{
    struct journal_record record;
    char words[WORDS_MAX];
    const char *kind;
    int r = go(show);
    if (r == 0 && show->asked->seq >= 0)
        return beyond_end(show, err, err_size);
    for (uint64_t n = 0; r == 1 && n < (uint64_t)show->asked->n;) {
        r = journal_reader_next(show->reader, &record);
        if (r != 1)
            break;
        int decoded = record_words(show, &record, words, &kind);
        if (decoded < 0) {
            snprintf(err, err_size, "event %" PRIu64 " cannot be read: %s", record.seq,
                     decoded == -ENOMEM ? "out of memory" : "its bytes are none");
            return decoded;
        }
        print(show, &record, kind, words);
        n++;
    }
    if (r < 0)
        snprintf(err, err_size, "%s", journal_reader_error(show->reader));
    return r < 0 ? r : show->list.r;
}

int cli_events_show(const struct events_asked *asked)
{
    struct show show = {.asked = asked, .list = {.name = "events", .form = STORED_JSON}};
    char err[JOURNAL_ERROR_MAX] = "out of memory";
    int r = journal_reader_open(asked->path, &show.reader, err, sizeof err);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, asked->verb, "", err);
    show.cache = policy_cache_of_log(asked->path);
    if (show.cache)
        show.policies = policy_cache_find(show.cache);
    show.memory.policies = show.cache ? &show.policies : NULL;
    r = show_records(&show, err, sizeof err);
    if (asked->json)
        cli_stored_end(&show.list);
    if (show.engine)
        engine_destroy(show.engine);
    policy_cache_close(show.cache);
    event_memory_finish(&show.memory);
    journal_reader_close(show.reader);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, asked->verb, "", err) : EXIT_OK;
}
