#include "strategy/library.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

/* Files are never unloaded, so what they gave is kept too. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static struct strategy_library *libraries;

static void describe(struct strategy_library *library)
{
    const struct papertape_strategy *table = &library->table;
    snprintf(library->name, sizeof library->name, "lib:%s", library->file->path);
    for (uint32_t i = 0; i < table->n_params; i++) {
        const struct papertape_param *param = &table->params[i];
        library->params[i] = (struct strategy_param){.name = param->name,
                                                     .summary = param->summary,
                                                     .fallback = param->fallback,
                                                     .min = param->min,
                                                     .max = param->max,
                                                     .integer = param->integer != 0,
                                                     .words = param->words};
    }
    library->external.form = STRATEGY_LIBRARY;
    library->external.source = library->file->path;
    library->external.title = table->name;
    library->external.ctx = library;
    library->external.check = table->check ? strategy_library_params_check : NULL;
    library->external.specs = strategy_library_specs;
    library->external.on_bar = strategy_library_on_bar;
    library->external.scan = table->scan ? strategy_library_scan : NULL;
    library->strategy = (struct strategy){.name = library->name,
                                          .summary = table->summary,
                                          .params = library->params,
                                          .n_params = table->n_params,
                                          .state_size = table->state_size,
                                          .shorts = table->shorts != 0,
                                          .needs_shorts = table->needs_shorts != 0,
                                          .peers = table->peers != 0,
                                          .together = table->together != 0,
                                          .symbols_min = (int)table->symbols_min,
                                          .external = &library->external};
}

/* A file's table, checked and copied. */
static int read_table(struct strategy_library *library, char *err, size_t err_size)
{
    const struct indicator_plugin_file *file = library->file;
    const void *found;
    int r = indicator_plugin_table(file, "papertape_strategy", "papertape/strategy.h",
                                   sizeof(struct papertape_strategy), &found, err, err_size);
    if (r < 0)
        return r;
    const struct papertape_strategy *table = found;
    if (indicator_plugin_copy(table, table->size, &library->table, sizeof library->table) < 0 ||
        table->param_size != sizeof(struct papertape_param))
        return fail_with(
            -EINVAL, err, err_size,
            "%.200s: its table or its parameters have what this program does not know: papertape "
            "is older than the header that it was built with",
            file->path);
    return strategy_library_check(file->path, &library->table, err, err_size);
}

/* With the gate closed. */
static int add(const struct indicator_plugin_file *file, struct strategy_library **ret, char *err,
               size_t err_size)
{
    struct strategy_library *library = calloc(1, sizeof *library);
    if (!library)
        return fail_with(-ENOMEM, err, err_size, "%.200s: out of memory", file->path);
    library->file = file;
    int r = read_table(library, err, err_size);
    if (r == 0 && EVP_Digest(file->bytes, file->n, library->external.hash, NULL, EVP_sha256(), NULL) != 1)
        r = fail_with(-EIO, err, err_size, "%.200s: its SHA-256 cannot be computed", file->path);
    if (r < 0) {
        free(library);
        return r;
    }
    describe(library);
    library->next = libraries;
    *ret = libraries = library;
    return 0;
}

/* With the gate closed: the file, loaded before or now, is the newest of its name. */
static int find(const struct indicator_plugin_file *file, const struct strategy **ret, char *err,
                size_t err_size)
{
    struct strategy_library *library = libraries;
    while (library && library->file != file)
        library = library->next;
    int r = library ? 0 : add(file, &library, err, err_size);
    if (r == 0 && strategy_find_opened(library->name) != &library->strategy)
        r = strategy_opened(&library->strategy) == 0
                ? 0
                : fail_with(-ENOMEM, err, err_size, "%.200s: out of memory", file->path);
    if (r == 0)
        *ret = &library->strategy;
    return r;
}

static int open_path(const char *path, const struct strategy **ret, char *err, size_t err_size)
{
    const struct indicator_plugin_file *file;
    int r = indicator_plugin_load(path, &file, err, err_size);
    if (r < 0)
        return r;
    pthread_mutex_lock(&gate);
    r = find(file, ret, err, err_size);
    pthread_mutex_unlock(&gate);
    return r;
}

int strategy_library_open(const char *source, const struct strategy **ret, char *err, size_t err_size)
{
    char path[INDICATOR_PLUGIN_PATH_MAX];
    int r = indicator_plugin_path(source, strlen(source), path, err, err_size);
    return r < 0 ? r : open_path(path, ret, err, err_size);
}

/* ---- the folder ---- */

static int is_object(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 3 && strcmp(entry->d_name + n - 3, ".so") == 0;
}

static void offer(const char *file,
                  void (*each)(void *ctx, const char *file, const struct strategy *strategy,
                               const char *why_not),
                  void *ctx)
{
    char path[INDICATOR_PLUGIN_PATH_MAX], err[STRATEGY_LIBRARY_ERROR_MAX] = "";
    const struct strategy *strategy = NULL;
    int n = snprintf(path, sizeof path, "%s/%s", indicator_plugin_folder(), file);
    int r = n < (int)sizeof path ? open_path(path, &strategy, err, sizeof err) : -ENAMETOOLONG;
    if (r == 0)
        each(ctx, file, strategy, NULL);
    else if (r != -ENOENT) /* no strategy in it: it has indicators */
        each(ctx, file, NULL, r == -ENAMETOOLONG ? "its path is too long" : err);
}

int strategy_library_each(void (*each)(void *ctx, const char *file, const struct strategy *strategy,
                                       const char *why_not),
                          void *ctx)
{
    struct dirent **entries;
    int n = scandir(indicator_plugin_folder(), &entries, is_object, alphasort);
    if (n < 0)
        return errno == ENOENT ? 0 : -errno;
    for (int i = 0; i < n; i++) {
        offer(entries[i]->d_name, each, ctx);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
