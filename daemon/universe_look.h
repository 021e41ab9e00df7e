/* One look at the universe: which symbols a rule takes in at a time, by the bars of a state's database, which
 * is all that it reads and writes; on any thread. */
#ifndef DAEMON_UNIVERSE_LOOK_H
#define DAEMON_UNIVERSE_LOOK_H

#include "db/migrate.h"
#include "db/state.h"
#include "engine/engine.h"
#include "engine/universe.h"

#define UNIVERSE_UNREAD "[market] universe: its bars cannot be read" /* what `error` begins with */

struct universe_look {
    struct engine_universe_rule rule;
    char database[STATE_PATH_MAX];
    int64_t interval_ns, at_ns;
    struct universe_symbol {
        char name[SYMBOL_NAME_MAX];
        int price_scale, qty_scale;
        bool in; /* what it gives */
    } * symbols;
    int n;
    double highest; /* of the rule's first measure; NaN: no symbol has it */
    int highest_symbol, n_in;
    char error[DB_ERROR_MAX + 64]; /* "": it gave that */
};

/* Copies what it needs; what a look held before is freed. 0 or -ENOMEM. */
int daemon_universe_look_begin(struct universe_look *look, const struct engine_universe_rule *rule,
                               const char *database, const struct engine *engine, int64_t at_ns);
/* Sets each symbol's `in`, or `error`. */
void daemon_universe_look(struct universe_look *look);
void daemon_universe_look_finish(struct universe_look *look);

#endif
