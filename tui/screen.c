#include "tui/screen.h"

#include <errno.h>
#include <ncurses.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "exchange/lazy_library.h"
#include "tui/mouse_report.h"
#include "tui/press.h"
#include "tui/terminal.h"

enum {
    ESCAPE_DELAY_MS = 25,
    RESTORE_MAX = 128,
    KEY_PASTE = KEY_MAX + 1, /* our own: the two marks of what is pasted */
    KEY_PASTE_END,
    KEY_X10, /* likewise: a report of the mouse begins */
    KEY_SGR,
    REPORT_MS = 500, /* that its bytes may take; what comes later is keys */
};

static const char mouse_reported[] = "\033[?1000h\033[?1006h", mouse_plain[] = "\033[?1006l\033[?1000l";
static const char paste_marked[] = "\033[?2004h", paste_plain[] = "\033[?2004l";

static struct {
    bool open;
    SCREEN *terminal;
    struct termios before; /* the modes that the user had */
    attr_t attributes[STYLES];
    short pairs[STYLES];
    int own_colours;       /* of the terminal's description */
    bool has_rgb, any_rgb; /* it says that it has 24-bit colours; such colours can be sent */
    struct canvas shown;   /* what the window holds */
    char restore[RESTORE_MAX];
    size_t restore_len;
    bool mouse;                 /* is reported */
    struct mouse_report report; /* that is being read: curses would wait for all of it */
    int64_t report_ms;          /* monotonic, when it began */
    int pointer_x, pointer_y;
} screen;

static const int fatal_signals[] = {SIGSEGV, SIGBUS,    SIGFPE,  SIGILL, SIGABRT, SIGSYS,
                                    SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,  SIGPWR};
enum { FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };
static struct sigaction former[FATAL_SIGNALS];

bool tui_screen_possible(void)
{
    const char *term = getenv("TERM");
    int error;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term || !*term)
        return false;
    if (setupterm(term, STDOUT_FILENO, &error) != OK)
        return false;
    bool moves = cursor_address != NULL;
    del_curterm(cur_term);
    return moves;
}

/* Leaves the terminal as it was, without curses. May call only what is safe in a signal handler. */
static void restore(void)
{
    if (screen.open) {
        ssize_t n = write(STDOUT_FILENO, screen.restore, screen.restore_len);
        (void)n;
        tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
    }
}

/* A fault of the program's own goes to the handler that was there before, a sanitizer's, which reports its
 * line. */
