/* Reads msgpack from a client, or from a venue whose frames were recorded, into the tree that the same JSON
 * would give. */
#ifndef EXCHANGE_REPLAY_ALPACA_UNPACK_H
#define EXCHANGE_REPLAY_ALPACA_UNPACK_H

#include <jansson.h>
#include <stddef.h>

/* One whole value of maps with string keys, arrays, strings, integers, floats, booleans, nil and timestamps
 * since 1970. NULL for anything else, for one that ends early or is followed by something, or when memory
 * is out. A wrong length costs no more than its bytes. */
json_t *replay_msgpack_read(const char *data, size_t len);

#endif
