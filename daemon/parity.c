#include "daemon/parity.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/program.h"
#include "daemon/reach.h"
#include "exchange/clock.h"
#include "record/json.h"
#include "record/status.h"

enum {
    TICK_MS = 20000,
    SETTLED_MS = 120000,           /* after a start, before an overdue check */
    CHILD_MAX_MS = 60 * 60 * 1000, /* no log takes so long */
    OUTPUT_MAX = 64 << 10,
    CHILD_NICE = 10,
    DETAIL_MAX = 400,
};

#define DAY_NS    (86400 * 1000000000LL)
#define MINUTE_NS (60 * 1000000000LL)

/* A child's output, up to a bound. */
struct child_output {
    uv_pipe_t pipe;
    char text[OUTPUT_MAX];
    size_t len;
    char rest[4096]; /* what is beyond it is read and dropped */
};

struct parity {
    struct daemon *daemon;
    uv_timer_t tick, limit;
    uv_process_t child;
    struct child_output out, err;
    int open_handles; /* of the child's three */
    bool running, late, stopped;
    int64_t exit_status;
    int signal;
    /* the last comparison's result */
    const char *state; /* "none", "ok", "failed" */
    int64_t checked_ns, since_ns, to_ns;
    uint64_t seq;
    char detail[DETAIL_MAX];
    /* and of the last check that could not compare */
    int64_t tried_ns;
    char error[DETAIL_MAX]; /* "": the last one did */
};

static int64_t days(const struct parity *parity)
{
    return parity->since_ns > 0 ? (parity->to_ns - parity->since_ns) / DAY_NS : -1;
}

/* ---- what is kept ---- */

static void put_number(struct db_writer *writer, const char *key, int64_t value)
{
    char text[32] = "";
    if (value >= 0)
        snprintf(text, sizeof text, "%lld", (long long)value);
    db_writer_put_meta(writer, key, text);
}

static void keep(const struct parity *parity)
{
    struct db_writer *writer = daemon_session_writer(parity->daemon->session);
    db_writer_group_begin(writer);
    db_writer_put_meta(writer, "parity_state", parity->state);
    db_writer_put_meta(writer, "parity_detail", parity->detail);
    put_number(writer, "parity_ns", parity->checked_ns);
    put_number(writer, "parity_days", days(parity));
    put_number(writer, "parity_since_ns", parity->since_ns);
    put_number(writer, "parity_to_ns", parity->to_ns);
    put_number(writer, "parity_seq", (int64_t)parity->seq);
    db_writer_group_end(writer);
}

static int64_t meta_number(struct db_reader *reader, const char *key)
{
    char text[32];
    return db_reader_meta(reader, key, text, sizeof text) == 0 ? strtoll(text, NULL, 10) : 0;
}

void daemon_parity_remember(struct parity *parity, struct db_reader *reader)
{
    char state[16];
    if (db_reader_meta(reader, "parity_state", state, sizeof state) < 0)
        return;
    parity->state = strcmp(state, "ok") == 0 ? "ok" : strcmp(state, "failed") == 0 ? "failed" : "none";
    if (db_reader_meta(reader, "parity_detail", parity->detail, sizeof parity->detail) < 0)
        parity->detail[0] = '\0';
    parity->checked_ns = meta_number(reader, "parity_ns");
    parity->since_ns = meta_number(reader, "parity_since_ns");
    parity->to_ns = meta_number(reader, "parity_to_ns");
    parity->seq = (uint64_t)meta_number(reader, "parity_seq");
}

/* ---- the result ---- */

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void report_difference(struct parity *parity, const json_t *difference)
{
    parity->state = "failed";
    parity->since_ns = 0;
    parity->seq = (uint64_t)json_integer_value(json_object_get(difference, "seq"));
    snprintf(parity->detail, sizeof parity->detail,
             "%.16s %lld %.24s: the log gives %.48s, recorded is %.48s: event %llu (%.160s)",
             member(difference, "table"), (long long)json_integer_value(json_object_get(difference, "id")),
             member(difference, "field"), member(difference, "replayed"), member(difference, "recorded"),
             (unsigned long long)parity->seq, member(difference, "event"));
}