static void fatal(int signal_number, siginfo_t *info, void *context)
{
    restore();
    for (size_t i = 0; info->si_code > 0 && i < FATAL_SIGNALS; i++)
        if (fatal_signals[i] == signal_number && former[i].sa_flags & SA_SIGINFO)
            former[i].sa_sigaction(signal_number, info, context);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch_fatal(void)
{
    struct sigaction action = {.sa_sigaction = fatal, .sa_flags = SA_SIGINFO}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        if (sigaction(fatal_signals[i], &action, &before) == 0 && before.sa_sigaction != fatal)
            former[i] = before;
}

/* Never called: the program that opens the screen blocks SIGTSTP. A signal that has a handler when curses
 * starts is left to the program; otherwise each drawing ignores it for a moment, which discards one that
 * waits. */
static void keep_stop(int signal_number)
{
    (void)signal_number;
}

static void remember(const char *capability)
{
    size_t len = capability ? strlen(capability) : 0;

    if (len && len <= RESTORE_MAX - screen.restore_len) {
        memcpy(screen.restore + screen.restore_len, capability, len);
        screen.restore_len += len;
    }
}

/* Asks the terminal to mark what is pasted and to report the mouse, or no longer to; one that does not
 * support it ignores it. */
static void ask_terminal(bool on)
{
    putp(on ? paste_marked : paste_plain);
    putp(on && screen.mouse ? mouse_reported : mouse_plain);
    fflush(stdout);
}

/* The string means the key, whatever the terminal's description takes it for. */
static void take_key(const char *string, int key)
{
    define_key(string, 0);
    define_key(string, key);
}

/* A paint's colour as curses has it: of no more colours than can be sent. */
static int colour_of(const struct paint *paint, enum colours colours)
{
    const enum colours own = screen.own_colours >= 256 ? COLOURS_256 : COLOURS_8,
                       most = screen.any_rgb ? COLOURS_TRUE : own;

    if (colours == COLOURS_AUTO)
        colours = screen.has_rgb ? COLOURS_TRUE : own;
    switch (colours < most ? most : colours) {
    case COLOURS_TRUE:
        return paint->rgb;
    case COLOURS_256:
        return tui_theme_nearest_256(paint->rgb);
    default:
        return paint->colour_8;
    }
}

static void prepare_styles(enum scheme scheme, enum colours colours)
{
    if (getenv("NO_COLOR") && *getenv("NO_COLOR"))
        scheme = SCHEME_MONO;
    bool coloured = scheme != SCHEME_MONO && has_colors() && start_color() == OK;
    if (coloured)
        use_default_colors();
    else
        scheme = SCHEME_MONO;
    for (int i = 0; i < STYLES; i++) {
        struct paint paint = tui_theme_paint(scheme, (enum style)i);
        int colour = colour_of(&paint, colours);
        screen.pairs[i] = 0;
        attr_t dim = paint.dim && (!coloured || colour < 0) ? WA_DIM : 0;
        /* Also what has the terminal's own colour: back to no pair at all, curses writes twice as much. */
        if (coloured && init_extended_pair(i + 1, colour, -1) == OK)
            screen.pairs[i] = (short)(i + 1);
        screen.attributes[i] = (paint.bold ? WA_BOLD : 0) | dim | (paint.reverse ? WA_REVERSE : 0);
    }
    cchar_t blank;
    setcchar(&blank, L" ", screen.attributes[STYLE_NORMAL], screen.pairs[STYLE_NORMAL], NULL);
    bkgrndset(&blank);
}

static void modes(void)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    typeahead(-1);
    set_escdelay(ESCAPE_DELAY_MS);
    leaveok(stdscr, FALSE);
    curs_set(0);
    take_key("\033[200~", KEY_PASTE);
    take_key("\033[201~", KEY_PASTE_END);
    take_key(MOUSE_REPORT_X10, KEY_X10);
    take_key(MOUSE_REPORT_SGR, KEY_SGR);
}

static SCREEN *open_described(const char *description, const char *of_user)
{
    SCREEN *terminal;

    if (!description || setenv("TERMINFO", description, 1) < 0)
        return NULL;
    terminal = newterm(NULL, stdout, stdin);
    if (of_user)
        setenv("TERMINFO", of_user, 1);
    else
        unsetenv("TERMINFO");
    return terminal;
}

/* With 24-bit colours where the terminal's description can have them. */
static SCREEN *open_terminal(void)
{
    const char *term = getenv("TERM"), *of_user = getenv("TERMINFO");
    char *before = of_user ? strdup(of_user) : NULL;
    int error;

    screen.has_rgb = false;
    if (!term || (of_user && !before) || setupterm(term, STDOUT_FILENO, &error) != OK) {
        free(before);
        return NULL;
    }
    screen.own_colours = max_colors;
    screen.has_rgb = tui_terminal_has_rgb();
    char *description = tui_terminal_description(term);
    del_curterm(cur_term);
    SCREEN *terminal = open_described(description, before);
    free(description);
    free(before);
    terminal = terminal ? terminal : newterm(NULL, stdout, stdin);
    screen.any_rgb = terminal && tui_terminal_sends_rgb();
    return terminal;
}

