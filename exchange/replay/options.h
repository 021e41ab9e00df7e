/* papertape-replay's command line. */
#ifndef EXCHANGE_REPLAY_OPTIONS_H
#define EXCHANGE_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/replay/fault_schedule.h"
#include "record/option.h"

struct protocol_row;

/* One of a venue's own options, as it was given; the name without its dashes. */
struct option_given {
    const char *name, *value;
};

struct options {
    const struct protocol_row *venue;
    struct option_given *given; /* venue->options, in the order given */
    size_t n_given;
    const char **recordings, **bars; /* file names */
    size_t n_recordings, n_bars;
    bool synthetic;
    uint64_t seed;
    int64_t symbols;        /* of the synthetic market; 0: not given */
    double rate;            /* its messages a second and symbol; 0: not given */
    int interval;           /* index as in candles.h; -1: not given */
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: not given */
    double speed;           /* 0: max */
    char host[64];
    int port;
    uint64_t aggregates; /* that REST has of each symbol; 0: not given */
    const char *ca_out, *transcript;
    struct fault_schedule schedule; /* of faults */
};

enum { REPLAY_OPTIONS = 32 };
extern const struct option_row replay_options[REPLAY_OPTIONS];

void replay_options_init(void *into); /* a struct options */
void replay_options_finish(void *into);
/* Are they compatible? EXIT_OK, or EXIT_USAGE with a line on stderr. */
int replay_options_check(const struct option_call *call);

#endif
