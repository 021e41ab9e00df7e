#include "daemon/feed/feeds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "db/reader.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/net/context.h"

struct feed_place {
    struct feed *feed;
    int at; /* among the feed's */
};

struct feeds {
    struct daemon *daemon;
    struct net_context *net;
    struct feed **list;
    size_t n, left;       /* left: that are not stopped yet */
    size_t tried;         /* behind the n: that may become some of them */
    struct feed *leaving; /* that did not, and stop in the loop's next turn */
    int64_t due_ns;
    struct feed_place *symbols; /* by the engine's numbers; room for SYMBOLS_MAX */
    int n_symbols;
    bool ended, former; /* nothing is left of it; those that it replaced still end */
    void (*stopped)(void *user);
    void *stopped_user;
};

struct net_context *feeds_net(const struct feeds *feeds)
{
    return feeds->net;
}

bool feeds_take_trust(struct feeds *feeds, struct net_trust *trust)
{
    bool others = net_context_trust(feeds->net, trust);
    if (others)
        daemon_log_info("feeds: other certificates are trusted, from the next connection on");
    return others;
}

size_t feeds_count(const struct feeds *feeds)
{
    return feeds->n;
}

struct feed *feeds_at(const struct feeds *feeds, size_t i)
{
    return feeds->list[i];
}

struct feed *feeds_of(const struct feeds *feeds, int symbol)
{
    return symbol >= 0 && symbol < feeds->n_symbols ? feeds->symbols[symbol].feed : NULL;
}

/* ---- what there is to stream ---- */

/* The configuration, and what was added and removed by command since, as the database has it. */
struct symbols_plan {
    const struct daemon_config *config;
    struct wanted {
        char name[SYMBOL_NAME_MAX];
        char base[ASSET_NAME_MAX]; /* of one whose name has changed; else "" */
        int venue;
        bool removed, stored, left_out;
    } list[SYMBOLS_MAX];
    int n;
    int64_t bans_ns[CONFIG_VENUES_MAX];
};

static int venue_of(const struct daemon_config *config, const char *name)
{
    int v = 0;
    while (v < config->n_venues && strcmp(config->venues[v].venue->format->name, name) != 0)
        v++;
    return v < config->n_venues ? v : -1;
}

static struct wanted *find_wanted(struct symbols_plan *plan, int venue, const char *name)
{
    for (int s = 0; s < plan->n; s++)
        if (plan->list[s].venue == venue && strcmp(plan->list[s].name, name) == 0)
            return &plan->list[s];
    return NULL;
}

static void see_stored(void *ctx, const struct db_symbol_row *row)
{
    struct symbols_plan *plan = ctx;
    struct wanted *wanted = find_wanted(plan, venue_of(plan->config, row->venue), row->symbol.name);
    if (wanted)
        wanted->stored = true;
}

/* A stock that is configured by its first name, and has another by now. */
static void take_name(void *ctx, const struct db_symbol_row *row)
{
    struct symbols_plan *plan = ctx;
    const struct symbol *symbol = &row->symbol;
    int venue = venue_of(plan->config, row->venue);
    if (!symbol->calendar[0] || strcmp(symbol->name, symbol->base) == 0)
        return;
    struct wanted *now = find_wanted(plan, venue, symbol->name),
                  *first = find_wanted(plan, venue, symbol->base);
    if (!now && first && !first->stored) {
        memcpy(first->name, symbol->name, sizeof first->name);
        daemon_log_info("%s is configured as %s, the name that it had", symbol->name, symbol->base);
        now = first;
    }
    if (now)
        memcpy(now->base, symbol->base, sizeof now->base);
}

static void take_symbol(void *ctx, const struct db_symbol_row *row)
{
    struct symbols_plan *plan = ctx;
    int venue = venue_of(plan->config, row->venue), at = 0;
    if (row->streamed < 0 || venue < 0)
        return;
    while (at < plan->n && strcmp(plan->list[at].name, row->symbol.name) != 0)
        at++;
    if (at < plan->n) {
        if (plan->list[at].venue == venue)
            plan->list[at].removed = row->streamed == 0;
    } else if (row->streamed == 1 && plan->n < SYMBOLS_MAX) {
        struct wanted *wanted = &plan->list[plan->n++];
        *wanted = (struct wanted){.venue = venue};
        memcpy(wanted->name, row->symbol.name, sizeof wanted->name);
        take_name(plan, row);
    }
}

