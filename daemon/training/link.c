#include "daemon/training/link.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/training/training.h"

enum { STARTING_TICK_MS = 50 };

const struct link_times daemon_training_link_times_default = {
    .tick = 1000,
    .answer = 10000,
    .silent = 5000,
    .kill = 60000,
    .start = 10000,
    .again = 1000,
    .again_max = 60000,
    .version = 5000,
};

/* A request from before the co-process was there. */
struct early {
    struct early *next;
    char *cmd;
    json_t *args;
    uint64_t due_ms;
    training_answer *answer;
    void *ctx;
};

struct training_link {
    struct training_link_config config;
    uv_timer_t timer;
    enum link_state state;
    char detail[LINK_DETAIL_MAX], version[LINK_VERSION_MAX];
    struct training_client *client;
    struct spawn *spawn, *dying; /* the process that was started; the one that was killed before that */
    struct early *early, **end;
    pid_t pid;
    char mark[SPAWN_MARK_MAX]; /* of what a daemon of this directory started */
    uint64_t received_ms;      /* 0: never */
    uint64_t silent_ms;        /* since when it accepts no connection; 0: it does */
    uint64_t start_by_ms;      /* what was started listens by then */
    uint64_t again_ms;         /* not started before */
    uint64_t pause_ms;         /* after the next failed start */
    uint64_t look_ms;          /* not asked again before */
    bool greeted, closed;
};

const char *daemon_training_link_state_name(enum link_state state)
{
    static const char *const names[LINK_STATES] = {
        [LINK_ABSENT] = "absent", [LINK_STARTING] = "starting", [LINK_OK] = "ok",
        [LINK_SILENT] = "silent", [LINK_VERSION] = "version",   [LINK_OFF] = "off"};
    return names[state];
}

static uint64_t now_of(const struct training_link *link)
{
    return uv_now(link->config.loop);
}

/* ---- requests that wait for it ---- */

static struct early *take_early(struct training_link *link)
{
    struct early *early = link->early;
    if (!early)
        return NULL;
    link->early = early->next;
    if (!link->early)
        link->end = &link->early;
    return early;
}

static void free_early(struct early *early)
{
    json_decref(early->args);
    free(early->cmd);
    free(early);
}

static void refuse_early(struct training_link *link, const char *code)
{
    char words[LINK_DETAIL_MAX + 80];
    struct early *early;
    snprintf(words, sizeof words, "the co-process is %s: %s", daemon_training_link_state_name(link->state),
             link->detail);
    daemon_training_clean(words);
    while ((early = take_early(link))) {
        daemon_training_fail(early->answer, early->ctx, code, words);
        free_early(early);
    }
}

static void send_early(struct training_link *link)
{
    struct early *early;
    while (link->client && link->state == LINK_OK && (early = take_early(link))) {
        uint64_t now = now_of(link), left = early->due_ms > now ? early->due_ms - now : 1;
        daemon_training_client_ask(link->client, early->cmd, json_incref(early->args), left, early->answer,
                                   early->ctx);
        free_early(early);
    }
}

/* Fails requests that waited too long. */
static void give_up_early(struct training_link *link)
{
    while (link->early && link->early->due_ms <= now_of(link)) {
        char words[LINK_DETAIL_MAX + 80];
        struct early *early = take_early(link);
        snprintf(words, sizeof words, "the co-process did not answer in %.3g s: it is %s%s%s",
                 (double)link->config.times.answer / 1000, daemon_training_link_state_name(link->state),
                 link->detail[0] ? ": " : "", link->detail);
        daemon_training_fail(early->answer, early->ctx, "ETIMEDOUT", words);
        free_early(early);
    }
}

/* ---- its state ---- */

static void on_tick(uv_timer_t *timer);

static void set_state(struct training_link *link, enum link_state state, const char *detail)
{
    char clean[LINK_DETAIL_MAX];
    snprintf(clean, sizeof clean, "%s", detail);
    daemon_training_clean(clean);
    if (link->state == state && strcmp(link->detail, clean) == 0)
        return;
    link->state = state;
    memcpy(link->detail, clean, sizeof clean);
    link->config.state(link->config.ctx);
}

