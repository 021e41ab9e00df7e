#include "tui/terminal.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

#define PREFIX "hex:"
/* A number of the palette, else red, green and blue: with semicolons, which more terminals take than the
 * colons of ISO 8613-6. */
#define SET_COLOUR(layer) \
    "\033[%?%p1%{8}%<%t" layer "%p1%d%e" layer "8;%?%p1%{256}%<%t5;%p1%d%e2;%p1%{65536}%/%d;" \
    "%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;%;m"

enum {
    MAGIC = 01036,     /* numbers of 32 bits */
    SIZE_MOST = 32768, /* bytes, by term(5) */
    ABSENT = -1,
};

/* What is written; `len` may be more than there is room for. */
struct bytes {
    unsigned char at[SIZE_MOST];
    size_t len;
};

/* What takes the place of the terminal's own: nothing that changes the palette is left. */
static const struct {
    const char *name, *value;
} strings[] = {{"setaf", SET_COLOUR("3")},
               {"setab", SET_COLOUR("4")},
               {"setf", NULL},
               {"setb", NULL},
               {"initc", NULL},
               {"initp", NULL},
               {"oc", NULL}};
static const char rgb[] = "RGB"; /* that colours are not numbers of a palette */

static bool is_text(const char *value)
{
    return value && value != (const char *)-1; /* as curses has what was cancelled */
}

bool tui_terminal_has_rgb(void)
{
    const char *says = getenv("COLORTERM"), *term = getenv("TERM");

    if (tigetflag("Tc") > 0 || tigetflag(rgb) > 0 || tigetnum(rgb) > 0 || is_text(tigetstr(rgb)))
        return true;
    if (!says || !term || strcmp(term, "linux") == 0 || (strncmp(term, "screen", 6) == 0 && !getenv("TMUX")))
        return false;
    return strcmp(says, "truecolor") == 0 || strcmp(says, "24bit") == 0;
}

bool tui_terminal_sends_rgb(void)
{
    return tigetflag(rgb) > 0 && tigetnum("colors") == TERMINAL_RGB;
}

static void put(struct bytes *to, const void *bytes, size_t n)
{
    if (to->len + n <= sizeof(to->at))
        memcpy(to->at + to->len, bytes, n);
    to->len += n;
}

static void put_number(struct bytes *to, long value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put(to, &(unsigned char){(unsigned char)((unsigned long)value >> (8 * i))}, 1);
}

static void put_even(struct bytes *to)
{
    if (to->len % 2)
        put(to, "", 1);
}

/* The text into the table, and where it is in it, counted from `from`. */
static void put_text(struct bytes *offsets, struct bytes *table, size_t from, const char *text)
{
    put_number(offsets, is_text(text) ? (long)(table->len - from) : ABSENT, 2);
    if (is_text(text))
        put(table, text, strlen(text) + 1);
}

static const char *string_of(const TERMTYPE *type, int i)
{
    for (size_t k = 0; k < sizeof(strings) / sizeof(strings[0]); k++)
        if (strcmp(strnames[i], strings[k].name) == 0)
            return strings[k].value;
    return type->Strings[i];
}

/* The capabilities that every terminal can have. */
static void put_standard(struct bytes *to, const TERMTYPE *type, const char *term)
{
    const int flags = type->num_Booleans - type->ext_Booleans,
              numbers = type->num_Numbers - type->ext_Numbers, texts = type->num_Strings - type->ext_Strings;
    const size_t term_size = strlen(term) + 1, name_size = term_size + strlen(type->term_names) + 1;
    struct bytes offsets = {.len = 0}, table = {.len = 0};

    for (int i = 0; i < texts; i++)
        put_text(&offsets, &table, 0, string_of(type, i));
    const long head[] = {MAGIC, (long)name_size, flags, numbers, texts, (long)table.len};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        put_number(to, head[i], 2);
    put(to, term, term_size - 1); /* some names are only those of a file */
    put(to, "|", 1);
    put(to, type->term_names, name_size - term_size);
    for (int i = 0; i < flags; i++)
        put_number(to, type->Booleans[i] == TRUE && strcmp(boolnames[i], "ccc") != 0, 1);
    put_even(to);
    for (int i = 0; i < numbers; i++)
        put_number(to, strcmp(numnames[i], "colors") == 0 ? TERMINAL_RGB : type->Numbers[i], 4);
    put(to, offsets.at, offsets.len);
    put(to, table.at, table.len);
    put_even(to);
}

/* RGB, and what else the terminal has, such as its keys with Shift and Ctrl. */
static void put_extended(struct bytes *to, const TERMTYPE *type)
{
    const int flags = type->ext_Booleans, numbers = type->ext_Numbers, texts = type->ext_Strings;
    struct bytes offsets = {.len = 0}, table = {.len = 0};

    for (int i = type->num_Strings - texts; i < type->num_Strings; i++)
        put_text(&offsets, &table, 0, type->Strings[i]);
    const size_t names = table.len;
    put_text(&offsets, &table, names, rgb);
    for (int i = 0; i < flags + numbers + texts; i++)
        put_text(&offsets, &table, names, type->ext_Names[i]);
    const long head[] = {1 + flags, numbers, texts, 1 + flags + numbers + 2 * texts, (long)table.len};
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        put_number(to, head[i], 2);
    put_number(to, TRUE, 1);
    for (int i = type->num_Booleans - flags; i < type->num_Booleans; i++)
        put_number(to, type->Booleans[i] == TRUE, 1);
    put_even(to);
    for (int i = type->num_Numbers - numbers; i < type->num_Numbers; i++)
        put_number(to, type->Numbers[i], 4);
    put(to, offsets.at, offsets.len);
    put(to, table.at, table.len);
}

char *tui_terminal_description(const char *term)
{
    static const char digits[] = "0123456789abcdef";
    struct bytes bytes = {.len = 0};
    char *text, *at;

    if (!is_text(set_a_foreground) || strncmp(set_a_foreground, "\033[", 2) != 0)
        return NULL;
    put_standard(&bytes, &cur_term->type, term);
    put_extended(&bytes, &cur_term->type);
    if (bytes.len > sizeof(bytes.at) || !(text = malloc(sizeof(PREFIX) + 2 * bytes.len)))
        return NULL;
    memcpy(text, PREFIX, sizeof(PREFIX));
    at = text + strlen(PREFIX);
    for (size_t i = 0; i < bytes.len; i++) {
        *at++ = digits[bytes.at[i] >> 4];
        *at++ = digits[bytes.at[i] & 15];
    }
    *at = '\0';
    return text;
}
