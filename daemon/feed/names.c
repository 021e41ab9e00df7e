/* Stocks whose names change. */
#include <errno.h>
#include <string.h>

#include "daemon/board.h"
#include "daemon/feed/internal.h"
#include "daemon/log.h"

void feed_keep_base(const struct feed *feed, int symbol, struct symbol *listed_now)
{
    if (feed->symbols[symbol].base[0])
        memcpy(listed_now->base, feed->symbols[symbol].base, sizeof listed_now->base);
}

/* Its streams are those of the new name: the parser finds it by that. 0 or -errno. */
static int take_name(struct feed *feed, int symbol, const struct symbol *renamed)
{
    bool follows = feed->link && feed->symbols[symbol].streamed;
    int r = follows ? feed_follow(feed, symbol, NULL, false) : 0;
    if (r < 0)
        daemon_log_warning("feed: %s: it could not be unsubscribed: %s", feed->listed[symbol].name,
                           strerror(-r));
    feed->listed[symbol] = *renamed; /* in its place: parsers point to it */
    memcpy(feed->symbols[symbol].base, renamed->base, sizeof feed->symbols[symbol].base);
    r = feed->parser ? feed->venue->format->parser_grow(feed->parser, (size_t)feed->n_symbols) : 0;
    return r == 0 && follows ? feed_follow(feed, symbol, NULL, true) : r;
}

static void end_symbol(struct feed *feed, int symbol)
{
    const struct venue_symbol gone = {0};
    feed->symbols[symbol].unlisted = true;
    feed_take_listed(feed, symbol, &gone);
    feed->symbols[symbol].unlisted = false;
}

void feed_rename(struct feed *feed, int symbol, const char *name)
{
    struct symbol before = feed->listed[symbol], now = before;
    memcpy(now.name, name, sizeof now.name);
    now.trading = now.trading || before.gone || feed->symbols[symbol].unlisted;
    now.gone = feed->symbols[symbol].unlisted = false;
    int r = feed_named(feed, name) >= 0
                ? -EEXIST
                : daemon_session_rename_symbol(feed->daemon->session, feed->symbols[symbol].index, &now);
    if (r < 0) {
        feed_alert_raise(
            feed, DB_ERROR, "delisted", before.name,
            "%s is named %s by now, which is streamed beside it: what is held of %s stays under the old "
            "name, and its orders end",
            before.name, name, before.name);
        return;
    }
    feed_alert_end(feed, "delisted", before.name);
    feed_alert_end(feed, "symbol-trading", before.name);
    daemon_board_rename(feed->daemon->board, feed->symbols[symbol].index, name);
    r = take_name(feed, symbol, &now);
    if (r < 0)
        feed_alert_raise(feed, DB_ERROR, "symbol", name,
                         "%s could not be subscribed: %s: it is from the next start on", name, strerror(-r));
    feed_alert(feed, DB_INFO, "renamed", "%s is %s from now on: its position, orders and bars continue",
               before.name, name);
}

void feed_follow_names(struct feed *feed)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        const struct symbol *known =
            engine_symbol(daemon_session_engine(feed->daemon->session), feed->symbols[s].index);
        if (strcmp(known->name, feed->listed[s].name) == 0)
            continue;
        memcpy(feed->listed[s].name, known->name, sizeof known->name);
        memcpy(feed->symbols[s].base, known->base, sizeof known->base);
    }
}

void feed_end_unlisted(struct feed *feed)
{
    for (int s = 0; s < feed->n_symbols; s++)
        if (feed->symbols[s].unlisted)
            end_symbol(feed, s);
}
