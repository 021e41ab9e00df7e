/* Which trials of a study's page are shown, and in what order. */
#ifndef TUI_STUDY_ROWS_H
#define TUI_STUDY_ROWS_H

#include "db/list_filter.h"
#include "tui/study_page.h"

/* Orders; those from SORT_PARAMS on are parameters, as tui_study_rows_columns() has them. */
enum study_sort {
    SORT_NEWEST /* running ones first */,
    SORT_VALUE,
    SORT_STATE,
    SORT_DURATION,
    SORT_STARTED,
    SORT_ENDED,
    SORT_PARAMS
};

/* The parameter of a rank: by importance, then as they were met, whatever is sorted by; -1: there are fewer.
 */
int tui_study_rows_param(const struct tui_study_page *page, int rank);

/* The page's parameters as columns: one that is sorted by first, then by importance, then as they were met.
 * Writes at most `cap` indices, returns how many there are to write. */
int tui_study_rows_columns(const struct tui_study_page *page, int sort, int *ret, int cap);

/* The order's name: "newest", "value", …, or the parameter's, where there is a page. `sort` beyond the last
 * is the first. */
const char *tui_study_rows_name(const struct tui_study_page *page, int sort);
int tui_study_rows_sorts(const struct tui_study_page *page); /* how many orders there are */

/* The state as the lists write it: "ok", "pruned", "infs" of what constraints rule out, … */
const char *tui_study_rows_state(const struct tui_study_trial *trial);

/* The names that a filter can have before its sign, 0 …: of columns, then of parameters by their rank. NULL:
 * there are fewer. */
const char *tui_study_rows_filter(const struct tui_study_page *page, int i);

/* Does the filter name a column of trials, or a parameter, whole or in a part that no other has ("lr" of
 * "ppo.lr")? What its values are. */
bool tui_study_rows_names(const struct tui_study_page *page, const struct db_list_filter *filter,
                          enum db_list_value *ret);

/* Has the trial `text` in its number, state, worker, failure or a parameter ("lr=", "Adam"), or is its
 * state written so, or as a shown time; is a number, span or time of it above, below or equal
 * ("learning_rate<1e-3", "duration>60s", "ended>09:30")? Has it not, where that begins with "!"? "": yes. */
bool tui_study_rows_match(const struct tui_study_page *page, const struct tui_study_trial *trial,
                          const char *text);

/* The trials that match. Newest first, but those that run before all; best first; running first; longest
 * first; started or ended last first; least parameter first: inverted the other way round, but what has no
 * such figure, as the duration of what has not ended, is last either way. The page's, until it is asked for
 * others; NULL without memory, and with none. */
const struct tui_study_trial *const *tui_study_rows(const struct tui_study_page *page, int sort, bool invert,
                                                    const char *filter, int *ret_n);

#endif
