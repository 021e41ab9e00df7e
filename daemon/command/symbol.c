/* Adds and removes symbols while the daemon runs, and lists what the venues say that they stream. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/internal.h"
#include "daemon/feed/feeds.h"
#include "daemon/price_alerts.h"
#include "exchange/nearest.h"
#include "exchange/venues.h"

enum { SHOWN = 60 };

/* A request to a venue that a command waits for; it is answered, or dropped when the daemon stops. */
struct venue_job {
    struct request request; /* its args are a reference, its peer is … */
    struct control_peer peer;
    struct feed *feed;
    /* Of a symbol whose venue was guessed: the venues that are asked next, and the first one's answer, or
     * the first that lists a similar name. */
    char name[SYMBOL_NAME_MAX];
    bool guessed;
    size_t next;
    struct feed *first;
    char why[VENUE_DETAIL_MAX + 80];
};

static struct venue_job *make_job(const struct request *request, const char *cmd, struct feed *feed)
{
    struct venue_job *job = calloc(1, sizeof *job);
    if (!job) {
        control_error(request->call, "ENOMEM", "out of memory");
        return NULL;
    }
    job->request = *request;
    job->request.given = NULL; /* the call's */
    job->request.cmd = cmd;
    job->request.args = json_incref(request->args);
    job->peer = *request->peer;
    job->request.peer = &job->peer;
    job->feed = feed;
    return job;
}

static void end_job(struct venue_job *job)
{
    json_decref(job->request.args);
    free(job);
}

static struct feeds *feeds_of_request(const struct request *request)
{
    return request->commands->daemon->feeds;
}

static bool is_streamed(const struct request *request, const char *name)
{
    int index = engine_find_symbol(request->engine, name);
    return index >= 0 && feeds_stream_symbol(feeds_of_request(request), index);
}

/* ---- arguments ---- */

static bool take_venue(const struct args *args, struct feed **ret)
{
    struct feeds *feeds = feeds_of_request(args->request);
    const char *name;
    struct nearest nearest = {0};
    if (!daemon_command_args_text(args, "venue", &name))
        return false;
    *ret = feeds_find(feeds, name);
    if (*ret)
        return true;
    for (size_t i = 0; i < feeds_count(feeds); i++)
        nearest_offer(&nearest, name, feed_venue(feeds_at(feeds, i))->format->name);
    control_error(args->request->call, "ENOENT", "args.venue: \"%.*s\": %s%s", SHOWN, name,
                  venue_find(name) ? "the configuration has no section of it" : "unknown venue",
                  NEAREST_HINT(&nearest, name));
    return false;
}

/* The venue that streams the most similar name; the first where no name is similar. */
static struct feed *guess_venue(const struct request *request, const char *name)
{
    struct feeds *feeds = feeds_of_request(request);
    struct nearest nearest = {0};
    int best = -1;
    for (int s = 0; s < engine_symbols(request->engine); s++) {
        const char *known = engine_symbol(request->engine, s)->name;
        size_t before = best < 0 ? SIZE_MAX : nearest.distance;
        if (!feeds_of(feeds, s) || !strchr(known, '/') != !strchr(name, '/'))
            continue;
        nearest_offer(&nearest, name, known);
        if (nearest.distance < before)
            best = s;
    }
    return best < 0 ? feeds_at(feeds, 0) : feeds_of(feeds, best);
}

/* A name in capitals, as venues list them. */
static bool take_name(const struct args *args, char ret[static SYMBOL_NAME_MAX])
{
    const char *name;
    size_t n;
    if (!daemon_command_args_text(args, "symbol", &name))
        return false;
    for (n = 0; name[n] && n < SYMBOL_NAME_MAX - 1; n++) {
        bool letter = (name[n] >= 'a' && name[n] <= 'z') || (name[n] >= 'A' && name[n] <= 'Z');
        if (!letter && !(name[n] >= '0' && name[n] <= '9') && !strchr("-_./", name[n]))
            break;
        ret[n] = (char)(name[n] >= 'a' && name[n] <= 'z' ? name[n] - 'a' + 'A' : name[n]);
    }
    ret[n] = '\0';
    if (n > 0 && name[n] == '\0')
        return true;
    return ARGS_WRONG(args->request->call, "args.symbol: \"%.*s\": a symbol like BTCUSDT is needed", SHOWN,
                      name);
}

