/* Inside the checkpoints: a file's bytes as they were read. */
#ifndef TRAINER_CHECKPOINT_PARSE_H
#define TRAINER_CHECKPOINT_PARSE_H

#include "trainer/checkpoint.h"

#define CHECKPOINT_TEMPORARY ".tmp" /* as whole_file_open() takes it */

/* Checks the n bytes of a file, 64-byte aligned from malloc, which it frees or keeps; as checkpoint_read().
 */
int checkpoint_parse(const char *path, unsigned char *bytes, size_t n, struct checkpoint **ret,
                     char err[static CHECKPOINT_ERROR_MAX]);

#endif
