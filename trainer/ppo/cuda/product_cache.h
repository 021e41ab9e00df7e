/* The choices of product_plan.h by key: in the process, and in a file that all processes of a machine share,
 * so that all of them, and a training that is resumed, choose the same: other algorithms add in another
 * order, which gives other bits. Of processes that need a choice at once one measures, with the file locked,
 * and the others wait for what it writes: ppo_product_cache_claim().
 *
 * The file has a line a key, KEY <tab> apart <tab> heuristic <tab> seconds; a line once written stays, and of
 * two of a key the first counts. It may be deleted at any time; what is damaged in it is not read. Where it
 * cannot be written, or another process has kept it locked for too long, the choices are the process's own.
 * The lock is the open file's: it ends with the process, however that ends. */
#ifndef TRAINER_PPO_CUDA_PRODUCT_CACHE_H
#define TRAINER_PPO_CUDA_PRODUCT_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PRODUCT_KEY_MAX = 512,
    PRODUCT_FILE_MAX = 4 << 20, /* bytes: a file is not made longer */
};

struct product_choice {
    bool apart;     /* its epilogue is done by kernels */
    int heuristic;  /* the algorithm's place in the library's list */
    double seconds; /* NaN: not measured */
    int tried;      /* candidates that were timed for it now; 0: none */
};

struct product_entry {
    char *key;
    struct product_choice choice;
};

/* Zeroed: empty, and without a file. */
struct product_cache {
    struct product_entry *entries;
    size_t n, cap;
    char path[PATH_MAX]; /* "": no file */
    size_t read;         /* bytes of the file that are among the entries */
    bool locked;         /* by a claim */
    int fd;              /* and then the file */
};

/* Reads the file and uses it from now on. "": $XDG_CACHE_HOME/papertape/products, else
 * ~/.cache/papertape/products. */
void ppo_product_cache_open(struct product_cache *c, const char *path);
void ppo_product_cache_finish(struct product_cache *c); /* then empty */

/* Is there a choice? Also one that another process has written meanwhile. */
bool ppo_product_cache_find(struct product_cache *c, const char *key, struct product_choice *ret);

/* As find. Where there is none the caller makes it: the file is locked from here to keep() or release(),
 * unless it cannot be written, or another process has it locked for longer than `*left` seconds. What it
 * waits is taken off `*left`; a choice that comes meanwhile ends the wait. */
bool ppo_product_cache_claim(struct product_cache *c, const char *key, double *left,
                             struct product_choice *ret);
void ppo_product_cache_release(struct product_cache *c); /* not claimed is fine */

/* Keeps a choice and releases; where there is one already, *choice becomes that one. Without a claim it does
 * not wait for the lock: the choice is only the process's while another has it. */
void ppo_product_cache_keep(struct product_cache *c, const char *key, struct product_choice *choice);

#ifdef __cplusplus
}
#endif

#endif
