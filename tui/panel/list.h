/* The frame of a long list: its title with how many rows there are, the rows that fit, a bar at the right
 * edge where there are more. */
#ifndef TUI_PANEL_LIST_H
#define TUI_PANEL_LIST_H

#include "cli/format.h"
#include "tui/lists.h"
#include "tui/panel/frame.h"

struct list_frame {
    struct lists_rows rows;
    struct area area; /* the panel without the bar: for a table, whose labels are on its first row */
    struct area body; /* below the title */
    struct window window;
    int title_end;
};

/* Draws the title, "Orders (17 of 100000, 3 open) by qty", of which `more` is "3 open" or "", or with a
 * filter "Orders (17 of 812 filtered, 100000 in all)  /stop"; and the bar. */
void panel_list_frame(const struct area *area, const struct scene *scene, enum panel panel, const char *title,
                      const char *more, struct list_frame *ret);

/* Puts the labels on a row of their own, below the title: of rows there is one fewer. */
void panel_list_labels_below(const struct area *area, const struct scene *scene, enum panel panel,
                             struct list_frame *frame);

/* The rows that fit where the chosen one takes `more` rows beyond its first. */
struct window panel_list_window(const struct scene *scene, const struct list_frame *frame, enum panel panel,
                                int more);

/* Draws the bar in the last column of the rows' area, where there are more than it shows. */
void panel_list_bar(const struct area *body, const struct window *window, int64_t count);

/* The columns of a list as they are chosen, at their places of tui_list_columns(). Returns how many. */
int panel_list_columns(const struct scene *scene, int list, struct column shown[static LIST_COLUMNS_MAX]);

/* The columns that the numbers of the known rows take, at least so many. */
int panel_list_number_width(const struct list_frame *frame, int least);

/* Is a time, where it is known, of another day than the clock that is shown, else than now? */
bool panel_list_other_day(const struct scene *scene, int64_t ts_ns);

/* Widens columns of times so that these have their month and day, as far as none of the columns goes for it.
 * The time as a column of that width has it: "14:15:00", "11-28 14:15", "11-28 14:15:00", or with the year.
 */
void panel_list_date(const struct area *area, struct column *columns, int n, const int *times, int n_times);
const char *panel_list_time(char buf[static FORMAT_MAX], int64_t ts_ns, int width);

/* Draws why there is no row, as panel_frame_no_history(), or that the filter leaves none. */
void panel_list_empty(const struct list_frame *frame, const struct scene *scene, const char *none);

/* Draws the row at a place that has not been read yet, or cannot be. */
void panel_list_unread(const struct list_frame *frame, const struct area *body, int y, int64_t place);

#endif