/* One in use that the configuration leaves out is streamed on, as long as its venue is there: what holds it
 * can be sold, and its stops work. */
static void take_used(struct symbols_plan *plan, const struct db_symbol_row *row)
{
    int venue = venue_of(plan->config, row->venue), at = 0;
    while (at < plan->n && strcmp(plan->list[at].name, row->symbol.name) != 0)
        at++;
    if (venue < 0 || at < plan->n || plan->n == SYMBOLS_MAX)
        return;
    struct wanted *wanted = &plan->list[plan->n++];
    *wanted = (struct wanted){.venue = venue, .left_out = true};
    memcpy(wanted->name, row->symbol.name, sizeof wanted->name);
    take_name(plan, row);
}

static void take_held(void *ctx, const struct db_position_row *row)
{
    if (row->position.qty != 0)
        take_used(ctx, row->symbol);
}

static void take_ordered(void *ctx, const struct db_order_row *row)
{
    if (row->symbol)
        take_used(ctx, row->symbol);
}

static void take_ban(void *ctx, const struct db_ban *row)
{
    struct symbols_plan *plan = ctx;
    int venue = venue_of(plan->config, row->venue);
    if (venue >= 0 && row->until_ns > clock_wall_ns())
        plan->bans_ns[venue] = row->until_ns;
}

static int make_plan(const struct daemon *daemon, struct symbols_plan **ret, char *err, size_t err_size)
{
    struct db_reader *reader;
    struct symbols_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    plan->config = &daemon->config;
    for (int s = 0; s < daemon->config.n_symbols; s++) {
        struct wanted *wanted = &plan->list[plan->n++];
        wanted->venue = daemon->config.symbol_venues[s];
        memcpy(wanted->name, daemon->config.symbols[s], sizeof wanted->name);
    }
    int r = db_reader_open(daemon->state.database, &reader, err, err_size);
    if (r == 0) {
        r = db_reader_symbols(reader, see_stored, plan);
        if (r == 0)
            r = db_reader_symbols(reader, take_name, plan);
        if (r == 0)
            r = db_reader_symbols(reader, take_symbol, plan);
        if (r == 0)
            r = db_reader_positions(reader, take_held, plan);
        if (r == 0)
            r = db_reader_orders(reader, true, 0, take_ordered, plan);
        if (r == 0)
            r = db_reader_bans(reader, take_ban, plan);
        if (r < 0)
            snprintf(err, err_size, "%s: %s", daemon->state.database, db_reader_error(reader));
        db_reader_close(reader);
    }
    int kept = 0;
    for (int s = 0; s < plan->n; s++)
        if (!plan->list[s].removed)
            plan->list[kept++] = plan->list[s];
    plan->n = kept;
    if (r < 0)
        free(plan);
    else
        *ret = plan;
    return r;
}

static int add_feed(struct feeds *feeds, const struct symbols_plan *plan, int venue, char *err,
                    size_t err_size)
{
    struct feed_wanted *wanted = calloc((size_t)plan->n + 1, sizeof *wanted);
    int n = 0;
    if (!wanted)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    for (int s = 0; s < plan->n; s++) {
        if (plan->list[s].venue != venue)
            continue;
        wanted[n].index = s;
        wanted[n].left_out = plan->list[s].left_out;
        memcpy(wanted[n].base, plan->list[s].base, sizeof wanted->base);
        memcpy(wanted[n++].name, plan->list[s].name, sizeof wanted->name);
    }
    struct feed *feed = NULL;
    int r = feed_create(feeds, feeds->daemon, &plan->config->venues[venue], wanted, n,
                        &(struct feed_given){.place = venue, .ban_until_ns = plan->bans_ns[venue]}, &feed,
                        err, err_size);
    for (int i = 0; i < n && r == 0; i++)
        feeds->symbols[wanted[i].index] = (struct feed_place){feed, i};
    free(wanted);
    if (r == 0)
        feeds->list[feeds->n++] = feed;
    return r;
}

