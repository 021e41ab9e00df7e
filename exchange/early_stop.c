#include "exchange/early_stop.h"

#include <signal.h>
#include <stddef.h>

static atomic_bool asked;

static void ask(int number)
{
    (void)number;
    atomic_store(&asked, true);
}

static void handle(void (*handler)(int))
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

void early_stop_catch(void)
{
    handle(ask);
}

void early_stop_release(void)
{
    handle(SIG_DFL);
}

bool early_stop_asked(void)
{
    return atomic_load(&asked);
}

const atomic_bool *early_stop_flag(void)
{
    return &asked;
}
