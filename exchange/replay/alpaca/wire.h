/* One message's value, written as JSON or as msgpack by the same calls: maps and arrays are told how many
 * they hold, for msgpack counts them in front. Times are RFC 3339 with nanoseconds, or msgpack's timestamp
 * extension; decimals are numbers: in JSON exact ones, in msgpack the nearest float64 (whole ones integers
 * where they are counts: wire_int). */
#ifndef EXCHANGE_REPLAY_ALPACA_WIRE_H
#define EXCHANGE_REPLAY_ALPACA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/text.h"

struct wire {
    struct text *out;
    bool msgpack;
    bool comma; /* JSON: a value stands before */
};

static inline struct wire wire_to(struct text *out, bool msgpack)
{
    return (struct wire){.out = out, .msgpack = msgpack};
}

void wire_map(struct wire *wire, size_t members);
void wire_map_end(struct wire *wire);
void wire_array(struct wire *wire, size_t elements);
void wire_array_end(struct wire *wire);
void wire_key(struct wire *wire, const char *name);

void wire_str(struct wire *wire, const char *text);
void wire_letter(struct wire *wire, char letter); /* a string of one; '\0': empty */
void wire_int(struct wire *wire, int64_t value);
void wire_bool(struct wire *wire, bool value);
void wire_null(struct wire *wire);
void wire_e9(struct wire *wire, int64_t value);    /* a decimal of scale 9 */
void wire_whole(struct wire *wire, int64_t value); /* of scale 9 and whole: an integer */
void wire_time(struct wire *wire, int64_t ns);

/* "2021-10-13T08:00:00.08960768Z": no more digits than needed. */
void wire_rfc3339(struct text *out, int64_t ns);

#endif
