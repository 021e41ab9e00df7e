/* The command line of the dashboard: a line with the words of `papertape VERB …`, which are completed from
 * the verbs' descriptions and from what the model has, and the lines before it. Nothing is read or run here.
 */
#ifndef TUI_COMMAND_LINE_H
#define TUI_COMMAND_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/line_edit.h"
#include "tui/model.h"

enum {
    COMMAND_LINE_MAX = 1024, /* bytes with the NUL */
    COMMAND_LINES_MAX = 200, /* that are kept */
    COMMAND_OFFERS_MAX = 64,
    COMMAND_WORD_MAX = 64,
};

struct saved_views;

struct command_offer {
    char word[COMMAND_WORD_MAX], words[COMMAND_WORD_MAX]; /* what it is; "" */
};

struct command_line {
    struct line_edit edit;
    char *lines[COMMAND_LINES_MAX]; /* [n_lines] earlier ones, the oldest first, owned */
    int n_lines, at;                /* at n_lines: the line that is typed, else an earlier one is shown */
    char draft[COMMAND_LINE_MAX];   /* what was typed when an earlier one was fetched */
    struct command_offer offers[COMMAND_OFFERS_MAX];
    int n_offers, offered;           /* the one that stands in the line; -1: what they have in common */
    size_t common;                   /* so many bytes of them */
    const struct saved_views *saved; /* names of views, borrowed; NULL: none */
    size_t from;                     /* where in the line the word that they replace begins */
};

struct command_line *tui_command_line_create(void); /* NULL without memory */
void tui_command_line_destroy(struct command_line *line);

/* A line that begins with `text`: "" for an empty one. */
void tui_command_line_open(struct command_line *line, const char *text);

/* Would it give a new order, so that --dry-run is of use? */
bool tui_command_line_orders(const char *text);

/* Is its verb, or the action after it, one that acts, whatever the words behind them are? */
bool tui_command_line_acts(const char *text);

/* What the word at the cursor is, by the rows of its verb: "order: by hand: buy, sell, …", "buy|sell SYMBOL
 * [QTY]: a new order, …", "--limit P: a limit order at P, …"; "" where it is none of these. */
void tui_command_line_about(const struct command_line *line, char *buf, size_t size);

/* Keeps a line, cleaned and cut to COMMAND_LINE_MAX, unless it is blank or the last one. True when it was
 * kept. */
bool tui_command_line_keep(struct command_line *line, const char *text);

/* A key of the line, Enter and Escape apart: Tab completes, then goes through what can be meant; up and down
 * fetch earlier lines; the others are tui_line_edit_press()'s. */
void tui_command_line_press(struct command_line *line, const struct model *model, int key);

/* Does what option_line() does with the program papertape: EXIT_OK or another exit status, or what the verb
 * returned. Of a failure `said` has its words, without the program's name. `verb` is the first word, "" for
 * none. */
int tui_command_line_run(const char *text, FILE *out, void *asking, char *said, size_t size,
                         char verb[static COMMAND_WORD_MAX]);

/* The same for a line's request: ASK_LINE_FIRST with it, whose args are the caller's, or the status of a line
 * that has none, and `said`. What it prints is of no use. */
struct ask_line;
int tui_command_line_request(const char *text, struct ask_line *ret, char *said, size_t size,
                             char verb[static COMMAND_WORD_MAX]);

#endif
