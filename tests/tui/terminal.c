/* The description of a terminal with 24-bit colours: curses, which reads it, has each capability as in the
 * database, only the colours are others. */
#include "tui/terminal.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "tests/check.h"

enum { CAPABILITIES_MAX = 1024 };

/* Each capability by its name, as tigetflag(), tigetnum() and tigetstr() have it. */
struct capabilities {
    int n, flags, numbers;
    struct capability {
        char *name, *text; /* text: NULL: none */
        long value;
    } each[CAPABILITIES_MAX];
};

static void add(struct capabilities *to, const char *name, long value, const char *text)
{
    const bool is = text && text != (const char *)-1;

    if (to->n == CAPABILITIES_MAX)
        abort();
    to->each[to->n++] = (struct capability){strdup(name), is ? strdup(text) : NULL, value};
}

/* Of the terminal that curses has: those of the lists in term.h, then those of its own that `more` names, in
 * the order of flags, numbers and texts; NULL: its own. */
static void read_all(struct capabilities *ret, const struct capabilities *more)
{
    const TERMTYPE *type = &cur_term->type;
    const int flags = more ? more->flags : type->ext_Booleans,
              numbers = more ? more->numbers : type->ext_Numbers;
    int n = 0;

    *ret = (struct capabilities){.flags = flags, .numbers = numbers};
    for (int i = 0; boolnames[i]; i++, n++)
        add(ret, boolnames[i], tigetflag(boolnames[i]), NULL);
    for (int i = 0; numnames[i]; i++, n++)
        add(ret, numnames[i], tigetnum(numnames[i]), NULL);
    for (int i = 0; strnames[i]; i++, n++)
        add(ret, strnames[i], 0, tigetstr(strnames[i]));
    const int own = more ? more->n - n : type->ext_Booleans + type->ext_Numbers + type->ext_Strings;
    for (int i = 0; i < own; i++) {
        char *name = more ? more->each[n + i].name : type->ext_Names[i];
        add(ret, name,
            i < flags             ? tigetflag(name)
            : i < flags + numbers ? tigetnum(name)
                                  : 0,
            i < flags + numbers ? NULL : tigetstr(name));
    }
}

static void forget(struct capabilities *all)
{
    for (int i = 0; i < all->n; i++) {
        free(all->each[i].name);
        free(all->each[i].text);
    }
}

static bool is_colour(const char *name)
{
    static const char *const colours[] = {"colors", "pairs", "setaf", "setab", "setf", "setb",
                                          "ccc",    "initc", "initp", "oc",    "RGB"};

    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        if (strcmp(name, colours[i]) == 0)
            return true;
    return false;
}

static bool is_absent(const char *name)
{
    const char *text = tigetstr(name);

    return !text || text == (const char *)-1;
}

static void check_same(const struct capabilities *a, const struct capabilities *b)
{
    CHECK_INT(a->n, b->n);
    for (int i = 0; i < a->n && i < b->n; i++) {
        const struct capability *x = &a->each[i], *y = &b->each[i];
        CHECK_STR(x->name, y->name);
        if (is_colour(x->name))
            continue;
        CHECK_INT(x->value, y->value);
        CHECK_STR(x->text ? x->text : "", y->text ? y->text : "");
    }
}

/* False: the database has no such terminal. */
static bool check_terminal(const char *term)
{
    static struct capabilities before, after;
    int error;

    if (setupterm(term, STDOUT_FILENO, &error) != OK)
        return false;
    read_all(&before, NULL);
    CHECK(!tui_terminal_sends_rgb() || strstr(term, "direct"));
    char *description = tui_terminal_description(term);
    CHECK(description != NULL);
    del_curterm(cur_term);
    setenv("TERMINFO", description, 1);
    int r = setupterm(term, STDOUT_FILENO, &error);
    unsetenv("TERMINFO");
    free(description);
    CHECK_INT(r, OK);
    if (r != OK)
        return true;
    read_all(&after, &before);
    check_same(&before, &after);
    forget(&before);
    forget(&after);
    CHECK(tui_terminal_sends_rgb());
    CHECK(tigetflag("ccc") <= 0 && is_absent("initc") && is_absent("initp") && is_absent("oc"));
    CHECK_STR(tparm(set_a_foreground, 3), "\033[33m");
    CHECK_STR(tparm(set_a_background, 214), "\033[48;5;214m");
    CHECK_STR(tparm(set_a_foreground, 0x000100), "\033[38;2;0;1;0m");
    CHECK_STR(tparm(set_a_foreground, 0x12abff), "\033[38;2;18;171;255m");
    CHECK_STR(tparm(set_a_background, 0xffffff), "\033[48;2;255;255;255m");
    CHECK(tui_terminal_has_rgb());
    del_curterm(cur_term);
    return true;
}

static void check_colorterm(const char *term, const char *colorterm, const char *tmux, bool has)
{
    int error;

    setenv("TERM", term, 1);
    if (colorterm)
        setenv("COLORTERM", colorterm, 1);
    else
        unsetenv("COLORTERM");
    if (tmux)
        setenv("TMUX", tmux, 1);
    else
        unsetenv("TMUX");
    if (setupterm(term, STDOUT_FILENO, &error) != OK)
        return;
    CHECK_INT(tui_terminal_has_rgb(), has);
    del_curterm(cur_term);
}

int main(void)
{
    static const char *const terms[] = {
        "xterm-256color", "xterm",     "tmux-256color",         "screen-256color",
        "linux",          "rxvt",      "rxvt-unicode-256color", "xterm-kitty",
        "foot",           "alacritty", "xterm-direct",          "konsole-direct"};
    int n = 0, error;

    unsetenv("COLORTERM");
    unsetenv("TERMINFO");
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
        n += check_terminal(terms[i]);
    CHECK(n > 0);
    if (setupterm("vt100", STDOUT_FILENO, &error) == OK) { /* it has no colours */
        CHECK(tui_terminal_description("vt100") == NULL && !tui_terminal_sends_rgb());
        del_curterm(cur_term);
    }
    check_colorterm("xterm-256color", NULL, NULL, false);
    check_colorterm("xterm-256color", "truecolor", NULL, true);
    check_colorterm("xterm", "24bit", NULL, true);
    check_colorterm("xterm-256color", "yes", NULL, false);
    check_colorterm("tmux-256color", "truecolor", "/tmp/tmux", true);
    check_colorterm("screen-256color", "truecolor", NULL, false);
    check_colorterm("screen-256color", "truecolor", "/tmp/tmux", true);
    check_colorterm("linux", "truecolor", NULL, false);
    return check_done("tui/terminal");
}