/* ---- add ---- */

static void add(struct venue_job *job, const struct symbol *symbol)
{
    const struct request *request = &job->request;
    struct work work;
    if (is_streamed(request, symbol->name)) {
        control_error(request->call, "EEXIST", "args.symbol: %s is streamed already", symbol->name);
        return;
    }
    if (engine_symbols(request->engine) >= SYMBOLS_MAX) {
        control_error(request->call, "ENOSPC", "args.symbol: %d symbols are known, the most there can be",
                      SYMBOLS_MAX);
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    int r = feed_add_symbol(job->feed, symbol, true);
    if (r < 0)
        work.reason = ORDER_UNKNOWN_SYMBOL;
    daemon_command_end(&work, json_pack("{s:s, s:s}", "symbol", symbol->name, "venue", symbol->venue));
}

static void have_symbol(void *user, const char *code, const char *why, const struct symbol *symbol);

/* The guess was wrong: is it another venue's? */
static bool ask_next(struct venue_job *job, const char *why)
{
    struct feeds *feeds = feeds_of_request(&job->request);
    bool better = job->first && strstr(why, NEAREST_SUGGESTED) && !strstr(job->why, NEAREST_SUGGESTED);
    if (!job->first || better)
        snprintf(job->why, sizeof job->why, "%s", why);
    if (!job->first)
        job->first = job->feed;
    while (job->guessed && job->next < feeds_count(feeds)) {
        job->feed = feeds_at(feeds, job->next++);
        if (job->feed != job->first && feed_is_up(job->feed) &&
            feed_find_symbol(job->feed, job->name, have_symbol, job) == 0)
            return true;
    }
    return false;
}

static void have_symbol(void *user, const char *code, const char *why, const struct symbol *symbol)
{
    struct venue_job *job = user;
    bool unknown = code && strcmp(code, "ENOENT") == 0;
    if (unknown && ask_next(job, why))
        return;
    if (code)
        control_error(job->request.call, code, "%s", unknown ? job->why : why);
    else
        add(job, symbol);
    end_job(job);
}

void daemon_command_symbol_add(const struct request *request)
{
    char name[SYMBOL_NAME_MAX];
    struct feed *feed = NULL;
    if (!take_name(request->given, name) ||
        (daemon_command_args_given(request->given, "venue") && !take_venue(request->given, &feed)) ||
        daemon_command_came_before(request))
        return;
    if (is_streamed(request, name)) {
        control_error(request->call, "EEXIST", "args.symbol: %s is streamed already", name);
        return;
    }
    int index = engine_find_symbol(request->engine, name);
    if (index >= 0 && feeds_of(feeds_of_request(request), index)) { /* it was removed: its venue is known */
        if (feed && feed != feeds_of(feeds_of_request(request), index)) {
            control_error(request->call, "EEXIST", "args.symbol: %s is a symbol of %s", name,
                          engine_symbol(request->engine, index)->venue);
            return;
        }
        feed = feeds_of(feeds_of_request(request), index);
    }
    bool guessed = !feed;
    if (guessed)
        feed = guess_venue(request, name);
    struct feed_view view;
    feed_view(feed, &view);
    if (strcmp(view.state, "failed") == 0 && view.retry_in_ms < 0) {
        control_error(request->call, "EAGAIN", "%s refused, and is not asked again: %s",
                      feed_venue(feed)->format->name, view.detail);
        return;
    }
    if (!feed_is_up(feed)) {
        control_error(request->call, "EAGAIN", "%s has not answered yet: nothing can be added",
                      feed_venue(feed)->format->name);
        return;
    }
    struct venue_job *job = make_job(request, "symbol_add", feed);
    if (job) {
        job->guessed = guessed;
        memcpy(job->name, name, sizeof job->name);
    }
    if (job && feed_find_symbol(feed, name, have_symbol, job) < 0) {
        control_error(request->call, "ENOMEM", "out of memory");
        end_job(job);
    }
}

/* ---- remove ---- */

const char *daemon_command_symbol_user(const struct engine *engine, int symbol, const char **ret_why)
{
    for (int a = 0; a < engine_accounts(engine); a++) {
        const struct account *account = engine_account(engine, a);
        *ret_why = account->positions[symbol].qty < 0 ? "is short of it" : "holds it";
        if (account->positions[symbol].qty != 0)
            return account->name;
    }
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        *ret_why = "has an order in it";
        if (order->symbol == symbol)
            return engine_account(engine, order->account)->name;
    }
    return NULL;
}

