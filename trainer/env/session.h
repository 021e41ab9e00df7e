/* Where sessions end on a market's grid, for ENV_DAY_TRADE. */
#ifndef TRAINER_ENV_SESSION_H
#define TRAINER_ENV_SESSION_H

#include "trainer/env/market.h"

#ifndef __CUDACC__ /* the host's, in C */

/* Bits of rows that open at open_ns[row], or (NULL) at start_ns + row * interval_ns. A session ends each day
 * at session_close_s of the zone's clock; a bar belongs to the session that its end lies in, one that ends at
 * that very time to the session that ends. Bit 0: the bar is the last of its session, whether or not the
 * market continues after it. Bit 1: the next one is. A day whose clock skips that time ends at the skip, one
 * that has it twice at the first. 0; -EINVAL for a zone that is unknown or bars of a day or more; -ENOMEM. */
int env_session(const struct env_params *params, const int64_t *open_ns, int64_t start_ns,
                int64_t interval_ns, size_t rows, uint8_t *ret, char err[static ENV_ERROR_MAX]);

#endif

#endif
