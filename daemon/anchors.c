#include "daemon/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "exchange/clock.h"

enum { RETRY_MS = 3600000 };
#define DAY_NS (INT64_C(86400) * 1000000000)
#define FAILS  "the books are not anchored: "
#define BARE   "an anchor has no stamp: "

struct anchors {
    struct daemon *daemon;
    struct anchor_config config; /* of the start: a reload does not change it */
    uv_work_t work;
    enum db_head_occasion occasion; /* of what is being made */
    int result;
    char words[ANCHOR_WORDS_MAX];
    int64_t day; /* of the last; -1: there is none of this run */
    uint64_t retry_ms;
    bool busy;
    atomic_bool stop;
};

struct anchors *daemon_anchors_create(struct daemon *daemon)
{
    struct anchors *anchors = calloc(1, sizeof *anchors);
    if (!anchors)
        return NULL;
    anchors->daemon = daemon;
    anchors->work.data = anchors;
    anchors->config = daemon->config.ledger;
    anchors->day = -1;
    return anchors;
}

static void make(struct anchors *anchors)
{
    anchors->result = daemon_anchor_write(&anchors->config, &anchors->daemon->state, anchors->occasion,
                                          &anchors->stop, anchors->words);
}

static void report(const struct anchors *anchors)
{
    if (anchors->result < 0)
        daemon_log_event(LOG_ANCHOR_FAILED, LOG_OF(.alert = "anchor"), FAILS "%s", anchors->words);
    else if (anchors->words[0])
        daemon_log_event(LOG_ANCHOR_FAILED, LOG_OF(.alert = "anchor"), BARE "%s", anchors->words);
    else if (strcmp(anchors->config.target, ANCHOR_JOURNAL) != 0)
        daemon_log_event(LOG_ANCHOR, NULL, "the books are anchored");
}

static void alert(const struct anchors *anchors)
{
    struct session *session = anchors->daemon->session;
    const char *failing = anchors->result < 0 ? FAILS : anchors->words[0] ? BARE : NULL;
    static const char *const abouts[] = {FAILS, BARE};
    char text[ANCHOR_WORDS_MAX + sizeof FAILS];
    for (size_t i = 0; i < sizeof abouts / sizeof *abouts; i++)
        if (!failing || strcmp(abouts[i], failing) != 0)
            daemon_session_alert_over(session, "anchor", abouts[i]);
    if (!failing)
        return;
    snprintf(text, sizeof text, "%s%s", failing, anchors->words);
    daemon_session_alert_lasting(session, DB_WARNING, "anchor", failing, text);
}

static void on_thread(uv_work_t *work)
{
    make(work->data);
}

static void on_done(uv_work_t *work, int status)
{
    struct anchors *anchors = work->data;
    anchors->busy = false;
    if (status < 0 || anchors->daemon->stopping)
        return;
    report(anchors);
    alert(anchors);
    if (anchors->result < 0) {
        anchors->day = -1;
        anchors->retry_ms = uv_now(anchors->daemon->loop) + RETRY_MS;
    }
}

void daemon_anchors_look(struct anchors *anchors)
{
    struct daemon *daemon = anchors->daemon;
    int64_t day = clock_wall_ns() / DAY_NS;
    if (!anchors->config.target[0] || anchors->busy || day == anchors->day ||
        uv_now(daemon->loop) < anchors->retry_ms)
        return;
    anchors->occasion = anchors->day < 0 ? DB_HEAD_START : DB_HEAD_DAY;
    anchors->day = day;
    anchors->busy = uv_queue_work(daemon->loop, &anchors->work, on_thread, on_done) == 0;
}

void daemon_anchors_stop(struct anchors *anchors)
{
    atomic_store(&anchors->stop, true);
    if (anchors->busy)
        (void)uv_cancel((uv_req_t *)&anchors->work); /* it is called back either way */
}

void daemon_anchors_finish(struct anchors *anchors, bool clean)
{
    if (anchors && clean && anchors->config.target[0]) {
        atomic_store(&anchors->stop, false);
        anchors->occasion = DB_HEAD_STOP;
        make(anchors);
        report(anchors);
    }
    free(anchors);
}