int tui_screen_open(enum scheme scheme, enum colours colours)
{
    unsetenv("LINES");
    unsetenv("COLUMNS");
    if (tcgetattr(STDIN_FILENO, &screen.before) < 0)
        return -ENOTTY;
    struct sigaction action = {.sa_handler = keep_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, NULL);
    screen.terminal = open_terminal();
    if (!screen.terminal)
        return -ENOTTY;
    modes();
    screen.restore_len = 0;
    remember(mouse_plain);
    remember(paste_plain);
    remember(exit_attribute_mode);
    remember(cursor_normal);
    remember(keypad_local);
    remember(exit_ca_mode);
    screen.open = true;
    catch_fatal();
    lazy_library_before_end(restore);
    prepare_styles(scheme, colours);
    ask_terminal(true);
    return 0;
}

void tui_screen_scheme(enum scheme scheme, enum colours colours)
{
    prepare_styles(scheme, colours);
    tui_screen_spoilt();
}

void tui_screen_close(void)
{
    if (!screen.open)
        return;
    ask_terminal(false);
    curs_set(1);
    endwin();
    screen.open = false;
    lazy_library_before_end(NULL);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &screen.before);
    delscreen(screen.terminal);
    screen.terminal = NULL;
    tui_canvas_finish(&screen.shown);
}

void tui_screen_suspend(void)
{
    sigset_t stop, before;
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;

    def_prog_mode();
    ask_terminal(false);
    endwin();
    sigemptyset(&usual.sa_mask);
    sigaction(SIGTSTP, &usual, &ours);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP); /* blocked until the next line */
    sigprocmask(SIG_UNBLOCK, &stop, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGTSTP, &ours, NULL);
    reset_prog_mode();
    refresh();
    keypad(stdscr, TRUE); /* else it is on after the next key, which may be an arrow */
    ask_terminal(true);
    curs_set(0);
    tui_screen_spoilt();
}

void tui_screen_mouse(bool on)
{
    screen.mouse = on;
    ask_terminal(true);
    if (!key_mouse) { /* the console's mouse: curses asks its daemon, and waits for no byte */
        mouseinterval(0);
        mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    }
}

void tui_screen_pointer(int *ret_x, int *ret_y)
{
    *ret_x = screen.pointer_x;
    *ret_y = screen.pointer_y;
}

bool tui_screen_copy(const char *text, size_t len)
{
    unsigned char *coded = malloc(4 * ((len + 2) / 3) + 1);

    if (!coded)
        return false;
    EVP_EncodeBlock(coded, (const unsigned char *)text, (int)len);
    printf("\033]52;c;%s\a", coded);
    fflush(stdout);
    free(coded);
    return true;
}

void tui_screen_size(int *ret_width, int *ret_height)
{
    *ret_width = getmaxx(stdscr);
    *ret_height = getmaxy(stdscr);
}

void tui_screen_spoilt(void)
{
    clearok(curscr, TRUE);
    tui_canvas_finish(&screen.shown);
}

static void show_row(const struct canvas *canvas, int y)
{
    static cchar_t line[CANVAS_SIDE_MAX + 1];
    int n = 0;

    for (int x = 0; x < canvas->width; x++) {
        const struct cell *cell = tui_canvas_cell(canvas, x, y);
        if (!cell->text[0])
            continue; /* the right half of what stands before */
        setcchar(&line[n++], cell->text, screen.attributes[cell->style], screen.pairs[cell->style], NULL);
    }
    mvadd_wchnstr(y, 0, line, n);
}

void tui_screen_show(const struct canvas *canvas)
{
    struct canvas *shown = &screen.shown;
    size_t row = (size_t)canvas->width * sizeof(struct cell);
    bool all = shown->width != canvas->width || shown->height != canvas->height;

    if (all) {
        tui_canvas_finish(shown);
        erase();
        if (tui_canvas_init(shown, canvas->width, canvas->height, canvas->glyphs) < 0)
            *shown = (struct canvas){0};
    }
    for (int y = 0; y < canvas->height; y++) {
        if (!all && memcmp(tui_canvas_cell(shown, 0, y), tui_canvas_cell(canvas, 0, y), row) == 0)
            continue;
        show_row(canvas, y);
        if (shown->cells)
            memcpy(tui_canvas_cell(shown, 0, y), tui_canvas_cell(canvas, 0, y), row);
    }
    wnoutrefresh(stdscr);
    doupdate();
}

