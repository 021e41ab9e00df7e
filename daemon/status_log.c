/* The event log and the recovery as the status reports them. */
#include <math.h>

#include "daemon/recorder.h"
#include "daemon/status_internal.h"
#include "record/json.h"
#include "record/status.h"

RECORD_VIEW_OBJECT(log_object, log_view, RECORD_SHOWN_LOG);
RECORD_VIEW_OBJECT(recovery_object, recovery_view, RECORD_SHOWN_RECOVERY);

static json_t *recorder_object(struct recorder *recorder)
{
    struct recorder_stats stats;
    daemon_recorder_stats(recorder, &stats);
    const struct journal_writer_stats *journal = &stats.journal;
    double share = journal->raw_bytes > 0 ? (double)journal->file_bytes / (double)journal->raw_bytes : 0;
    double encoded = stats.events > 0 ? (double)stats.event_bytes / (double)stats.events : 0;
    const struct log_view view = {
        .state = storing_name(stats.storing),
        .detail = stats.detail,
        .seq = (int64_t)stats.seq,
        .events = (int64_t)stats.events,
        .holes = (int64_t)stats.holes,
        .lost = (int64_t)stats.lost,
        .segments = (int64_t)journal->segments,
        .removed = (int64_t)journal->removed,
        .bytes = (int64_t)journal->total_bytes,
        .bytes_per_event = encoded > 0 && share > 0 ? encoded * share : NAN,
        .waiting_bytes = (int64_t)stats.waiting_bytes,
        .retries = (int64_t)stats.retries,
        .failed = (int64_t)journal->failed,
        .proved = (int64_t)journal->proved,
        .mended = (int64_t)journal->mended,
    };
    return log_object(&view);
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
    const struct recovery_view view = {
        .from = recovery->from,
        .log_seq = (int64_t)recovery->log_seq,
        .played = (int64_t)recovery->played,
        .again = (int64_t)recovery->again,
        .elapsed_ms = (double)recovery->elapsed_ns / 1e6,
        .away_s = recovery->away_ns > 0 ? (double)recovery->away_ns / 1e9 : NAN,
        .missed_bars = (int64_t)recovery->missed_bars,
        .crossed = (int64_t)recovery->crossed,
    };
    return recovery_object(&view);
}