static struct feed *take_leaving(struct feeds *feeds)
{
    struct feed *feed = feeds->leaving;
    feeds->leaving = feed->next_leaving;
    return feed;
}

/* ---- the way up ---- */

static int make(struct daemon *daemon, struct feeds *feeds, char *err, size_t err_size)
{
    const struct daemon_config *config = &daemon->config;
    char reason[NET_ERROR_MAX];
    struct net_config net = {.loop = daemon->loop, .ca_file = config->ca_file[0] ? config->ca_file : NULL};
    struct symbols_plan *plan;
    feeds->daemon = daemon;
    feeds->due_ns = INT64_MAX;
    feeds->list = calloc(CONFIG_VENUES_MAX, sizeof *feeds->list);
    feeds->symbols = calloc(SYMBOLS_MAX, sizeof *feeds->symbols);
    if (!feeds->list || !feeds->symbols)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = make_plan(daemon, &plan, err, err_size);
    if (r < 0)
        return r;
    r = net_context_create(&net, &feeds->net, reason);
    if (r < 0)
        snprintf(err, err_size, "%s", reason);
    feeds->n_symbols = plan->n;
    for (int v = 0; v < config->n_venues && r == 0; v++)
        r = add_feed(feeds, plan, v, err, err_size);
    if (r == 0 && plan->n == 0) {
        snprintf(err, err_size,
                 "nothing is streamed: every symbol was removed: papertape symbol add NAME, "
                 "or another state directory");
        r = -EINVAL;
    }
    free(plan);
    return r;
}

static void finish(struct feeds *feeds)
{
    void (*stopped)(void *) = feeds->stopped;
    void *stopped_user = feeds->stopped_user;
    free(feeds->list);
    free(feeds->symbols);
    free(feeds);
    stopped(stopped_user);
}

static void net_stopped(void *user)
{
    struct feeds *feeds = user;
    feeds->ended = true;
    if (!feeds->former)
        finish(feeds);
}

/* Frees what was made before a failure: its handles close on the loop, which has others. */
static void undo(struct feeds *feeds, void (*done)(void *user), void *user)
{
    feeds->stopped = done;
    feeds->stopped_user = user;
    if (feeds->n > 0)
        feeds_stop(feeds, done, user);
    else if (feeds->net)
        net_context_stop(feeds->net, net_stopped, feeds);
    else
        finish(feeds);
}

static void undone(void *user)
{
    *(bool *)user = true;
}

int feeds_create(struct daemon *daemon, struct feeds **ret, char *err, size_t err_size)
{
    bool done = false;
    struct feeds *feeds = calloc(1, sizeof *feeds);
    if (!feeds)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = make(daemon, feeds, err, err_size);
    if (r == 0) {
        *ret = feeds;
        return 0;
    }
    undo(feeds, undone, &done);
    while (!done)
        uv_run(daemon->loop, UV_RUN_ONCE);
    return r;
}

static void not_awaited(void *user)
{
    (void)user;
}

static void former_stopped(void *user)
{
    struct feeds *feeds = user;
    feeds->former = false;
    if (feeds->ended)
        finish(feeds);
}

int feeds_replace(struct daemon *daemon, char *err, size_t err_size)
{
    struct feeds *former = daemon->feeds, *feeds = calloc(1, sizeof *feeds);
    if (!feeds)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = make(daemon, feeds, err, err_size);
    if (r < 0) {
        undo(feeds, not_awaited, NULL);
        return r;
    }
    feeds->former = true;
    daemon->feeds = feeds;
    feeds_stop(former, former_stopped, feeds);
    feeds_start(feeds);
    return 0;
}

void feeds_start(struct feeds *feeds)
{
    for (size_t i = 0; i < feeds->n; i++)
        feed_start(feeds->list[i]);
}

