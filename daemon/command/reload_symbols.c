/* Symbols that a reload adds and removes. What a command added or removed stays so until the file says
 * otherwise. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/reload.h"
#include "daemon/log.h"
#include "exchange/nearest.h"

/* ---- on the thread: what differs ---- */

static bool is_in(const struct daemon_config *config, int venue, const char *name)
{
    for (int s = 0; s < config->n_symbols; s++)
        if (config->symbol_venues[s] == venue && strcmp(config->symbols[s], name) == 0)
            return true;
    return false;
}

/* Venues have the same numbers in both. */
static int take_difference(const struct daemon_config *from, const struct daemon_config *other,
                           struct reload_symbols *ret)
{
    ret->names = calloc((size_t)from->n_symbols + 1, sizeof *ret->names);
    ret->venues = calloc((size_t)from->n_symbols + 1, sizeof *ret->venues);
    if (!ret->names || !ret->venues)
        return -ENOMEM;
    for (int s = 0; s < from->n_symbols; s++)
        if (!is_in(other, from->symbol_venues[s], from->symbols[s])) {
            ret->venues[ret->n] = from->symbol_venues[s];
            memcpy(ret->names[ret->n++], from->symbols[s], sizeof *ret->names);
        }
    return 0;
}

int daemon_reload_compare(struct reload *reload)
{
    int r = take_difference(reload->merged, reload->running, &reload->added);
    if (r == 0)
        r = take_difference(reload->running, reload->merged, &reload->removed);
    reload->listed = r == 0 ? calloc((size_t)reload->added.n + 1, sizeof *reload->listed) : NULL;
    return reload->listed ? 0 : -ENOMEM;
}

void daemon_reload_symbols_finish(struct reload *reload)
{
    free(reload->added.names);
    free(reload->added.venues);
    free(reload->removed.names);
    free(reload->removed.venues);
    free(reload->listed);
}

/* ---- are they listed? ---- */

static struct feed *feed_of(const struct reload *reload, const struct reload_symbols *symbols, int i)
{
    return feeds_at(reload->commands->daemon->feeds, symbols->venues[i]);
}

static const char *venue_name(const struct reload *reload, int venue)
{
    return reload->merged->venues[venue].venue->format->name;
}

static bool is_new_venue(const struct reload *reload, int venue)
{
    return venue >= (int)feeds_count(reload->commands->daemon->feeds);
}

/* As "[market] symbols: ", at that key. */
static void refuse_symbol(struct reload *reload, int venue, const char *name, const char *why)
{
    if (venue == 0)
        daemon_reload_refuse(reload, "[market] symbols: %s: %s", name, why);
    else
        daemon_reload_refuse(reload, "[venue %s] symbols: %s: %s", venue_name(reload, venue), name, why);
}

/* Streamed already, by a command. */
static bool is_there(const struct reload *reload, int i)
{
    struct feed *feed = feed_of(reload, &reload->added, i);
    int index = feed_symbol_named(feed, reload->added.names[i]);
    return index >= 0 && feed_streams_symbol(feed, index);
}

struct asked_venue {
    struct reload *reload;
    int first, n; /* of the added ones */
};

static void take_listed(struct reload *reload, int i, const struct venue_symbol *listed_now)
{
    char why[VENUE_DETAIL_MAX + 80];
    int venue = reload->added.venues[i];
    if (is_there(reload, i))
        return;
    if (listed_now->found) {
        reload->listed[i] = listed_now->symbol;
        return;
    }
    snprintf(why, sizeof why, "%s %s%s", venue_name(reload, venue), feed_unlisted(listed_now),
             NEAREST_SUGGEST(listed_now->nearest));
    refuse_symbol(reload, venue, reload->added.names[i], why);
}

static void have_listed(void *user, const char *code, const char *why, const struct venue_symbol *list)
{
    struct asked_venue *asked = user;
    struct reload *reload = asked->reload;
    if (code)
        refuse_symbol(reload, reload->added.venues[asked->first], reload->added.names[asked->first], why);
    for (int i = 0; i < asked->n && !code; i++)
        take_listed(reload, asked->first + i, &list[i]);
    free(asked);
    if (--reload->asked == 0)
        daemon_reload_go(reload);
}

static void ask_venue(struct reload *reload, int first, int n)
{
    struct feed *feed = feed_of(reload, &reload->added, first);
    if (!feed_is_up(feed) && !is_new_venue(reload, reload->added.venues[first])) {
        refuse_symbol(reload, reload->added.venues[first], reload->added.names[first],
                      "the venue is not there now, and cannot say whether it lists it");
        return;
    }
    struct asked_venue *asked = calloc(1, sizeof *asked);
    if (asked) {
        *asked = (struct asked_venue){reload, first, n};
        reload->asked++;
        if (feed_find_symbols(feed, (const char(*)[SYMBOL_NAME_MAX])reload->added.names + first, n,
                              have_listed, asked) == 0)
            return;
        reload->asked--;
    }
    free(asked);
    daemon_reload_refuse(reload, "out of memory");
}

