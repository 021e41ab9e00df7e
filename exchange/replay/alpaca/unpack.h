/* msgpack that a client sent, or a venue whose frames were recorded, as the tree that the same JSON would be.
 */
#ifndef EXCHANGE_REPLAY_ALPACA_UNPACK_H
#define EXCHANGE_REPLAY_ALPACA_UNPACK_H

#include <jansson.h>
#include <stddef.h>

/* One whole value of maps with string keys, arrays, strings, integers, floats, booleans, nil and timestamps
 * since 1970. NULL for anything else, for one that ends early or is followed by something, or when memory is
 * out. What lies about its length costs no more than its bytes. */
json_t *replay_msgpack_read(const char *data, size_t len);

#endif
