#include "trainer/command/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t asked;

static void take_signal(int number)
{
    (void)number;
    asked = 1;
}

void stop_on_signals(void)
{
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool stop_asked(void)
{
    return asked;
}
