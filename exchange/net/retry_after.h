/* HTTP's Retry-After. */
#ifndef EXCHANGE_NET_RETRY_AFTER_H
#define EXCHANGE_NET_RETRY_AFTER_H

#include <stdint.h>

/* Milliseconds that the header's value, seconds or a date, asks for. `date`: the Date of the same reply,
 * since this machine's clock may be off; NULL or unreadable: it has none, and the machine's counts, now_s. -1
 * for what is neither, is beyond 31 bits of seconds, or is a date that has passed: as if it were not there.
 */
int64_t net_retry_after_ms(const char *value, const char *date, int64_t now_s);

#endif
