/* --account, --from, --to and --at, which mean the same on every list of what the state holds
 * (docs/lists.md). The struct of such a verb begins with a struct db_selection, with cli_selected_init as
 * init, or with a struct ask_selected. A verb that does not take one of the four says why by OPTION_REFUSED.
 */
#ifndef CLI_SELECTED_H
#define CLI_SELECTED_H

#include <stddef.h>

#include "cli/ask.h"
#include "cli/stored.h"
#include "db/selection.h"

/* Rows of options of a verb whose selection is at that place in its struct: `what` is what a time of the list
 * is of, as "executed"; what follows are more of a row's members. */
#define SELECTED_ACCOUNT_AT(place, ...) \
    { \
        "account", "ACCOUNT", "of this account alone", (place) + offsetof(struct db_selection, account), \
            __VA_ARGS__ \
    }
#define SELECTED_FROM_AT(place, what, ...) \
    { \
        "from", "T", what " from T on, T included: " STORED_TIME_WORDS, \
            (place) + offsetof(struct db_selection, from_ns), cli_stored_take_time, __VA_ARGS__ \
    }
#define SELECTED_TO_AT(place, ...) \
    { \
        "to", "T", "up to T, which is not included", (place) + offsetof(struct db_selection, to_ns), \
            cli_stored_take_time, .after = "from", __VA_ARGS__ \
    }
#define SELECTED_MOMENT_AT(place, ...) \
    { \
        "at", "T", "as the record was at T, T included, from the database", \
            (place) + offsetof(struct db_selection, at_ns), cli_selected_take_at, __VA_ARGS__ \
    }
#define SELECTED_PERIOD_AT(place, what, ...) \
    SELECTED_FROM_AT(place, what, __VA_ARGS__), SELECTED_TO_AT(place, __VA_ARGS__)

/* The same at its beginning. */
#define SELECTED_ACCOUNT(...)      SELECTED_ACCOUNT_AT(0, __VA_ARGS__)
#define SELECTED_PERIOD(what, ...) SELECTED_PERIOD_AT(0, what, __VA_ARGS__)
#define SELECTED_MOMENT(...)       SELECTED_MOMENT_AT(0, __VA_ARGS__)
#define SELECTED_ALL(what, ...) \
    SELECTED_ACCOUNT(__VA_ARGS__), SELECTED_PERIOD(what, __VA_ARGS__), SELECTED_MOMENT(__VA_ARGS__)

/* Of a verb that also sends commands. */
struct ask_selected {
    struct ask_args ask;
    struct db_selection selection;
};
#define SELECTED_BEHIND offsetof(struct ask_selected, selection)
void cli_selected_ask_init(void *into);
#define SELECTED_ASK_ARGS \
    .size = sizeof(struct ask_selected), .init = cli_selected_ask_init, .finish = cli_ask_args_finish

/* Without a beginning, an end and a moment. */
void cli_selected_init(void *into);

int cli_selected_take_at(struct option_call *call, const struct option_row *row, const char *value);

/* Is one of the four given? */
bool cli_selected_any(const struct db_selection *selection);

/* As cli_stored_open(), of the selected rows. An exit status. */
int cli_selected_open(const char *verb, const char *state, const struct db_selection *selection,
                      const struct db_selected *of, struct db_reader **ret);

/* As cli_stored_print_list(), of the selected rows. An exit status. */
int cli_selected_print_list(struct option_call *call, const char *verb, struct stored_list *list,
                            const struct db_selection *selection, const struct db_selected *of,
                            int (*read)(struct db_reader *reader, const struct option_call *call,
                                        struct stored_list *list));

/* Rows of refusals. */
#define SELECTED_REFUSED_ACCOUNT(why) \
    { \
        "account", why \
    }
#define SELECTED_REFUSED_PERIOD(why) \
    {"from", why}, \
    { \
        "to", why \
    }
#define SELECTED_REFUSED_ALL(why) \
    SELECTED_REFUSED_ACCOUNT(why), SELECTED_REFUSED_PERIOD(why), SELECTED_REFUSED_AT(why)
#define SELECTED_REFUSED_AT(why) \
    { \
        "at", why \
    }

#endif
