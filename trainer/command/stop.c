#include "trainer/command/stop.h"

#include <signal.h>
#include <stddef.h>

static atomic_bool asked;

static const int signals[] = {SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void take_all(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, NULL);
}

/* Restores the default action for both signals. */
static void take_signal(int number)
{
    (void)number;
    atomic_store(&asked, true);
    take_all(SIG_DFL, 0);
}

void trainer_stop_on_signals(void)
{
    take_all(take_signal, SA_RESTART);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool trainer_stop_asked(void)
{
    return atomic_load(&asked);
}

const atomic_bool *trainer_stop_flag(void)
{
    return &asked;
}