static void failed_to_start(struct training_link *link, const char *why)
{
    char detail[LINK_DETAIL_MAX];
    const struct link_times *times = &link->config.times;
    link->start_by_ms = 0;
    link->pause_ms = link->pause_ms ? 2 * link->pause_ms : times->again;
    if (link->pause_ms > times->again_max)
        link->pause_ms = times->again_max;
    link->again_ms = now_of(link) + link->pause_ms;
    snprintf(detail, sizeof detail, "it was started, but does not listen: %.300s", why);
    set_state(link, LINK_ABSENT, detail);
    refuse_early(link, "ENOENT");
}

static void on_ended(void *ctx, const char *why)
{
    struct training_link *link = ctx;
    daemon_training_spawn_forget(link->spawn);
    link->spawn = NULL;
    if (link->state == LINK_STARTING)
        failed_to_start(link, why);
}

static void start(struct training_link *link)
{
    char err[LINK_DETAIL_MAX];
    struct spawn_config program = link->config.program;
    program.ctx = link;
    program.ended = on_ended;
    if (link->spawn) { /* it never listened, or was silent */
        daemon_training_spawn_kill(link->mark);
        daemon_training_spawn_forget(link->dying);
        link->dying = link->spawn;
        link->spawn = NULL;
        daemon_training_spawn_bury(&link->dying);
    }
    if (daemon_training_spawn_start(link->config.loop, &program, &link->spawn, err, sizeof err) < 0) {
        failed_to_start(link, err);
        return;
    }
    daemon_training_spawn_mark(daemon_training_spawn_pid(link->spawn), link->mark);
    link->start_by_ms = now_of(link) + link->config.times.start;
    link->config.started(link->config.ctx, link->mark);
    set_state(link, LINK_STARTING, "it was started, and does not listen yet");
    uv_timer_start(&link->timer, on_tick, STARTING_TICK_MS, 0);
}

static void no_listener(struct training_link *link)
{
    char detail[LINK_DETAIL_MAX];
    bool needed = link->early || link->config.needed(link->config.ctx);
    if (link->config.never) {
        snprintf(detail, sizeof detail, "[trainer] start = never, and no process listens at %.200s",
                 link->config.socket);
        set_state(link, LINK_OFF, detail);
        refuse_early(link, "ENOENT");
    } else if (link->config.by_unit) {
        snprintf(detail, sizeof detail,
                 "no process listens at %.200s: systemctl start papertape-trainer starts it",
                 link->config.socket);
        set_state(link, LINK_ABSENT, detail);
        refuse_early(link, "ENOENT");
    } else if (link->state == LINK_STARTING && now_of(link) < link->start_by_ms) {
        return;
    } else if (link->state == LINK_STARTING) {
        failed_to_start(link, "it has not said why");
    } else if (!needed) {
        set_state(link, LINK_ABSENT, "no process listens; the daemon starts it once it is needed");
    } else if (now_of(link) >= link->again_ms) {
        start(link);
    } else if (link->early) {
        refuse_early(link, "ENOENT");
    }
}

/* ---- greeting ---- */

static void let_go(struct training_link *link)
{
    struct training_client *client = link->client;
    link->client = NULL;
    link->greeted = false;
    link->pid = 0;
    daemon_training_client_destroy(client);
}

static bool same_folder(const char *a, const char *b)
{
    char real_a[PATH_MAX], real_b[PATH_MAX];
    return realpath(a, real_a) && realpath(b, real_b) && strcmp(real_a, real_b) == 0;
}

static void meet_other_version(struct training_link *link, const char *words)
{
    char detail[LINK_DETAIL_MAX];
    snprintf(detail, sizeof detail,
             "%.220s; its trainings continue: kill %d ends it with checkpoints, and one of this version "
             "continues from those",
             words, (int)link->pid);
    let_go(link);
    link->look_ms = now_of(link) + link->config.times.version;
    set_state(link, LINK_VERSION, detail);
    refuse_early(link, "EPROTO");
}

static void meet_other_folder(struct training_link *link, const char *folder)
{
    char detail[LINK_DETAIL_MAX];
    snprintf(detail, sizeof detail,
             "the process that listens at %.100s serves %.100s, not %.100s: another socket is needed",
             link->config.socket, folder, link->config.state_dir);
    let_go(link);
    link->look_ms = now_of(link) + link->config.times.silent;
    set_state(link, LINK_ABSENT, detail);
    refuse_early(link, "ENOENT");
}

static void greet(struct training_link *link);

