/* The event log and the recovery as the status tells them. */
#include "daemon/recorder.h"
#include "daemon/status_internal.h"

static json_t *recorder_object(struct recorder *recorder)
{
    struct recorder_stats stats;
    daemon_recorder_stats(recorder, &stats);
    const struct journal_writer_stats *journal = &stats.journal;
    double share = journal->raw_bytes > 0 ? (double)journal->file_bytes / (double)journal->raw_bytes : 0;
    double encoded = stats.events > 0 ? (double)stats.event_bytes / (double)stats.events : 0;
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I}", "state",
                     storing_name(stats.storing), "detail", stats.detail, "seq", (json_int_t)stats.seq,
                     "events", (json_int_t)stats.events, "holes", (json_int_t)stats.holes, "lost",
                     (json_int_t)stats.lost, "segments", (json_int_t)journal->segments, "removed",
                     (json_int_t)journal->removed, "bytes", (json_int_t)journal->total_bytes,
                     "bytes_per_event", encoded > 0 && share > 0 ? json_real(encoded * share) : json_null(),
                     "waiting_bytes", (json_int_t)stats.waiting_bytes, "retries", (json_int_t)stats.retries,
                     "failed", (json_int_t)journal->failed, "proved", (json_int_t)journal->proved, "mended",
                     (json_int_t)journal->mended);
}

json_t *daemon_status_events(const struct daemon *daemon)
{
    struct recorder *recording = daemon_session_recorder(daemon->session, true);
    json_t *object = recorder_object(daemon_session_recorder(daemon->session, false));
    json_object_set_new(object, "recording", recording ? recorder_object(recording) : json_null());
    return object;
}

json_t *daemon_status_recovery(const struct daemon *daemon)
{
    const struct session_recovery *recovery = daemon_session_recovery(daemon->session);
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:o, s:I, s:I}", "from", recovery->from, "log_seq",
                     (json_int_t)recovery->log_seq, "played", (json_int_t)recovery->played, "again",
                     (json_int_t)recovery->again, "elapsed_ms", (double)recovery->elapsed_ns / 1e6, "away_s",
                     recovery->away_ns > 0 ? json_real((double)recovery->away_ns / 1e9) : json_null(),
                     "missed_bars", (json_int_t)recovery->missed_bars, "crossed",
                     (json_int_t)recovery->crossed);
}
