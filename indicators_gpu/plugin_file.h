/* Shared objects that users bring: strategies (<papertape/strategy.h>) and indicators
 * (<papertape/indicator.h>). Their code runs in this process and may do all that it may: a file is trusted,
 * and so it must belong to root or to the user, and be writable by no one else.
 *
 * What is loaded is a private copy, so that writing to the file does no harm, and the same path with other
 * contents can be loaded again beside the one before. Nothing that was loaded is ever unloaded: threads,
 * tables and strategies stay valid for the process's life, as does the list of what was loaded, which any
 * thread may add to. */
#ifndef INDICATORS_GPU_PLUGIN_FILE_H
#define INDICATORS_GPU_PLUGIN_FILE_H

#include <stddef.h>
#include <stdint.h>

enum {
    INDICATOR_PLUGIN_PATH_MAX = 512, /* its end included */
    INDICATOR_PLUGIN_BYTES_MAX = 256 << 20,
    INDICATOR_PLUGIN_FILES_MAX = 256, /* in a process: each has a descriptor */
};

struct indicator_plugin_file {
    char path[INDICATOR_PLUGIN_PATH_MAX]; /* absolute */
    const void *bytes;                    /* its contents, for the process's life */
    size_t n;
    void *handle; /* dlopen()'s */
};

/* The folder of files that are named without a path; NULL or "": the one that this program was built for. To
 * be set before the first file is named. 0 or -ENAMETOOLONG. */
int indicator_plugin_folder_set(const char *folder);
const char *indicator_plugin_folder(void);

/* How long the file's part of "FILE.so:rest" or "NAME:rest" is: up to the first ".so" that a colon or the end
 * follows, else up to the first colon. */
size_t indicator_plugin_word(const char *text);

/* The absolute path of "FILE.so", in the current folder, or in that of plug-ins where it has no slash and is
 * not there; or of "NAME", which is NAME.so in that of plug-ins. `word` is n bytes. 0; -ENOENT or
 * -ENAMETOOLONG with a sentence. */
int indicator_plugin_path(const char *word, size_t n, char path[static INDICATOR_PLUGIN_PATH_MAX], char *err,
                          size_t err_cap);

/* Loads a file, or finds it where it was loaded with the same contents. 0; a negative errno with one sentence
 * that names the file and says what would be right: not there, a folder, another's, writable by others, no
 * shared object, too large, what it needs is missing. */
int indicator_plugin_load(const char *path, const struct indicator_plugin_file **ret, char *err,
                          size_t err_cap);

/* The table that NAME_v1() of it returns, of which `least` bytes are there; `header` is what it is made with,
 * as "papertape/strategy.h". 0; -ENOENT: it has no such function, of any version; -EINVAL. Both with a
 * sentence. */
int indicator_plugin_table(const struct indicator_plugin_file *file, const char *name, const char *header,
                           size_t least, const void **ret, char *err, size_t err_cap);

/* Copies the first `size` bytes that a table says to have into the program's `known`, the rest of which are
 * zeroed. -EINVAL where it has more, and they are not 0. */
int indicator_plugin_copy(const void *table, uint32_t size, void *ret, size_t known);

#endif
