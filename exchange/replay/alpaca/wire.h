/* One message's value, written as JSON or as msgpack by the same calls: maps and arrays are given their
 * counts, which msgpack writes first. Times are RFC 3339 with nanoseconds, or msgpack's timestamp
 * extension; decimals are numbers: in JSON exact ones, in msgpack the nearest float64 (whole ones integers
 * where they are counts: replay_wire_int()). */
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

void replay_wire_map(struct wire *wire, size_t members);
void replay_wire_map_end(struct wire *wire);
void replay_wire_array(struct wire *wire, size_t elements);
void replay_wire_array_end(struct wire *wire);
void replay_wire_key(struct wire *wire, const char *name);

void replay_wire_str(struct wire *wire, const char *text);
void replay_wire_letter(struct wire *wire, char letter); /* a string of one; '\0': empty */
void replay_wire_int(struct wire *wire, int64_t value);
void replay_wire_bool(struct wire *wire, bool value);
void replay_wire_null(struct wire *wire);
void replay_wire_e9(struct wire *wire, int64_t value);    /* a decimal of scale 9 */
void replay_wire_whole(struct wire *wire, int64_t value); /* of scale 9 and whole: an integer */
void replay_wire_time(struct wire *wire, int64_t ns);

/* "2021-10-13T08:00:00.08960768Z": no more digits than needed. */
void replay_wire_rfc3339(struct text *out, int64_t ns);

#endif
