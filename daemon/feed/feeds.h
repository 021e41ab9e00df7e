/* All feeds, one a venue, and what they share: the network, the engine's numbering of symbols, and the
 * first moment of the session, which starts when every venue has sent its list, or the one that a former
 * run stored is used. */
#ifndef DAEMON_FEED_FEEDS_H
#define DAEMON_FEED_FEEDS_H

#include "daemon/feed/feed.h"

struct feeds;

/* Can the configuration's certificates be used, if it names any? 0; -errno with one line, which begins with
 * `name`: where they are named. */
int feeds_check_ca(const struct daemon_config *config, const char *name, char error[static CONFIG_ERROR_MAX]);
/* Connections are checked by these certificates from now on; takes them. Are they others? */
struct net_trust;
bool feeds_take_trust(struct feeds *feeds, struct net_trust *trust);

/* Can the keys that the configuration names be used? Of a credential that only its unit is given nothing is
 * known: *ret_unseen is its name then, else NULL. 0; -errno with one line, which quotes nothing of a file. */
int feeds_check_keys(const struct daemon_config *config, const char **ret_unseen,
                     char error[static CONFIG_ERROR_MAX]);

/* 0, or -errno with one line. The daemon, whose session is open, must outlive them. */
int feeds_create(struct daemon *daemon, struct feeds **ret, char *err, size_t err_size);

void feeds_start(struct feeds *feeds);

/* Before the session has started: those of the daemon's configuration, which was replaced, take the place of
 * the daemon's feeds and start. 0, or -errno with one line: then all is as before. */
int feeds_replace(struct daemon *daemon, char *err, size_t err_size);

/* `done` is called when nothing is left of any, then they are gone. */
void feeds_stop(struct feeds *feeds, void (*done)(void *user), void *user);

/* Each venue's clock by this one's, again: this one has jumped. */
void feeds_report_clocks(struct feeds *feeds);

/* The engine's requests (struct session_hooks), by its symbols. */
void feeds_need_snapshot(struct feeds *feeds, int symbol);
void feeds_need_bars(struct feeds *feeds, int symbol, int64_t from_open_ns, int64_t to_open_ns);

/* Real time since the symbol's last data; -1 when nothing came yet. */
int64_t feeds_symbol_age_ms(const struct feeds *feeds, int symbol);

/* In the order of the configuration. */
size_t feeds_count(const struct feeds *feeds);
struct feed *feeds_at(const struct feeds *feeds, size_t i);            /* behind them those that are tried */
struct feed *feeds_find(const struct feeds *feeds, const char *venue); /* NULL: it is not configured */
/* The one that streams a symbol of the engine. */
struct feed *feeds_of(const struct feeds *feeds, int symbol);
bool feeds_stream_symbol(const struct feeds *feeds, int symbol); /* does one? */

/* ---- venues of a configuration that was read again ---- */

/* Makes the feed of a venue that follows all of them in the configuration, to ask it what it lists
 * (feed_find_symbols()); `keys`: its keys, NULL: none. It is no feed of theirs before feeds_join(). 0 or
 * -errno with one line. */
struct feed_keys;
int feeds_try(struct feeds *feeds, const struct daemon_config_venue *config, const struct feed_keys *keys,
              char *err, size_t err_size);
/* None of those that are tried becomes one. */
void feeds_leave_tried(struct feeds *feeds);
/* The first that is tried is one from now on, as configured there, and streams these symbols once the venue
 * has described them. 0 or -ENOMEM. */
int feeds_join(struct feeds *feeds, const struct daemon_config_venue *config,
               const char (*names)[SYMBOL_NAME_MAX], int n);

/* The whole: the worst state with its detail, the sums of counts, the largest age. The url and the clock's
 * offset are the first venue's. */
void feeds_view(const struct feeds *feeds, struct feed_view *ret);

#endif
