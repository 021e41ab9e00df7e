/* Where a configuration that came over the socket may have its files written. */
#ifndef TRAINER_SERVE_OUTPUTS_H
#define TRAINER_SERVE_OUTPUTS_H

#include <stdbool.h>

/* Is `path`, which need not be there yet, the folder or below it, with every symbolic link followed? False
 * too where a folder on its way cannot be read, or is named by "..". Both are absolute. */
bool serve_output_is_below(const char *folder, const char *path);

/* The same of one of `folders`, names with commas between; NULL or "": of none. */
bool serve_output_is_below_one(const char *folders, const char *path);

#endif
