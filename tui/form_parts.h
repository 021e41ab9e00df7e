/* One line of a configuration (INI), split as the reader of record/config_file does it, and joined again
 * with another value. Knows nothing of the lines around it. */
#ifndef TUI_FORM_PARTS_H
#define TUI_FORM_PARTS_H

#include <stdbool.h>
#include <stddef.h>

enum { FORM_WORDS_MAX = 200 };

enum form_kind {
    FORM_TEXT, /* blank, or a comment */
    FORM_SECTION,
    FORM_KEY,
    FORM_OTHER, /* none of these: an error, to be changed as a whole */
};

/* Part of a line. */
struct form_span {
    const char *text;
    size_t len;
};

struct form_parts {
    struct form_span section, key, value; /* what the line's kind has; of FORM_OTHER the value is all of it */
    struct form_span comment;             /* after the value, with its ; */
};

/* The line's kind; its parts point into it. */
enum form_kind tui_form_line_split(const char *line, struct form_parts *ret);

/* Is that its value, or, of an error, its text? */
bool tui_form_line_has(const char *line, const char *value);

/* The line, no FORM_TEXT or FORM_SECTION, with another value, for free(); NULL without memory. */
char *tui_form_line_with(const char *line, const char *value);

/* Would that value not be read back as it is? Then `words` is a sentence why. */
bool tui_form_value_refused(enum form_kind kind, const char *value, char words[static FORM_WORDS_MAX]);

bool tui_form_span_is(struct form_span span, const char *text);

/* The text between the two pointers, without blanks at the ends. */
struct form_span tui_form_span_trimmed(const char *from, const char *to);

#endif
