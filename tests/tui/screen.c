/* The terminal's screen, on a pseudo-terminal. */
#include "tui/screen.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

enum { WIDTH = 40, HEIGHT = 10 };

static bool pending(int signal_number)
{
    sigset_t set;

    CHECK_INT(sigpending(&set), 0);
    return sigismember(&set, signal_number) == 1;
}

/* Ctrl-Z while a picture is drawn: curses ignores SIGTSTP meanwhile where it has a handler of its own, and
 * what is ignored is not pending any more. */
static void check_stop_while_drawing(void)
{
    struct canvas canvas;
    sigset_t stop;

    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    CHECK_INT(sigprocmask(SIG_BLOCK, &stop, NULL), 0);
    CHECK_INT(tui_screen_open(SCHEME_MONO, COLOURS_AUTO), 0);
    CHECK_INT(tui_canvas_init(&canvas, WIDTH, HEIGHT, GLYPHS_ASCII), 0);
    CHECK_INT(kill(getpid(), SIGTSTP), 0);
    CHECK(pending(SIGTSTP));
    tui_screen_show(&canvas);
    CHECK(pending(SIGTSTP));
    tui_screen_spoilt();
    tui_screen_show(&canvas);
    CHECK(pending(SIGTSTP));
    tui_canvas_finish(&canvas);
    tui_screen_close();
    CHECK(pending(SIGTSTP));
}

/* All that was written to the terminal since. */
static const char *written(int terminal)
{
    static char text[1 << 16];
    struct pollfd input = {terminal, POLLIN, 0};
    size_t n = 0;

    while (n + 1 < sizeof(text) && poll(&input, 1, 0) > 0) {
        ssize_t got = read(terminal, text + n, sizeof(text) - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    text[n] = '\0';
    return text;
}

/* What a gain is drawn with, from the opening of the screen to its end. */
static const char *drawn(int terminal, enum scheme scheme, enum colours colours)
{
    struct canvas canvas;

    CHECK_INT(tui_screen_open(scheme, colours), 0);
    CHECK_INT(tui_canvas_init(&canvas, WIDTH, HEIGHT, GLYPHS_ASCII), 0);
    const struct area area = tui_canvas_area(&canvas);
    tui_area_text(&area, 1, 1, STYLE_UP, "gain");
    tui_screen_show(&canvas);
    tui_canvas_finish(&canvas);
    tui_screen_close();
    return written(terminal);
}

/* Is it drawn with colours of 24 bits, of 256, of 8? */
static void check_drawn(int terminal, enum scheme scheme, enum colours colours, const char *expected)
{
    static const char *const forms[] = {"\033[38;2;", "\033[38;5;", "\033[32m"};
    const char *text = drawn(terminal, scheme, colours);

    CHECK(strstr(text, "gain") != NULL);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        CHECK_INT(strstr(text, forms[i]) != NULL, expected && strcmp(forms[i], expected) == 0);
    CHECK(!strstr(text, "\033]4;") && !strstr(text, "\033]104") && !strstr(text, "\033]P")); /* the palette */
}

/* By what the terminal says, by what the user says, and never by the palette. */
static void check_colours(int terminal)
{
    const char *rgb = "\033[38;2;", *of_256 = "\033[38;5;", *of_8 = "\033[32m";

    unsetenv("NO_COLOR");
    unsetenv("COLORTERM");
    setenv("TERM", "xterm-256color", 1);
    setenv("TERMINFO", "/nowhere", 1);
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_AUTO, of_256);
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_TRUE, rgb);
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_8, of_8);
    CHECK_STR(getenv("TERMINFO"), "/nowhere");
    unsetenv("TERMINFO");
    setenv("COLORTERM", "truecolor", 1);
    for (enum scheme scheme = SCHEME_DEFAULT; scheme < SCHEME_MONO; scheme++)
        check_drawn(terminal, scheme, COLOURS_AUTO, rgb);
    check_drawn(terminal, SCHEME_MONO, COLOURS_AUTO, NULL);
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_256, of_256);
    CHECK(getenv("TERMINFO") == NULL);
    setenv("NO_COLOR", "1", 1);
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_TRUE, NULL);
    unsetenv("NO_COLOR");
    setenv("TERM", "linux", 1); /* the description's own 8 */
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_AUTO, of_8);
    setenv("TERM", "vt100", 1);
    check_drawn(terminal, SCHEME_DEFAULT, COLOURS_TRUE, NULL);
    setenv("TERM", "xterm", 1);
}

/* As a sanitizer's handler: status 7 where it is given the fault itself, with its address. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    _exit(signal_number == SIGILL && info->si_code > 0 && info->si_addr ? 7 : 8);
}

/* A fault of the program's own reaches the handler that was there before, on the restored terminal; a
 * signal that is sent ends it. */
static void check_fault(int terminal, bool own)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        sigaction(SIGILL, &action, NULL);
        tui_screen_open(SCHEME_MONO, COLOURS_AUTO);
        if (!own)
            raise(SIGILL);
        __builtin_trap();
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(own ? WIFEXITED(status) && WEXITSTATUS(status) == 7
              : WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
    CHECK(strstr(written(terminal), "\033[?1049l") != NULL);
}

int main(void)
{
    const struct winsize size = {.ws_col = WIDTH, .ws_row = HEIGHT};
    int terminal, program, out = dup(STDOUT_FILENO);

    CHECK_INT(openpty(&terminal, &program, NULL, NULL, &size), 0);
    CHECK_INT(setenv("TERM", "xterm", 1), 0);
    CHECK_INT(dup2(program, STDIN_FILENO), STDIN_FILENO);
    CHECK_INT(dup2(program, STDOUT_FILENO), STDOUT_FILENO);
    check_stop_while_drawing();
    written(terminal);
    check_colours(terminal);
    check_fault(terminal, true);
    check_fault(terminal, false);
    CHECK_INT(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
    return check_done("tui/screen");
}
