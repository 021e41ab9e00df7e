/* The lists whose rows the model holds: trainings, policies, positions and prices, as the last status has
 * them, sorted and filtered as the lists that are read by SQL (db/list.h); and the trials of the study that
 * was read, tui/study_rows.h. Pure. */
#ifndef TUI_LIST_HELD_H
#define TUI_LIST_HELD_H

#include "db/list_filter.h"
#include "tui/list.h"
#include "tui/model.h"

/* The columns that a list is sorted by, column 0 the model's own order; NULL for another, as for a parameter
 * of trials, which may be any: tui_list_held_sort() has those too. */
const char *tui_list_held_column(int list, int column);
int tui_list_held_columns(int list);
const char *tui_list_held_sort(const struct model *model, int list, int column);
int tui_list_held_sorts(const struct model *model, int list);

/* How many rows the model has; the row at a place of its own order: struct status_training, status_policy,
 * status_position, status_symbol, tui_study_trial. */
int tui_list_held_total(const struct model *model, int list);
const void *tui_list_held_row(const struct model *model, int list, int place);

/* A row's name: of a training, a policy, a symbol; a position's is its symbol's, a trial's its study's. */
const char *tui_list_held_name(const struct model *model, int list, const void *row);

/* A row's number: of its name, a position's of its account's too, a trial's of its number, so that it stays
 * the row's. Above 0. */
int64_t tui_list_held_id(const struct model *model, int list, const void *row);

enum { LIST_HELD_WORDS_MAX = 256 };

/* As struct db_list_query's filters, a word before "=" that names no column is an error, and a value that
 * nothing is above or below. False, with a sentence. */
bool tui_list_held_check(const struct model *model, int list, const char *text,
                         char ret_words[static LIST_HELD_WORDS_MAX]);

/* Does a row have what a filter looks for? As struct db_list_query has it; a row has no number to name,
 * except a trial. Nothing has what tui_list_held_check() finds wrong. */
bool tui_list_held_matches(const struct model *model, int list, const void *row, const char *text);

/* Does a number of such values, but texts, match the filter of its column? For a list's own columns. */
bool tui_list_held_value(const struct db_list_filter *filter, enum db_list_value value, double number);

/* Does a time, as it is shown, have these words? False of words that no time can have. */
bool tui_list_held_time(int64_t ns, const char *words);

/* The rows that the choice leaves, in their order, for free(). NULL: there are none, or no memory. */
const void **tui_list_held_rows(const struct model *model, int list, const struct list_choice *choice,
                                int *ret_n);

#endif