/* The first moment: the earliest time that a venue has sent, on the feed's clock. */
static int64_t first_moment(const struct feeds *feeds)
{
    if (feeds->daemon->config.clock == CLOCK_WALL)
        return clock_wall_ns();
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < feeds->n; i++)
        if (feeds->list[i]->server_ns > 0 && feeds->list[i]->server_ns < first)
            first = feeds->list[i]->server_ns;
    return first == INT64_MAX ? clock_wall_ns() : first;
}

/* Uses what a former run stored of absent venues, defers the rest, and numbers symbols from the first. */
static int count_known(struct feeds *feeds)
{
    int n = 0;
    for (size_t i = 0; i < feeds->n; i++)
        if (!feeds->list[i]->known && feed_put_off(feeds->list[i]) < 0)
            return -ENOMEM;
    for (int planned = 0; planned < feeds->n_symbols; planned++)
        for (size_t i = 0; i < feeds->n; i++) {
            struct feed *feed = feeds->list[i];
            int at = 0;
            while (at < feed->n_symbols && feed->symbols[at].planned != planned)
                at++;
            if (at == feed->n_symbols)
                continue;
            feed->symbols[at].index = n;
            feeds->symbols[n++] = (struct feed_place){feed, at};
        }
    feeds->n_symbols = n;
    return 0;
}

void feeds_known(struct feeds *feeds)
{
    char err[SESSION_ERROR_MAX];
    int known = 0;
    for (size_t i = 0; i < feeds->n; i++)
        if (!feeds->list[i]->known && !feeds->list[i]->absent)
            return;
    for (size_t i = 0; i < feeds->n; i++)
        known += feed_known_symbols(feeds->list[i]);
    if (known == 0 || daemon_session_started(feeds->daemon->session))
        return;
    struct symbol *symbols = calloc((size_t)feeds->n_symbols, sizeof *symbols);
    if (!symbols || count_known(feeds) < 0) {
        free(symbols);
        daemon_fail("out of memory");
        return;
    }
    for (int s = 0; s < feeds->n_symbols; s++)
        symbols[s] = feeds->symbols[s].feed->listed[feeds->symbols[s].at];
    daemon_session_choose_units(feeds->daemon->session, symbols, feeds->n_symbols);
    for (int s = 0; s < feeds->n_symbols; s++)
        feeds->symbols[s].feed->listed[feeds->symbols[s].at].quote_scale = symbols[s].quote_scale;
    int r = daemon_session_begin(feeds->daemon->session, symbols, feeds->n_symbols, first_moment(feeds), err,
                                 sizeof err);
    free(symbols);
    if (r < 0) {
        daemon_end(exit_status_of_start(r), "%s", err);
        return;
    }
    for (size_t i = 0; i < feeds->n; i++)
        feed_started(feeds->list[i]);
}

bool feeds_refused(struct feeds *feeds, struct feed *feed)
{
    bool wall = feeds->daemon->config.clock == CLOCK_WALL;
    int others = 0;
    for (size_t i = 0; i < feeds->n; i++)
        if (!feeds->list[i]->final)
            others += feeds->list[i]->n_symbols;
        else if (wall)
            others += feed_known_symbols(feeds->list[i]);
    feed->absent = true;
    if (others == 0)
        daemon_refuse("%s: refused: %s", feed->venue->format->name, feed->detail);
    else
        feeds_known(feeds);
    return others > 0;
}

void feeds_caught_up(struct feeds *feeds)
{
    for (size_t i = 0; i < feeds->n; i++)
        if (feeds->list[i]->answered && feeds->list[i]->stage != STAGE_STREAM)
            return;
    daemon_session_caught_up(feeds->daemon->session);
}

/* ---- stop ---- */

static void feed_stopped(void *user)
{
    struct feeds *feeds = user;
    if (--feeds->left == 0)
        net_context_stop(feeds->net, net_stopped, feeds);
}

void feeds_stop(struct feeds *feeds, void (*done)(void *user), void *user)
{
    feeds->stopped = done;
    feeds->stopped_user = user;
    size_t n = feeds->n + feeds->tried;
    feeds->left = n;
    feeds->n = feeds->tried = 0;
    for (struct feed *feed = feeds->leaving; feed; feed = feed->next_leaving)
        feeds->left++;
    for (size_t i = 0; i < n; i++)
        feed_stop(feeds->list[i], feed_stopped, feeds);
    while (feeds->leaving)
        feed_stop(take_leaving(feeds), feed_stopped, feeds);
}

