#include "indicators_gpu/plugin_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange/exit_status.h"

_Thread_local const char *indicator_plugin_running PLUGIN_WATCH_TLS;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};

enum { CRASHES = sizeof crashes / sizeof *crashes };

static struct sigaction before[CRASHES];

/* Calls that a signal handler may make alone. */
static void write_text(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static void write_line(const char *what)
{
    write_text(program_invocation_short_name);
    write_text(": ");
    write_text(indicator_plugin_running);
    write_text(what);
}

static void on_exit_of_process(void)
{
    if (!indicator_plugin_running)
        return;
    write_line(": its code called exit(), which ends this program: a plug-in returns instead\n");
    _exit(EXIT_ERROR);
}

void indicator_plugin_watch_exit(void)
{
    (void)atexit(on_exit_of_process);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (indicator_plugin_running) {
        const char *name = sigabbrev_np(number);
        write_line(": its code crashed: SIG");
        write_text(name ? name : "?");
        write_text("\n");
    }
    for (size_t i = 0; i < CRASHES; i++)
        if (crashes[i] == number)
            (void)sigaction(number, &before[i], NULL);
    if (info->si_code <= 0) /* a fault comes again by itself, with its address */
        (void)raise(number);
}

void indicator_plugin_watch_crashes(void)
{
    const struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < CRASHES; i++)
        (void)sigaction(crashes[i], &action, &before[i]);
}
