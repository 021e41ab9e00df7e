/* The frame of all panels: a rule with the panel's name, columns under their labels, a cursor. */
#ifndef TUI_PANEL_FRAME_H
#define TUI_PANEL_FRAME_H

#include <stdbool.h>

#include "cli/format.h"
#include "tui/canvas.h"
#include "tui/line_edit.h"
#include "tui/model.h"
#include "tui/panel/panel.h"

enum { COLUMNS_MAX = 64 };

struct column {
    const char *label;
    int width;
    bool right;
    int rank; /* 1 stays longest when the area is narrow; 0 is not shown */
};

/* Where the columns of a table are; x is -1 for one that does not fit. */
struct table {
    const struct area *area;
    const struct column *columns;
    int n, x[COLUMNS_MAX];
    int end; /* of the title; labels stay right of it */
};

/* Draws the rule of a panel with its title ("Fills") and, unless count is negative, how many there are.
 * Returns the area below it. */
struct area panel_frame_rule(const struct area *area, const struct scene *scene, enum panel panel,
                             const char *title, int count, int *ret_end);

/* The same, of a list that has only `count` of `total`: "Trainings (64 of 71)". */
struct area panel_frame_rule_of(const struct area *area, const struct scene *scene, enum panel panel,
                                const char *title, int count, int64_t total, int *ret_end);

/* Words on the rule that end before column `right`. A title that they cover, which was drawn up to title_end,
 * ends in "~" before them, and the canvas keeps it. Returns the column that they begin in. */
int panel_frame_rule_right(const struct area *area, int right, const char *title, int title_end,
                           enum style style, const char *text);

/* Lays `n` columns out over the area, and writes their labels on its rule. The last column ends at the right
 * edge. */
struct table panel_frame_table(const struct area *area, int title_end, const struct column *columns, int n);

/* How many of the columns fit. */
int panel_frame_fits(const struct area *area, const struct column *columns, int n);

/* Does a title that ends there hide a label, which one that ends at `least` leaves? */
bool panel_frame_hides(const struct area *area, int least, int title_end, const struct column *columns,
                       int n);

/* A row below the title for the labels, which a title hides: the area for the table, all of whose labels are
 * there with PANEL_LABELS_BELOW as the title's end. */
enum { PANEL_LABELS_BELOW = -1, PANEL_LABELS_BELOW_FROM = 5 /* rows of a panel that has room for it */ };
struct area panel_frame_labels_below(const struct area *area);

/* Writes a cell of row y of the area; nothing for a column that does not fit. */
void panel_table_text(const struct table *table, int column, int y, enum style style, const char *text);

/* The rows of a list of `n` that a panel of `height` rows shows: those that it showed, as far as the cursor
 * is among them. */
struct window {
    int first, end;
    int cursor; /* -1 when the panel does not have the focus, or nothing to choose */
};
struct window panel_frame_window(const struct scene *scene, enum panel panel, int n, int height);

/* Copies a name so that it takes at most `columns` columns: its middle as "~", its end whole, which is where
 * the names of a family differ ("ppo-btc-wi~_3"). The canvas keeps one that is cut. */
void panel_frame_middle(struct canvas *canvas, char *buf, size_t size, const char *name, int columns);

/* Marks row y as chosen. */
void panel_frame_cursor(const struct area *area, int y);

/* Line y is row i of a list, or the first of its lines: notes that, and marks it where it is the chosen one.
 */
void panel_frame_row(const struct area *area, int y, const struct window *window, int i);
void panel_frame_lines(const struct area *area, int y, int lines, const struct window *window, int i);

/* The style of a figure by its freshness, and the age in words: "0.3s", "closed", "STALE 94s", "-". */
enum style panel_frame_style(enum freshness freshness, enum style style);
void panel_frame_age(char *buf, size_t size, enum freshness freshness, int64_t age_ms);

/* Two percentiles in milliseconds: "41/66", or "n/a". */
const char *panel_frame_latency(char buf[static FORMAT_MAX], double p50_ms, double p99_ms);

/* Why there are no rows: `none`, when the database has been read and has none; else its error. */
const char *panel_frame_no_history(const struct model *model, const char *none);

/* Writes why a panel is empty, dim, broken at blanks where a line is too long. */
void panel_frame_empty(const struct area *body, const char *words);

/* A sentence with its keys in force, as tui_key_map_sentence(). */
enum { PANEL_SENTENCE_MAX = 320 };
const char *panel_frame_sentence(const struct scene *scene, const char *words,
                                 char ret[static PANEL_SENTENCE_MAX]);

/* Writes text into at most `rows` rows of the area from y on, broken at blanks; the last one ends in "~"
 * where it was cut. Returns the row after the last. */
int panel_frame_wrap(const struct area *area, int y, int rows, enum style style, const char *text);

/* Writes all of a text, in a row at least, from row y on, which may be above the area, up to column `width`:
 * its first row from column x on, the others from `hang` on. Writes nothing where `area` is NULL. Returns the
 * row after the last. */
int panel_frame_wrap_all(const struct area *area, int y, int x, int hang, int width, enum style style,
                         const char *text);

/* How many rows of so many columns the whole text takes. */
int panel_frame_wrap_rows(const char *text, int columns);

/* A segment of a line; the ones with the highest rank are left out until the rest fits. */
struct segment {
    char text[64];
    enum style style;
    int rank;
    int gap; /* blanks before it */
};

/* Blanks the segments of the highest ranks until the rest fits into `room` columns, or only rank 1 is left.
 * Returns their width. */
int panel_frame_fit(struct segment *segments, int n, int room);

/* Draws segments from the left, those that fit; returns the column after the last. */
int panel_frame_segments(const struct area *area, int x, int y, int end, struct segment *segments, int n);

/* Draws a line that is typed from column x of row y on, shifted so that its cursor is in sight. */
void panel_frame_edit(const struct area *area, int x, int y, const struct line_edit *edit);

/* A row of keys and what each does, from the left: those that have room. Where one has none, the canvas keeps
 * all of them at the end. */
struct hint_row {
    const struct area *area;
    int x;
    bool full;
    char all[400];
};
struct hint_row panel_frame_hints(const struct area *area);
void panel_frame_hint(struct hint_row *row, const char *key, const char *word);
void panel_frame_hints_end(const struct hint_row *row);

/* A box in the middle of the screen with a title; returns its inside. */
struct area panel_frame_box(const struct area *screen, int width, int height, const char *title);

/* The keys of a question in the last row of a box's inside, or in its frame below: what y does, and any other
 * does not. */
void panel_frame_yes(const struct area *box, bool in_frame, const char *does);

/* "Mon 14:30Z", of a time within the week; with the date of a later one. */
void panel_frame_when(char buf[static FORMAT_MAX], int64_t ts_ns, int64_t now_ns);

/* The style of a feed or a venue in that state. */
enum style panel_frame_feed_style(const char *state);

/* In a row of a box, unless that is NULL: what of the set-up is not saved. False: all is, and nothing is
 * written. */
bool panel_frame_unsaved(const struct area *box, int y, const struct view *view);

#endif
