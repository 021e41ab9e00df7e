/* The form of an order by hand: the arguments and options of `papertape order buy` as fields, or of `order
 * amend`, and the line of the command line that they make. Names, choices and descriptions are those of the
 * verb's rows (cli/order.c). Knows nothing of terminals; what it asks of the daemon is returned as an action.
 */
#ifndef TUI_ORDER_FORM_H
#define TUI_ORDER_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/symbol.h"
#include "record/option.h"
#include "tui/command_line.h"
#include "tui/form_page.h"
#include "tui/model.h"

enum {
    ORDER_FIELDS_MAX = 32,
    ORDER_VALUE_MAX = 48, /* bytes with the NUL: longer than a client id may be */
    ORDER_ANSWER_MAX = 1024,
};

enum order_field_kind {
    ORDER_FIELD_TEXT,
    ORDER_FIELD_PRICE,  /* steps by the tick */
    ORDER_FIELD_QTY,    /* steps by the lot */
    ORDER_FIELD_AMOUNT, /* of money; a distance in price, or in percent */
    ORDER_FIELD_NAME,   /* one that the model has: a symbol, an account */
    ORDER_FIELD_CHOICE, /* one of a few words */
    ORDER_FIELD_FLAG,   /* "yes", or left out */
};

struct order_field {
    char name[32];        /* "side", "symbol", "qty", else its option's */
    bool word;            /* no option: a word of the line */
    const char *argument; /* "P", "buy|sell"; NULL: of a flag */
    const char *words;    /* its description; NULL: it has none */
    enum order_field_kind kind;
    char value[ORDER_VALUE_MAX]; /* "": left out */
    char was[ORDER_VALUE_MAX];   /* of an amend: what the order has, which is not sent */
};

/* What the daemon says that an order would be (`--dry-run`). */
struct order_answer {
    char line[COMMAND_LINE_MAX];  /* that it is of; "": no answer came yet */
    bool done, unanswered;        /* else it would be refused */
    char words[ORDER_ANSWER_MAX]; /* parts of it are apart by "; " */
    int64_t mono_ms;              /* when it came */
};

struct order_form {
    int64_t amends;                                      /* the order; 0: a new one */
    char symbol[SYMBOL_NAME_MAX], side[ORDER_VALUE_MAX]; /* of that order */
    struct order_field fields[ORDER_FIELDS_MAX];
    int n, row;
    bool fresh;      /* nothing was typed in the chosen field yet: a character replaces its value */
    int64_t sent_id; /* of the command that its line was sent as; 0: it was not, or a key was pressed since */
    char words[FORM_WORDS_MAX]; /* why it is not sent; "" */
    struct order_answer answer;
    struct symbol rules; /* of the venue, for its symbol; name "": not known */
};

/* Of a new order, or (`amends` > 0) of one that there is, without values; NULL without memory. destroy(NULL)
 * is fine. */
struct order_form *tui_order_form_create(int64_t amends);
void tui_order_form_destroy(struct order_form *form);

/* The field of that name, or NULL. Of an amend, what is put is what the order has. */
struct order_field *tui_order_form_field(struct order_form *form, const char *name);
const char *tui_order_form_value(const struct order_form *form, const char *name); /* "": none */
void tui_order_form_put(struct order_form *form, const char *name, const char *value);
void tui_order_form_put_number(struct order_form *form, const char *name, double value, int decimals);

/* Leaves out what is of one market alone: each price, distance in price, quantity and amount. */
void tui_order_form_clear_numbers(struct order_form *form);

/* Of an amend: leaves the fields that the order has no number for. */
void tui_order_form_keep_put(struct order_form *form);

/* "order buy BTCUSDT 0.01 --limit 59000": what the verb takes. False: an amend that changes nothing, or
 * "", since the line would be too long. */
bool tui_order_form_line(const struct order_form *form, char text[static COMMAND_LINE_MAX]);

/* Whose rules are to be known. */
const char *tui_order_form_symbol(const struct order_form *form);
bool tui_order_form_sells(const struct order_form *form);

/* The market's price of that symbol at its price_scale; 0: not known. */
int64_t tui_order_form_market(const struct model *model, const struct symbol *rules);

/* The venue's rules of its symbol; a new order without a quantity gets the least that they allow. */
void tui_order_form_take_rules(struct order_form *form, const struct symbol *rules, int64_t market);

/* A key. FORM_ACTION_CHECK: the daemon is to be asked again; SEND: the order is to be confirmed. */
enum form_action tui_order_form_press(struct order_form *form, const struct model *model, int key);
/* Pasted text: into the chosen field, which takes all of it, or nowhere. */
void tui_order_form_paste(struct order_form *form, const int *keys, size_t n);
/* Does the chosen field take that character? */
bool tui_order_form_takes(const struct order_form *form, int key);

#endif
