/* A page about one item of a list: an order, a fill, an alert … as lines that wrap and scroll. The database's
 * part is read by tui_item_read(), the status' part written by tui_item_status(); drawing only reads. */
#ifndef TUI_ITEM_H
#define TUI_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/json.h"
#include "tui/status.h"
#include "tui/style.h"

enum item_kind {
    ITEM_NONE,
    ITEM_ORDER,    /* id */
    ITEM_EXTERNAL, /* an order from elsewhere: name is its client id */
    ITEM_FILL,     /* id */
    ITEM_ALERT,    /* id */
    ITEM_COMMAND,  /* id */
    ITEM_TRIP,     /* id: of the fill that closed it */
    ITEM_LEDGER,   /* id, of an entry */
    ITEM_ACCOUNT,  /* name */
    ITEM_POSITION, /* account, and the symbol as name */
    ITEM_SYMBOL,   /* name */
    ITEM_POLICY,   /* name */
    ITEM_WHAT_IF,  /* name: the line of the command line, "what-if …" */
    ITEM_KINDS,
};

enum {
    ITEM_NAME_MAX = 160, /* a what-if is the longest */
    ITEM_REFUSAL_MAX = 400,
};

struct item {
    enum item_kind kind;
    int64_t id;
    char name[ITEM_NAME_MAX], account[ACCOUNT_NAME_MAX];
    int64_t order; /* a fill's, an entry's, and the one that closed a round trip: whose page Enter opens; 0:
                      none */
    int64_t first; /* a round trip's first fill; less than 0: not known yet */
};

bool tui_item_equal(const struct item *a, const struct item *b);

/* The items that have a page by their names, as tui_item_parse() reads them. */
#define ITEM_FORMS \
    "order:N, fill:N, alert:N, command:N, trip:N, ledger:N, account:NAME, symbol:NAME, policy:NAME or " \
    "position:SYMBOL:ACCOUNT"

/* "order:883", "account:main", "position:BTCUSDT:main". False: it is none of these. */
bool tui_item_parse(const char *text, struct item *ret);

/* The other way round. False, and "": it is of a kind that has no such text. */
bool tui_item_form(const struct item *item, char *buf, size_t size);

/* "order 883", "position BTCUSDT of main". */
void tui_item_title(const struct item *item, char *buf, size_t size);

/* A line: a label and its text, or a text alone. Rows after its first begin `hang` columns from the left. */
struct item_line {
    enum style style;
    int hang;
    char *label, *text; /* owned; label "": none */
};

struct item_page {
    struct item item; /* whose it is; ITEM_NONE: nothing is there yet */
    struct item_line *lines;
    size_t n, cap;
    char refusal[ITEM_REFUSAL_MAX]; /* of an order, in the words of `papertape explain`; "": not known */
    bool no_memory;                 /* a line is missing */
    bool unknown;                   /* the status does not have it */
    bool gone;                      /* nor has the database: the lines say so, and below what was read last */
    int64_t read_ns;                /* when it was found last, by the wall; 0: never */
};

/* Frees the lines, and leaves a page of nothing. */
void tui_item_page_finish(struct item_page *page);

void tui_item_heading(struct item_page *page, const char *text);
void tui_item_line(struct item_page *page, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tui_item_field(struct item_page *page, const char *label, enum style style, const char *text);

/* A line of another page, dim. */
void tui_item_again(struct item_page *page, const struct item_line *line);

/* A text of several lines, each with its own indentation, under which its other rows stand. */
void tui_item_text(struct item_page *page, enum style style, const char *text);

/* Every field of a record that has a value, in its order; a boolean where it is true; no hash, no scale, nor
 * the field of that name. `context` and `without` may be NULL. */
void tui_item_record(struct item_page *page, const struct record *record, const void *row,
                     const struct record_context *context, const char *without);

struct model;
struct history_reader;

/* The part that the daemon's status, or what is stored in its place, knows. */
void tui_item_status(struct item_page *page, const struct model *model);

/* The part that the database knows, of one moment. 1; 0: the item is not stored; -errno: db_reader_error().
 */
int tui_item_read(struct item_page *page, struct history_reader *reader);

/* After tui_item_read() gave 0 or 1, at a moment by the wall: of an item that is not stored what the status
 * knows of it; of one that is not known either that there is none, and what the page before had, where it was
 * of the same item, whose lines may then be taken over. */
void tui_item_settle(struct item_page *page, int stored, struct item_page *before, const struct model *model,
                     int64_t now_ns);

#endif
