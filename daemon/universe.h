/* [market] universe: which symbols may be entered, by a rule (engine/universe.h), live. At the start, and
 * after each of the rule's times, the measures are computed on the bars of the market's interval that the
 * database holds and that closed by then, as `papertape backtest --universe` computes them on a file's; a
 * symbol that comes in or leaves becomes an event, so that replay and parity need neither rule nor bars.
 *
 * At the start that is done before the first event of the market, on the loop's thread; later on a thread of
 * the pool. Bars that are fetched after the start, and symbols that are added, are looked at again a few
 * times. Without a rule every symbol is in. On the loop's thread only. */
#ifndef DAEMON_UNIVERSE_H
#define DAEMON_UNIVERSE_H

#include <stdint.h>

struct daemon;
struct universe_watch;

/* NULL: there is no memory. The configuration's rule is one that daemon_config_check() took. */
struct universe_watch *daemon_universe_create(struct daemon *daemon);
/* The session takes events. */
void daemon_universe_started(struct universe_watch *watch);
/* The rule's time that was looked at last; 0: none, or there is no rule, or no watch. */
int64_t daemon_universe_looked(const struct universe_watch *watch);
void daemon_universe_stop(struct universe_watch *watch);

#endif
