/* libsystemd, at its first use. */
#include <systemd/sd-daemon.h>

#include "exchange/lazy_library.h"

static struct lazy_library lib = {.file = "libsystemd.so.0"};

LAZY(lib, int, sd_notify, (int unset_environment, const char *state), (unset_environment, state))
LAZY(lib, int, sd_watchdog_enabled, (int unset_environment, uint64_t *usec), (unset_environment, usec))
