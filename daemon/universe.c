#include "daemon/universe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/universe_look.h"
#include "engine/engine.h"
#include "engine/event.h"

enum { TICK_MS = 1000, AGAIN = 3, LIST_MAX = SYMBOLS_MAX * (SYMBOL_NAME_MAX + 2) };

#define EMPTY "[market] universe: no symbol is in" /* what the alert's text begins with */

static const int64_t stored_ns = 10 * INT64_C(1000000000); /* after which a time's bars are in the database */
/* Since the symbols are as they are now: their history may come later. */
static const uint64_t again_ms[AGAIN] = {10000, 60000, 300000};

struct universe_watch {
    struct daemon *daemon;
    uv_timer_t tick;
    uv_work_t work;
    struct engine_universe_rule rule;
    int64_t looked_ns; /* the rule's time that was looked at last */
    int n_symbols, n_again;
    uint64_t since_ms; /* there are so many symbols */
    bool has_rule, busy, started, stopped, closed;
    struct universe_look look; /* the thread's while busy */
};

static void release(struct universe_watch *watch)
{
    if (!watch->closed || watch->busy)
        return;
    daemon_universe_look_finish(&watch->look);
    free(watch);
}

/* ---- what a look gave ---- */

/* Was it not so before? */
static bool give(struct universe_watch *watch, int symbol, bool in)
{
    struct session *session = watch->daemon->session;
    struct engine_symbol_view view;
    engine_symbol_view(daemon_session_engine(session), symbol, &view);
    struct event event = {.kind = EVENT_UNIVERSE, .universe = {symbol, in}};
    if (view.out == in)
        daemon_session_event(session, &event);
    return view.out == in;
}

static void add_name(char *list, const char *name)
{
    const size_t at = strlen(list);
    snprintf(list + at, LIST_MAX - at, "%s%s", at > 0 ? ", " : "", name);
}

static void say(const struct universe_watch *watch)
{
    char in[LIST_MAX] = "", out[LIST_MAX] = "";
    const struct universe_look *look = &watch->look;
    for (int i = 0; i < look->n; i++)
        add_name(look->symbols[i].in ? in : out, look->symbols[i].name);
    daemon_log_info("universe: %s: in: %s; out: %s", watch->rule.text, *in ? in : "none",
                    *out ? out : "none");
}

/* After a while, a few times. */
static void look_again(struct universe_watch *watch)
{
    watch->n_again = 0;
    watch->since_ms = uv_now(watch->daemon->loop);
}

/* An alert while no symbol is in. */
static void say_empty(const struct universe_watch *watch)
{
    const struct universe_look *look = &watch->look;
    char why[UNIVERSE_TEXT_MAX], text[2 * UNIVERSE_TEXT_MAX];
    if (look->n_in > 0 || look->n == 0) {
        daemon_session_alert_over(watch->daemon->session, "universe", EMPTY);
        return;
    }
    engine_universe_empty_text(&watch->rule, look->highest, look->symbols[look->highest_symbol].name, why);
    snprintf(text, sizeof text, EMPTY ", so that nothing is entered: %s, by the bars that are stored", why);
    daemon_session_alert_lasting(watch->daemon->session, DB_WARNING, "universe", EMPTY, text);
}

static void take(struct universe_watch *watch)
{
    struct session *session = watch->daemon->session;
    const struct universe_look *look = &watch->look;
    bool changed = false;
    if (look->error[0]) {
        look_again(watch);
        daemon_session_alert_lasting(session, DB_WARNING, "universe", UNIVERSE_UNREAD, look->error);
        return;
    }
    daemon_session_alert_over(session, "universe", UNIVERSE_UNREAD);
    say_empty(watch);
    for (int i = 0; i < look->n; i++) {
        const int symbol = engine_find_symbol(daemon_session_engine(session), look->symbols[i].name);
        changed |= symbol >= 0 && give(watch, symbol, look->symbols[i].in);
    }
    if (changed)
        say(watch);
}