/* Venues that only the file has, in its order. False: one cannot be. */
static bool try_venues(struct reload *reload)
{
    struct feeds *feeds = reload->commands->daemon->feeds;
    char why[SESSION_ERROR_MAX] = "";
    for (int v = (int)feeds_count(feeds); v < reload->merged->n_venues; v++) {
        const struct daemon_config_venue *venue = &reload->merged->venues[v];
        if (feeds_try(feeds, venue, venue->keys[0] ? &reload->keys[v] : NULL, why, sizeof why) == 0)
            continue;
        daemon_reload_refuse(reload, "[venue %s] %s", venue_name(reload, v), why);
        return false;
    }
    return true;
}

void daemon_reload_ask(struct reload *reload)
{
    const struct reload_symbols *added = &reload->added;
    if (!try_venues(reload)) {
        daemon_reload_go(reload);
        return;
    }
    reload->asked = 1; /* this function itself */
    for (int first = 0, n; first < added->n; first += n) {
        bool all_there = is_there(reload, first);
        for (n = 1; first + n < added->n && added->venues[first + n] == added->venues[first]; n++)
            all_there &= is_there(reload, first + n);
        if (!all_there)
            ask_venue(reload, first, n);
    }
    if (--reload->asked == 0)
        daemon_reload_go(reload);
}

/* ---- can it be done now? ---- */

static void judge_added(struct reload *reload, int i)
{
    const struct daemon_config *merged = reload->merged;
    const struct feeds *feeds = reload->commands->daemon->feeds;
    const struct engine *engine = daemon_session_engine(reload->commands->daemon->session);
    const char *name = reload->added.names[i];
    int venue = reload->added.venues[i], index = engine_find_symbol(engine, name);
    char why[120];
    if (index >= 0 && feeds_of(feeds, index) != feeds_at(feeds, (size_t)venue)) {
        snprintf(why, sizeof why, "it was a symbol of %s in this run: that needs a restart",
                 engine_symbol(engine, index)->venue);
        refuse_symbol(reload, venue, name, why);
    } else if (!is_there(reload, i) &&
               !feed_has_streams(feeds_at(feeds, (size_t)venue), name,
                                 daemon_config_streams(merged, &merged->venues[venue]))) {
        snprintf(why, sizeof why, "%s has none of the streams that are subscribed",
                 venue_name(reload, venue));
        refuse_symbol(reload, venue, name, why);
    }
}

/* One in use stays. */
static bool is_in_use(const struct reload *reload, int index)
{
    const char *why;
    const struct engine *engine = daemon_session_engine(reload->commands->daemon->session);
    return index >= 0 && daemon_command_symbol_user(engine, index, &why);
}

/* Streamed until now, and from then on no longer. */
static bool leaves(const struct reload *reload, int i)
{
    struct feed *feed = feed_of(reload, &reload->removed, i);
    int index = feed_symbol_named(feed, reload->removed.names[i]);
    return index >= 0 && feed_streams_symbol(feed, index) && !is_in_use(reload, index);
}

/* How many symbols will be streamed, and how many the engine will know. */
static void judge_number(struct reload *reload)
{
    const struct daemon *daemon = reload->commands->daemon;
    const struct engine *engine = daemon_session_engine(daemon->session);
    int streamed = 0, known = engine_symbols(engine);
    for (int s = 0; s < engine_symbols(engine); s++)
        streamed += feeds_stream_symbol(daemon->feeds, s);
    for (int i = 0; i < reload->removed.n; i++)
        streamed -= leaves(reload, i);
    for (int i = 0; i < reload->added.n; i++) {
        streamed += !is_there(reload, i);
        known += engine_find_symbol(engine, reload->added.names[i]) < 0;
    }
    if (streamed <= 0)
        daemon_reload_refuse(reload, "[market] symbols: no symbol would be streamed: the others were removed "
                                     "by papertape symbol remove");
    if (known > SYMBOLS_MAX)
        daemon_reload_refuse(reload, "[market] symbols: %d would be known, and there can be %d", known,
                             SYMBOLS_MAX);
}

void daemon_reload_judge(struct reload *reload)
{
    for (int i = 0; i < reload->added.n; i++)
        judge_added(reload, i);
    judge_number(reload);
}

/* ---- both ---- */

