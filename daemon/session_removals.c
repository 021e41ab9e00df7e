/* Retention of the event log: the record notes a segment before it goes, so that it is distinguished from one
 * that somebody removed (db/books/reach.h). */
#include <stdio.h>

#include "daemon/session_internal.h"

bool daemon_session_may_remove(void *ctx, const struct journal_removal *segment)
{
    struct session *session = ctx;
    struct log_removals *removals = &session->removals;
    uv_mutex_lock(&session->lock);
    bool noted = segment->to_seq <= removals->noted_seq;
    bool waits = removals->ticket > 0 || removals->wanted;
    if (!noted && !waits) {
        removals->asked = *segment;
        removals->wanted = true;
    }
    uv_mutex_unlock(&session->lock);
    if (!noted && !waits)
        uv_async_send(&session->wake);
    return noted;
}

static uint64_t put(struct session *session, const struct journal_removal *segment)
{
    struct db_log_note note = {.kind = DB_LOG_REMOVED,
                               .from_seq = segment->from_seq,
                               .to_seq = segment->to_seq,
                               .ts_ns = daemon_session_now(session),
                               .segment = segment->number,
                               .bytes = segment->bytes};
    for (int i = 0; i < JOURNAL_HASH_SIZE; i++)
        snprintf(note.digest + 2 * i, 3, "%02x", segment->hash[i]);
    return db_writer_put_log_note(session->writer, &note);
}

void daemon_session_note_removal(struct session *session)
{
    struct log_removals *removals = &session->removals;
    if (!session->writer)
        return;
    uint64_t committed = db_writer_committed(session->writer);
    uv_mutex_lock(&session->lock);
    if (removals->ticket > 0 && removals->ticket <= committed) {
        removals->noted_seq = removals->putting_seq;
        removals->ticket = 0;
    }
    bool wanted = removals->wanted;
    struct journal_removal asked = removals->asked;
    uv_mutex_unlock(&session->lock);
    if (!wanted)
        return;
    uint64_t ticket = put(session, &asked);
    uv_mutex_lock(&session->lock);
    removals->wanted = ticket == 0; /* without memory: tried again */
    removals->ticket = ticket;
    removals->putting_seq = asked.to_seq;
    uv_mutex_unlock(&session->lock);
}
