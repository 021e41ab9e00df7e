/* Threads that step the same environment, each a range of copies. */
#ifndef TRAINER_ENV_POOL_H
#define TRAINER_ENV_POOL_H

#include <stddef.h>

struct env_pool;

/* `threads` >= 1, the caller's among them. 0, or -errno. */
int env_pool_create(int threads, struct env_pool **ret);
void env_pool_destroy(struct env_pool *pool); /* NULL is fine */

/* Calls work(data, first, end) for ranges that make up [0, copies), whole blocks of ENV_LANES but the last,
 * and returns when all are done. */
typedef void env_pool_work(void *data, size_t first, size_t end);
void env_pool_run(struct env_pool *pool, size_t copies, env_pool_work *work, void *data);

#endif