/* ---- time ---- */

int64_t feeds_due_ns(const struct feeds *feeds)
{
    return feeds->due_ns;
}

void feeds_due(struct feeds *feeds)
{
    feeds->due_ns = INT64_MAX;
    for (size_t i = 0; i < feeds->n; i++)
        if (feeds->list[i]->due_ns < feeds->due_ns)
            feeds->due_ns = feeds->list[i]->due_ns;
}

void feeds_pass(struct feeds *feeds, int64_t now_ns)
{
    for (size_t i = 0; i < feeds->n; i++)
        feed_pass(feeds->list[i], now_ns);
}

/* ---- by the engine's symbols ---- */

void feeds_added(struct feeds *feeds, struct feed *feed)
{
    feeds->symbols[feeds->n_symbols++] = (struct feed_place){feed, feed->n_symbols - 1};
}

struct feed *feeds_find(const struct feeds *feeds, const char *venue)
{
    for (size_t i = 0; i < feeds->n; i++)
        if (strcmp(feeds->list[i]->venue->format->name, venue) == 0)
            return feeds->list[i];
    return NULL;
}

/* ---- venues of a configuration that was read again ---- */

int feeds_try(struct feeds *feeds, const struct daemon_config_venue *config, const struct feed_keys *keys,
              char *err, size_t err_size)
{
    const struct feed_given given = {.place = (int)(feeds->n + feeds->tried), .keys = keys};
    int r =
        feed_create(feeds, feeds->daemon, config, NULL, 0, &given, &feeds->list[given.place], err, err_size);
    feeds->tried += r == 0;
    return r;
}

static void leave(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    struct feeds *feeds = feed->feeds;
    while (feeds->leaving)
        feed_stop(take_leaving(feeds), not_awaited, NULL);
}

/* Maybe from within the answer to its request. */
void feeds_leave_tried(struct feeds *feeds)
{
    for (size_t i = 0; i < feeds->tried; i++) {
        struct feed *feed = feeds->list[feeds->n + i];
        feed->next_leaving = feeds->leaving;
        feeds->leaving = feed;
        uv_timer_start(&feed->retry, leave, 0, 0);
    }
    feeds->tried = 0;
}

int feeds_join(struct feeds *feeds, const struct daemon_config_venue *config,
               const char (*names)[SYMBOL_NAME_MAX], int n)
{
    int r = feed_join(feeds->list[feeds->n], config, names, n);
    if (r == 0) {
        feeds->tried--;
        feeds->n++;
    }
    return r;
}

void feeds_report_clocks(struct feeds *feeds)
{
    for (size_t i = 0; i < feeds->n; i++)
        feed_report_clock(feeds->list[i], -1);
}

bool feeds_stream_symbol(const struct feeds *feeds, int symbol)
{
    const struct feed *feed = feeds_of(feeds, symbol);
    return feed && feed_streams_symbol(feed, symbol);
}

void feeds_need_snapshot(struct feeds *feeds, int symbol)
{
    struct feed *feed = feeds_of(feeds, symbol);
    if (feed)
        feed_need_snapshot(feed, feeds->symbols[symbol].at);
}

void feeds_need_bars(struct feeds *feeds, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    struct feed *feed = feeds_of(feeds, symbol);
    if (feed)
        feed_fill_gap(feed, feeds->symbols[symbol].at, from_open_ns, to_open_ns, BARS_LOST);
}

int64_t feeds_symbol_age_ms(const struct feeds *feeds, int symbol)
{
    const struct feed *feed = feeds->n > 0 ? feeds_of(feeds, symbol) : NULL;
    int64_t newest = 0;
    for (int kind = 0; feed && kind < MARKET_CHANNELS && feed->n_streams > 0; kind++) {
        int at = feed->symbols[feeds->symbols[symbol].at].streams[kind];
        if (at >= 0 && feed->streams[at].last_ms > newest)
            newest = feed->streams[at].last_ms;
    }
    return newest ? clock_now_ms() - newest : -1;
}