static void on_hello(void *ctx, const json_t *answer)
{
    struct training_link *link = ctx;
    const json_t *result = json_object_get(answer, "result"), *error = json_object_get(answer, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    const char *version = json_string_value(json_object_get(result, "version"));
    const char *folder = json_string_value(json_object_get(result, "state_dir"));
    json_int_t protocol = json_integer_value(json_object_get(result, "protocol"));
    char words[LINK_DETAIL_MAX];
    if (link->closed || !link->client || (code && strcmp(code, "ECONNRESET") == 0))
        return; /* on_closed() reports it */
    if (code && strcmp(code, "ETIMEDOUT") == 0) {
        greet(link);
        return;
    }
    link->received_ms = now_of(link);
    snprintf(link->version, sizeof link->version, "%s", version ? version : "");
    daemon_training_clean(link->version);
    if (code && strcmp(code, "EPROTO") == 0) {
        meet_other_version(link, message);
        return;
    }
    if (code) {
        snprintf(words, sizeof words, "it refuses to be greeted: %.60s: %.250s", code, message);
        let_go(link);
        link->look_ms = now_of(link) + link->config.times.silent;
        set_state(link, LINK_SILENT, words);
        refuse_early(link, "EPROTO");
        return;
    }
    if (protocol != LINK_PROTOCOL) {
        snprintf(words, sizeof words,
                 "the co-process, %s, speaks protocol %lld, papertaped " PAPERTAPE_VERSION " speaks %d",
                 link->version[0] ? link->version : "of an unknown version", (long long)protocol,
                 LINK_PROTOCOL);
        meet_other_version(link, words);
        return;
    }
    if (!folder || !same_folder(folder, link->config.state_dir)) {
        meet_other_folder(link, folder ? folder : "it does not say what");
        return;
    }
    link->greeted = true;
    link->start_by_ms = link->again_ms = link->pause_ms = 0;
    set_state(link, LINK_OK, "");
    link->config.ready(link->config.ctx);
    send_early(link);
}

static void greet(struct training_link *link)
{
    daemon_training_client_ask(
        link->client, "hello",
        json_pack("{s:i, s:s}", "protocol", LINK_PROTOCOL, "client", "papertaped " PAPERTAPE_VERSION),
        link->config.times.answer, on_hello, link);
}

static void on_connected(void *ctx, pid_t pid)
{
    struct training_link *link = ctx;
    link->pid = pid;
    link->silent_ms = 0;
    greet(link);
}

static void on_bad(void *ctx, const char *why)
{
    struct training_link *link = ctx;
    link->config.bad(link->config.ctx, why);
}

static void on_closed(void *ctx, int error, const char *why)
{
    struct training_link *link = ctx;
    char detail[LINK_DETAIL_MAX];
    bool greeted = link->greeted;
    let_go(link);
    if (error == -ENOENT || error == -ECONNREFUSED) {
        link->silent_ms = 0;
        no_listener(link);
    } else if (error == -EAGAIN) {
        if (!link->silent_ms)
            link->silent_ms = now_of(link);
        set_state(link, LINK_SILENT, "it takes no connection");
    } else if (error == -EPROTO || error == -EPERM) {
        link->look_ms = now_of(link) + link->config.times.silent;
        set_state(link, LINK_SILENT, why);
        refuse_early(link, "EPROTO");
    } else if (link->state != LINK_STARTING) {
        snprintf(detail, sizeof detail, "%.300s", greeted ? "it left" : why);
        set_state(link, LINK_ABSENT, detail);
    }
}

/* ---- time ---- */

static void look(struct training_link *link)
{
    const struct training_client_hooks hooks = {
        .ctx = link, .connected = on_connected, .bad = on_bad, .closed = on_closed};
    if (!link->client && now_of(link) >= link->look_ms)
        link->client = daemon_training_client_create(link->config.loop, link->config.socket, &hooks);
}

/* Silent for too long: one that this daemon started is killed, and another started. False: it is another
 * process's, or will not end, and is left alone. */
static bool end_silent(struct training_link *link)
{
    char why[LINK_DETAIL_MAX], mark[SPAWN_MARK_MAX] = "";
    if (link->pid)
        daemon_training_spawn_mark(link->pid, mark);
    if (!link->mark[0] || (link->pid && strcmp(mark, link->mark) != 0))
        return false;
    int r = daemon_training_spawn_kill(link->mark);
    if (r < 0 && r != -ESRCH)
        return false;
    snprintf(why, sizeof why,
             "the co-process (process %d) was silent for %llu s and was ended: another is started",
             (int)strtol(link->mark, NULL, 10), (unsigned long long)(link->config.times.kill / 1000));
    link->mark[0] = '\0';
    link->silent_ms = 0;
    link->config.killed(link->config.ctx, why);
    let_go(link);
    set_state(link, LINK_ABSENT, "it was silent and was ended");
    return true;
}

static void watch(struct training_link *link)
{
    uint64_t silent = link->client ? daemon_training_client_silent_ms(link->client) : 0;
    char detail[LINK_DETAIL_MAX];
    if (link->silent_ms && now_of(link) - link->silent_ms > silent)
        silent = now_of(link) - link->silent_ms;
    if (silent >= link->config.times.kill && end_silent(link))
        return;
    if (silent >= link->config.times.silent) {
        bool probe = link->state != LINK_SILENT && link->greeted;
        snprintf(detail, sizeof detail, "the co-process (process %d) does not answer", (int)link->pid);
        set_state(link, LINK_SILENT, link->pid ? detail : "it takes no connection");
        if (probe) /* whatever it is that it answers next */
            greet(link);
    } else if (link->state == LINK_SILENT && link->greeted) {
        set_state(link, LINK_OK, "");
        send_early(link);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct training_link *link = timer->data;
    watch(link);
    look(link);
    give_up_early(link);
    uv_timer_start(timer, on_tick, link->state == LINK_STARTING ? STARTING_TICK_MS : link->config.times.tick,
                   0);
}

static void wake(struct training_link *link)
{
    uv_timer_start(&link->timer, on_tick, 0, 0);
}

void daemon_training_link_ask(struct training_link *link, const char *cmd, json_t *args,
                              training_answer *answer, void *ctx)
{
    struct early *early;
    if (link->state == LINK_OK && link->client) {
        daemon_training_client_ask(link->client, cmd, args, link->config.times.answer, answer, ctx);
        return;
    }
    early = calloc(1, sizeof *early);
    if (early)
        *early = (struct early){.cmd = strdup(cmd),
                                .args = args ? args : json_object(),
                                .due_ms = now_of(link) + link->config.times.answer,
                                .answer = answer,
                                .ctx = ctx};
    if (!early || !early->cmd || link->closed) {
        if (early)
            free_early(early);
        else
            json_decref(args);
        daemon_training_fail(answer, ctx, link->closed ? "ESHUTDOWN" : "ENOMEM",
                             link->closed ? "the daemon is stopping" : "out of memory");
        return;
    }
    *link->end = early;
    link->end = &early->next;
    if (now_of(link) < link->look_ms) /* it has another version, and is not asked again for a while */
        refuse_early(link, link->state == LINK_ABSENT ? "ENOENT" : "EPROTO");
    else
        wake(link);
}

void daemon_training_link_started_before(struct training_link *link, const char *mark)
{
    snprintf(link->mark, sizeof link->mark, "%s", mark);
}

void daemon_training_link_view(const struct training_link *link, struct link_view *ret)
{
    *ret = (struct link_view){
        .state = link->state,
        .detail = link->detail,
        .version = link->version,
        .pid = link->pid,
        .age_ms = link->received_ms ? now_of(link) - link->received_ms : UINT64_MAX,
    };
    if (link->client && link->greeted)
        ret->age_ms = daemon_training_client_age_ms(link->client);
}

static void freed(uv_handle_t *handle)
{
    free(handle->data);
}

struct training_link *daemon_training_link_create(const struct training_link_config *config)
{
    struct training_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->config = *config;
    link->end = &link->early;
    snprintf(link->detail, sizeof link->detail, "it was not looked for yet");
    uv_timer_init(config->loop, &link->timer);
    link->timer.data = link;
    wake(link);
    return link;
}

void daemon_training_link_destroy(struct training_link *link)
{
    if (!link)
        return;
    link->closed = true;
    link->state = LINK_ABSENT;
    snprintf(link->detail, sizeof link->detail, "the daemon is stopping");
    refuse_early(link, "ESHUTDOWN");
    let_go(link);
    daemon_training_spawn_forget(link->spawn);
    daemon_training_spawn_forget(link->dying);
    uv_close((uv_handle_t *)&link->timer, freed);
}