bool daemon_command_symbol_used(const struct daemon *daemon, const struct engine *engine, int symbol)
{
    const char *why;
    return feeds_stream_symbol(daemon->feeds, symbol) || daemon_command_symbol_user(engine, symbol, &why);
}

static int count_streamed(const struct request *request)
{
    int n = 0;
    for (int s = 0; s < engine_symbols(request->engine); s++)
        n += feeds_stream_symbol(feeds_of_request(request), s);
    return n;
}

void daemon_command_symbol_remove(const struct request *request)
{
    const char *why, *user;
    int symbol;
    struct work work;
    if (daemon_command_came_before(request) || !daemon_command_args_symbol(request->given, "symbol", &symbol))
        return;
    const char *name = engine_symbol(request->engine, symbol)->name;
    if (!is_streamed(request, name)) {
        control_error(request->call, "ENOENT", "args.symbol: %s is not streamed any more", name);
        return;
    }
    user = daemon_command_symbol_user(request->engine, symbol, &why);
    if (user) {
        control_error(request->call, "EBUSY", "args.symbol: account %s %s", user, why);
        return;
    }
    if (count_streamed(request) == 1) {
        control_error(request->call, "EINVAL",
                      "args.symbol: %s is the last one: another is to be added first", name);
        return;
    }
    if (!daemon_command_begin(request, &work))
        return;
    feed_remove_symbol(feeds_of(feeds_of_request(request), symbol), symbol, true);
    json_t *result = json_pack("{s:s}", "symbol", name);
    int waiting =
        daemon_price_alerts_count(daemon_session_price_alerts(request->commands->daemon->session), name);
    if (waiting > 0)
        json_object_set_new(result, "price_alerts", json_integer(waiting));
    daemon_command_end(&work, result);
}

/* ---- list ---- */

void daemon_command_symbol_list(const struct request *request)
{
    json_t *array = json_array();
    for (int s = 0; s < engine_symbols(request->engine); s++) {
        const struct symbol *symbol = engine_symbol(request->engine, s);
        json_t *calendar = symbol->calendar[0] ? json_string(symbol->calendar) : json_null();
        json_array_append_new(array, json_pack("{s:s, s:s, s:b, s:o}", "symbol", symbol->name, "venue",
                                               symbol->venue, "streamed", is_streamed(request, symbol->name),
                                               "calendar", calendar));
    }
    control_ok(request->call, json_pack("{s:o}", "symbols", array));
}

/* ---- what a venue sends ---- */

static void have_streams(void *user, const char *code, const char *why, const char *const *names, size_t n)
{
    struct venue_job *job = user;
    if (code) {
        control_error(job->request.call, code, "%s", why);
    } else {
        json_t *array = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(array, json_string(names[i]));
        control_ok(job->request.call, json_pack("{s:o}", "streams", array));
    }
    end_job(job);
}

void daemon_command_streams(const struct request *request)
{
    struct feed *feed = feeds_at(feeds_of_request(request), 0);
    if (daemon_command_args_given(request->given, "venue") && !take_venue(request->given, &feed))
        return;
    struct venue_job *job = make_job(request, "streams", feed);
    int r = job ? feed_list_streams(feed, have_streams, job) : 0;
    if (r == 0)
        return;
    const char *name = feed_venue(feed)->format->name;
    if (r == -EOPNOTSUPP)
        control_error(request->call, "EOPNOTSUPP", "%s does not say what it sends", name);
    else if (r == -ENOTCONN)
        control_error(request->call, "ENOTCONN", "%s is not connected", name);
    else if (r == -EBUSY)
        control_error(request->call, "EBUSY", "%s is asked already", name);
    else
        control_error(request->call, "ENOMEM", "%s", strerror(-r));
    end_job(job);
}
