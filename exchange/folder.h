/* The names in a folder, and removing it with all that is in it. */
#ifndef EXCHANGE_FOLDER_H
#define EXCHANGE_FOLDER_H

/* Calls `each` for every name in a folder; one other than 0 ends it and is returned. 0 or -errno. */
int folder_each(const char *path, int (*each)(void *ctx, const char *name), void *ctx);

/* Removes a file, or a folder and what is in it; what is behind links stays. 0, also where nothing is;
 * -errno. */
int folder_remove(const char *path);

#endif
