/* Bars files as what an environment trades on, by strings and numbers alone: the market store for
 * papertape.env's Market.from_files(). In the library only where that was built with the store:
 * -Dpython=store. */
#ifndef TRAINER_PYTHON_FILES_H
#define TRAINER_PYTHON_FILES_H

#include "trainer/env/market.h"

#pragma GCC visibility push(default)

struct env_files;

struct env_files_options {
    const char *const *paths; /* [n] bars files, one symbol each (exchange/bars_file.h) */
    size_t n;
    const char *exchange_info; /* path of a venue's exchangeInfo that lists them; NULL: symbol_default() */
    bool common;               /* rows that all have, alone; else a missing bar is marked */
    size_t from, rows;         /* as struct trainer_data_options */
    const char *features;      /* the same; NULL: the closes, then the volumes */
    size_t fit_from, fit_to;
};

/* 0, for env_files_close(); errors of market_store_load_files() and trainer_data_create() with their
 * sentence. */
int env_files_load(const struct env_files_options *options, struct env_files **ret,
                   char err[static ENV_ERROR_MAX]);
const struct env_market_source *env_files_source(const struct env_files *files);
void env_files_close(struct env_files *files); /* NULL is fine */

#pragma GCC visibility pop

#endif
