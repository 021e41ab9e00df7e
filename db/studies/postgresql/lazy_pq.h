/* libpq, which is loaded at its first use: where its absence may be reported. */
#ifndef DB_STUDIES_POSTGRESQL_LAZY_PQ_H
#define DB_STUDIES_POSTGRESQL_LAZY_PQ_H

#include <stddef.h>

int study_postgresql_load(char *err, size_t err_size); /* as lazy_library_load() */

#endif