/* False when nothing was compared: the earlier result stands. */
static bool take_report(struct parity *parity, const json_t *report)
{
    const json_t *difference = json_object_get(report, "difference");
    if (json_is_true(json_object_get(report, "equal"))) {
        int64_t from_ns = json_integer_value(json_object_get(report, "from_ns"));
        if (strcmp(parity->state, "ok") != 0 || parity->since_ns == 0 || from_ns < parity->since_ns)
            parity->since_ns = from_ns;
        parity->state = "ok";
        parity->detail[0] = '\0';
        parity->to_ns = json_integer_value(json_object_get(report, "to_ns"));
        parity->seq = (uint64_t)json_integer_value(json_object_get(report, "to_seq"));
    } else if (json_is_object(difference)) {
        report_difference(parity, difference);
    } else if (json_is_true(json_object_get(report, "altered"))) {
        parity->state = "failed";
        parity->since_ns = 0;
        parity->seq = 0;
        snprintf(parity->detail, sizeof parity->detail, "the event log was altered: %.200s",
                 member(report, "error"));
    } else {
        return false;
    }
    return true;
}

/* Why nothing was compared. */
static void explain_error(struct parity *parity, const json_t *report)
{
    size_t size = sizeof parity->error;
    if (report)
        snprintf(parity->error, size, "%.220s", member(report, "error"));
    else if (parity->late)
        snprintf(parity->error, size, "it took longer than an hour");
    else if (parity->err.len > 0)
        snprintf(parity->error, size, "%.*s", (int)strcspn(parity->err.text, "\n"), parity->err.text);
    else
        snprintf(parity->error, size, "papertape ended with status %lld, signal %d",
                 (long long)parity->exit_status, parity->signal);
}

/* The beginning of the alert that ends with the next comparison that can run; a difference stays until it
 * is acknowledged. */
#define PARITY_FAILED "the comparison could not run"

static void report_result(const struct parity *parity)
{
    struct session *session = parity->daemon->session;
    char text[DETAIL_MAX + 80];
    if (parity->error[0]) {
        snprintf(text, sizeof text, PARITY_FAILED ": %s", parity->error);
        daemon_log_event(LOG_PARITY_FAILED, LOG_OF(.alert = "parity"), "parity: %s", text);
        daemon_session_alert_lasting(session, DB_WARNING, "parity", PARITY_FAILED, text);
    } else if (strcmp(parity->state, "ok") == 0) {
        daemon_log_event(LOG_PARITY_OK, NULL, "parity: ok up to event %llu", (unsigned long long)parity->seq);
        daemon_session_alert_over(session, "parity", PARITY_FAILED);
    } else {
        daemon_log_event(LOG_PARITY_FAILED, LOG_OF(.alert = "parity"), "parity: %s", parity->detail);
        daemon_session_alert(session, DB_ERROR, "parity", parity->detail);
    }
}

static void finish(struct parity *parity)
{
    json_t *report = json_loadb(parity->out.text, parity->out.len, 0, NULL);
    parity->running = false;
    parity->tried_ns = clock_wall_ns();
    parity->error[0] = '\0';
    if (report && take_report(parity, report)) {
        parity->checked_ns = parity->tried_ns;
        keep(parity);
    } else {
        explain_error(parity, report);
    }
    report_result(parity);
    json_decref(report);
}

void daemon_parity_log_replaced(struct parity *parity)
{
    if (parity->since_ns == 0)
        return;
    parity->since_ns = 0;
    parity->state = "none";
    snprintf(parity->detail, sizeof parity->detail, "a new event log was started");
    keep(parity);
}

/* ---- the child ---- */

static void part_closed(uv_handle_t *handle)
{
    struct parity *parity = handle->data;
    if (--parity->open_handles > 0)
        return;
    if (parity->stopped)
        free(parity);
    else
        finish(parity);
}

static void exited(uv_process_t *child, int64_t status, int number)
{
    struct parity *parity = child->data;
    parity->exit_status = status;
    parity->signal = number;
    if (!parity->stopped)
        uv_timer_stop(&parity->limit);
    uv_close((uv_handle_t *)child, part_closed);
}

static void give_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct child_output *output = (struct child_output *)handle;
    (void)suggested;
    if (output->len < sizeof output->text - 1)
        *buf = uv_buf_init(output->text + output->len, (unsigned)(sizeof output->text - 1 - output->len));
    else
        *buf = uv_buf_init(output->rest, sizeof output->rest);
}

static void have_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct child_output *output = (struct child_output *)stream;
    if (n < 0) {
        uv_close((uv_handle_t *)stream, part_closed);
    } else if (buf->base != output->rest) {
        output->len += (size_t)n;
        output->text[output->len] = '\0';
    }
}

static void on_limit(uv_timer_t *timer)
{
    struct parity *parity = timer->data;
    parity->late = true;
    uv_process_kill(&parity->child, SIGKILL);
}