static void put_as_configured(struct reload *reload, int index)
{
    db_writer_put_streamed(daemon_session_writer(reload->commands->daemon->session), index, -1);
}

static bool is_added(const struct reload *reload, int index)
{
    for (int i = 0; i < reload->added.n; i++)
        if (feed_symbol_named(feed_of(reload, &reload->added, i), reload->added.names[i]) == index)
            return true;
    return false;
}

/* What was left out before, and is in use no longer. */
static void remove_left(const struct reload *reload)
{
    const struct engine *engine = daemon_session_engine(reload->commands->daemon->session);
    for (int s = 0; s < engine_symbols(engine); s++) {
        struct feed *feed = feeds_of(reload->commands->daemon->feeds, s);
        if (feed && feed_leaves_out(feed, s) && !is_in_use(reload, s) && !is_added(reload, s))
            feed_remove_symbol(feed, s, false);
    }
}

void daemon_reload_remove(struct reload *reload)
{
    remove_left(reload);
    for (int i = 0; i < reload->removed.n; i++) {
        struct feed *feed = feed_of(reload, &reload->removed, i);
        int index = feed_symbol_named(feed, reload->removed.names[i]);
        if (leaves(reload, i)) {
            feed_remove_symbol(feed, index, false);
        } else if (index >= 0) {
            put_as_configured(reload, index);
            feed_leave_out(feed, index, true);
        }
    }
}

/* They are venues from now on, and the numbers of their symbols follow each other. */
static void join_venues(struct reload *reload, int first_new)
{
    struct daemon *daemon = reload->commands->daemon;
    const struct reload_symbols *added = &reload->added;
    for (int v = first_new, i = 0, n; v < daemon->config.n_venues; v++, i += n) {
        while (i < added->n && added->venues[i] < v)
            i++;
        for (n = 0; i + n < added->n && added->venues[i + n] == v;)
            n++;
        if (feeds_join(daemon->feeds, &daemon->config.venues[v],
                       (const char(*)[SYMBOL_NAME_MAX])added->names + i, n) < 0)
            daemon_fail("out of memory");
    }
}

void daemon_reload_add(struct reload *reload)
{
    int first_new = (int)feeds_count(reload->commands->daemon->feeds);
    join_venues(reload, first_new);
    for (int i = 0; i < reload->added.n; i++) {
        struct feed *feed = feed_of(reload, &reload->added, i);
        const char *name = reload->added.names[i];
        char text[160];
        if (reload->added.venues[i] >= first_new)
            continue; /* it came with its venue */
        if (is_there(reload, i)) {
            put_as_configured(reload, feed_symbol_named(feed, name));
            feed_leave_out(feed, feed_symbol_named(feed, name), false);
            continue;
        }
        int r = feed_add_symbol(feed, &reload->listed[i], false);
        if (r == 0)
            continue;
        snprintf(text, sizeof text, "%s could not be added: %s: it is streamed from the next start on", name,
                 strerror(-r));
        daemon_log_event_at(LOG_LEVEL_ERROR, LOG_ALERT, LOG_OF(.symbol = name, .alert = "symbol"), "%s",
                            text);
        daemon_session_alert(reload->commands->daemon->session, DB_ERROR, "symbol", text);
    }
}

/* ---- what stays ---- */

json_t *daemon_command_left_out(const struct daemon *daemon)
{
    const struct engine *engine = daemon_session_engine(daemon->session);
    json_t *array = json_array();
    for (int s = 0; engine && daemon->feeds && s < engine_symbols(engine); s++) {
        const char *why, *user = daemon_command_symbol_user(engine, s, &why);
        bool streamed = feeds_stream_symbol(daemon->feeds, s);
        if (user && (!streamed || feed_leaves_out(feeds_of(daemon->feeds, s), s)))
            json_array_append_new(array,
                                  json_pack("{s:s, s:s, s:s, s:b}", "symbol", engine_symbol(engine, s)->name,
                                            "account", user, "why", why, "streamed", streamed));
    }
    return array;
}

void daemon_command_log_left_out(const struct daemon *daemon)
{
    json_t *array = daemon_command_left_out(daemon), *left;
    size_t i;
    json_array_foreach(array, i, left)
    {
        bool streamed = json_is_true(json_object_get(left, "streamed"));
        daemon_log_warning("%s: account %s %s, and the configuration leaves it out: %s",
                           json_string_value(json_object_get(left, "symbol")),
                           json_string_value(json_object_get(left, "account")),
                           json_string_value(json_object_get(left, "why")),
                           streamed ? "it is streamed on" : "it is not streamed: nothing fills its orders");
    }
    json_decref(array);
}
