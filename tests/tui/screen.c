/* The terminal's screen, on a pseudo-terminal. */
#include "tui/screen.h"

#include <pty.h>
#include <signal.h>
#include <stdlib.h>
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
    CHECK_INT(tui_screen_open(SCHEME_MONO), 0);
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

int main(void)
{
    const struct winsize size = {.ws_col = WIDTH, .ws_row = HEIGHT};
    int terminal, program, out = dup(STDOUT_FILENO);

    CHECK_INT(openpty(&terminal, &program, NULL, NULL, &size), 0);
    CHECK_INT(setenv("TERM", "xterm", 1), 0);
    CHECK_INT(dup2(program, STDIN_FILENO), STDIN_FILENO);
    CHECK_INT(dup2(program, STDOUT_FILENO), STDOUT_FILENO);
    check_stop_while_drawing();
    CHECK_INT(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
    return check_done("tui/screen");
}