/* The press among the events that have come together; 0: there is none that does anything. */
static int pressed_mouse(void)
{
    MEVENT event;

    while (getmouse(&event) != ERR) {
        int press = event.bstate & BUTTON4_PRESSED   ? PRESS_WHEEL_UP
                    : event.bstate & BUTTON5_PRESSED ? PRESS_WHEEL_DOWN
                    : event.bstate & BUTTON1_PRESSED ? PRESS_CLICK
                                                     : 0;
        if (!press)
            continue;
        screen.pointer_x = event.x;
        screen.pointer_y = event.y;
        return press;
    }
    return 0;
}

static int translate(wint_t key)
{
    if (key >= KEY_F(2) && key <= KEY_F(12))
        return PRESS_F2 + (int)(key - KEY_F(2));
    switch (key) {
    case KEY_UP:
        return PRESS_UP;
    case KEY_DOWN:
        return PRESS_DOWN;
    case KEY_LEFT:
        return PRESS_LEFT;
    case KEY_RIGHT:
        return PRESS_RIGHT;
    case KEY_PPAGE:
        return PRESS_PAGE_UP;
    case KEY_NPAGE:
        return PRESS_PAGE_DOWN;
    case KEY_HOME:
        return PRESS_HOME;
    case KEY_END:
        return PRESS_END;
    case KEY_F(1):
    case KEY_HELP:
        return PRESS_HELP;
    case KEY_BACKSPACE:
        return PRESS_BACKSPACE;
    case KEY_DC:
        return PRESS_DELETE;
    case KEY_ENTER:
        return PRESS_ENTER;
    case KEY_MOUSE:
        return pressed_mouse();
    case KEY_PASTE:
        return PRESS_PASTE;
    case KEY_PASTE_END:
        return PRESS_PASTE_END;
    default:
        return PRESS_OTHER;
    }
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What has come of the report: a press, 0: it is over, or it was cut and is dropped; -1: more may come. */
static int read_report(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char byte;
    int press;

    if (now_ms() - screen.report_ms > REPORT_MS) {
        screen.report.kind = MOUSE_REPORT_NONE;
        return 0;
    }
    while (poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) == 1)
        if (tui_mouse_report_take(&screen.report, byte, &press, &screen.pointer_x, &screen.pointer_y))
            return press;
    return -1;
}

int tui_screen_key(bool *ret_resized)
{
    for (;;) {
        wint_t key;
        int reported = screen.report.kind ? read_report() : 0;
        if (reported)
            return reported > 0 ? reported : 0;
        errno = 0;
        int r = get_wch(&key);
        if (r == ERR)
            return 0;
        if (r == KEY_CODE_YES && key == KEY_RESIZE) {
            *ret_resized = true;
            continue;
        }
        if (r == KEY_CODE_YES && (key == KEY_X10 || key == KEY_SGR)) {
            screen.report = (struct mouse_report){key == KEY_X10 ? MOUSE_REPORT_IS_X10 : MOUSE_REPORT_IS_SGR};
            screen.report_ms = now_ms();
            continue;
        }
        int press = r == KEY_CODE_YES ? translate(key) : 0;
        if (press)
            return press;
        if (r == KEY_CODE_YES)
            continue;
        if (key == '\r' || key == '\n')
            return PRESS_ENTER;
        if (key == 0x7f || key == '\b')
            return PRESS_BACKSPACE;
        if (key == 0x1b)
            return PRESS_ESCAPE;
        return key == 0 ? PRESS_OTHER : (int)key;
    }
}