/* ---- when ---- */

/* The rule's last time of which the bars are stored; none before one that was looked at, though a clock
 * steps. */
static int64_t last_time(const struct universe_watch *watch)
{
    const int64_t now_ns = daemon_session_now(watch->daemon->session);
    const int64_t last_ns = engine_universe_last(&watch->rule, now_ns - stored_ns);
    return last_ns > watch->looked_ns ? last_ns : watch->looked_ns;
}

/* Prepares a look at one of the rule's times, of the symbols that there are now. False: there is no memory.
 */
static bool prepare(struct universe_watch *watch, int64_t at_ns)
{
    const struct engine *engine = daemon_session_engine(watch->daemon->session);
    if (watch->n_symbols != engine_symbols(engine)) {
        watch->n_symbols = engine_symbols(engine);
        look_again(watch);
    }
    if (daemon_universe_look_begin(&watch->look, &watch->rule, watch->daemon->state.database, engine, at_ns) <
        0)
        return false;
    watch->looked_ns = at_ns;
    return true;
}

static void on_thread(uv_work_t *work)
{
    struct universe_watch *watch = work->data;
    daemon_universe_look(&watch->look);
}

static void on_done(uv_work_t *work, int status)
{
    struct universe_watch *watch = work->data;
    watch->busy = false;
    if (watch->stopped)
        release(watch);
    else if (status == 0 && !watch->daemon->stopping)
        take(watch);
}

static bool is_due(struct universe_watch *watch, int64_t at_ns)
{
    const uint64_t for_ms = uv_now(watch->daemon->loop) - watch->since_ms;
    if (at_ns != watch->looked_ns ||
        watch->n_symbols != engine_symbols(daemon_session_engine(watch->daemon->session)))
        return true;
    if (watch->n_again == AGAIN || for_ms < again_ms[watch->n_again])
        return false;
    watch->n_again++;
    return true;
}

static void on_tick(uv_timer_t *timer)
{
    struct universe_watch *watch = timer->data;
    if (!watch->started || watch->busy || watch->daemon->stopping)
        return;
    const int64_t at_ns = last_time(watch);
    if (is_due(watch, at_ns) && prepare(watch, at_ns))
        watch->busy = uv_queue_work(watch->daemon->loop, &watch->work, on_thread, on_done) == 0;
}

struct universe_watch *daemon_universe_create(struct daemon *daemon)
{
    char why[UNIVERSE_ERROR_MAX];
    struct universe_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->daemon = daemon;
    watch->looked_ns = INT64_MIN;
    watch->work.data = watch;
    watch->has_rule =
        daemon->config.universe[0] && engine_universe_parse(daemon->config.universe, &watch->rule, why) == 0;
    uv_timer_init(daemon->loop, &watch->tick);
    watch->tick.data = watch;
    if (watch->has_rule)
        uv_timer_start(&watch->tick, on_tick, TICK_MS, TICK_MS);
    return watch;
}

void daemon_universe_started(struct universe_watch *watch)
{
    const struct engine *engine = daemon_session_engine(watch->daemon->session);
    watch->started = true;
    for (int s = 0; !watch->has_rule && s < engine_symbols(engine); s++)
        give(watch, s, true);
    if (watch->has_rule && prepare(watch, last_time(watch))) {
        daemon_universe_look(&watch->look);
        take(watch);
    }
}

int64_t daemon_universe_looked(const struct universe_watch *watch)
{
    return watch && watch->has_rule && watch->looked_ns > INT64_MIN ? watch->looked_ns : 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct universe_watch *watch = handle->data;
    watch->closed = true;
    release(watch);
}

void daemon_universe_stop(struct universe_watch *watch)
{
    if (!watch)
        return;
    watch->stopped = true;
    uv_close((uv_handle_t *)&watch->tick, on_closed);
    if (watch->busy)
        (void)uv_cancel((uv_req_t *)&watch->work); /* it is called back either way */
}