int daemon_parity_start(struct parity *parity)
{
    struct daemon *daemon = parity->daemon;
    char path[PATH_MAX];
    if (parity->running)
        return -EBUSY;
    const char *program = daemon_program_find("papertape", "tui", path);
    const char *const arguments[] = {program, "parity", "--json", "--state", daemon->state.path, NULL};
    struct child_output *outputs[] = {&parity->out, &parity->err};
    for (size_t i = 0; i < 2; i++) {
        outputs[i]->len = 0;
        outputs[i]->text[0] = '\0';
        uv_pipe_init(daemon->loop, &outputs[i]->pipe, 0);
        outputs[i]->pipe.data = parity;
    }
    uv_stdio_container_t streams[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&parity->out.pipe},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&parity->err.pipe},
    };
    uv_process_options_t options = {
        .exit_cb = exited, .file = program, .args = (char **)arguments, .stdio_count = 3, .stdio = streams};
    parity->running = true;
    parity->late = false;
    parity->exit_status = parity->signal = 0;
    parity->open_handles = 3;
    int r = uv_spawn(daemon->loop, &parity->child, &options);
    parity->child.data = parity;
    if (r < 0) {
        parity->out.len = 0;
        parity->err.len = (size_t)snprintf(
            parity->err.text, sizeof parity->err.text, "%.100s: %s: %s", program, uv_strerror(r),
            r == UV_ENOENT ? "papertape must be beside papertaped, or in its $PATH" : "it must be runnable");
        uv_close((uv_handle_t *)&parity->child, part_closed);
        uv_close((uv_handle_t *)&parity->out.pipe, part_closed);
        uv_close((uv_handle_t *)&parity->err.pipe, part_closed);
        return 0;
    }
    /* It has a night; a decision has milliseconds. A sandbox may forbid the change, which only costs the
     * lower priority. */
    if (setpriority(PRIO_PROCESS, (id_t)parity->child.pid, CHILD_NICE) < 0)
        daemon_log_debug("parity: the child's priority: %s", strerror(errno));
    for (size_t i = 0; i < 2; i++)
        if (uv_read_start((uv_stream_t *)&outputs[i]->pipe, give_buffer, have_read) < 0)
            uv_close((uv_handle_t *)&outputs[i]->pipe, part_closed);
    uv_timer_start(&parity->limit, on_limit, CHILD_MAX_MS, 0);
    return 0;
}

/* ---- when ---- */

static void on_tick(uv_timer_t *timer)
{
    struct parity *parity = timer->data;
    struct daemon *daemon = parity->daemon;
    int minute = daemon->config.parity_minute;
    if (minute < 0 || daemon->config.clock != CLOCK_WALL || parity->running || daemon->stopping ||
        !daemon_session_started(daemon->session))
        return;
    int64_t now = clock_wall_ns(), due = now - now % DAY_NS + minute * MINUTE_NS;
    if (due > now)
        due -= DAY_NS;
    bool settled = uv_now(daemon->loop) - daemon->started_ms >= SETTLED_MS;
    /* A time in the future comes from a clock that was ahead. */
    bool checked = parity->checked_ns >= due && parity->checked_ns <= now;
    bool tried = parity->tried_ns >= due && parity->tried_ns <= now;
    if (!checked && !tried && (settled || now - due < 2LL * TICK_MS * 1000000))
        daemon_parity_start(parity);
}

struct parity *daemon_parity_create(struct daemon *daemon)
{
    struct parity *parity = calloc(1, sizeof *parity);
    if (!parity)
        return NULL;
    parity->daemon = daemon;
    parity->state = "none";
    uv_timer_init(daemon->loop, &parity->tick);
    uv_timer_init(daemon->loop, &parity->limit);
    parity->tick.data = parity->limit.data = parity;
    uv_timer_start(&parity->tick, on_tick, TICK_MS, TICK_MS);
    return parity;
}

RECORD_VIEW_OBJECT(parity_object, parity_view, RECORD_SHOWN_PARITY);

json_t *daemon_parity_object(const struct parity *parity)
{
    const struct parity_view view = {
        .state = parity->running ? "running" : parity->state,
        .days = parity->since_ns > 0 ? days(parity) : -1,
        .since_ns = parity->since_ns,
        .checked_ns = parity->checked_ns,
        .seq = (int64_t)parity->seq,
        .database_rows = daemon_reach_rows(parity->daemon->reach),
        .detail = parity->detail,
        .error = parity->error,
    };
    return parity_object(&view);
}

void daemon_parity_stop(struct parity *parity)
{
    if (!parity)
        return;
    parity->stopped = true;
    if (parity->running)
        uv_process_kill(&parity->child, SIGKILL);
    else
        parity->open_handles = 0;
    parity->open_handles += 2;
    uv_close((uv_handle_t *)&parity->tick, part_closed);
    uv_close((uv_handle_t *)&parity->limit, part_closed);
}
