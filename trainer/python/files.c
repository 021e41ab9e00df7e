#include "trainer/python/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/market/market.h"
#include "trainer/data.h"

struct env_files {
    struct market *market;
    struct trainer_data *data;
};

int env_files_load(const struct env_files_options *options, struct env_files **ret,
                   char err[static ENV_ERROR_MAX])
{
    char why[MARKET_ERROR_MAX] = "out of memory";
    int r = -ENOMEM;
    struct market_options store = {.exchange_info = options->exchange_info};
    struct trainer_data_options wanted = {
        .from = options->from,
        .rows = options->rows,
        .common = options->common,
        .features = options->features,
        .fit_from = options->fit_from,
        .fit_to = options->fit_to,
        .store = &store,
    };
    struct env_files *files = calloc(1, sizeof(*files));
    if (files)
        r = market_store_load_files(options->paths, options->n, &store, &files->market, NULL, why);
    if (r == 0)
        r = trainer_data_create(files->market, &wanted, &files->data, why);
    if (r < 0) {
        snprintf(err, ENV_ERROR_MAX, "%.*s", ENV_ERROR_MAX - 1, why);
        env_files_close(files);
        return r;
    }
    *ret = files;
    return 0;
}

const struct env_market_source *env_files_source(const struct env_files *files)
{
    return trainer_data_source(files->data);
}

void env_files_close(struct env_files *files)
{
    if (!files)
        return;
    trainer_data_destroy(files->data);
    market_store_close(files->market);
    free(files);
}
