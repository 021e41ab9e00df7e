/* --save: a state directory of the run, made beside its name and renamed once it is complete. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/backtest_result.h"
#include "cli/stored.h"
#include "db/backtest.h"
#include "db/state.h"
#include "exchange/exit_status.h"

/* What a state directory of ours may hold after a failure: files of the database, and empty folders. */
static void discard(const char *path)
{
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
            unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

int cli_backtest_save_check(const char *path)
{
    struct stat info;
    bool empty = true;
    if (stat(path, &info) < 0)
        return errno == ENOENT ? EXIT_OK : cli_backtest_fail(EXIT_ERROR, path, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return cli_backtest_fail(EXIT_ERROR, path, "a new or an empty directory is needed");
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (!dir)
        return cli_backtest_fail(EXIT_ERROR, path, strerror(errno));
    closedir(dir);
    return empty ? EXIT_OK
                 : cli_backtest_fail(EXIT_ERROR, path,
                                     "a new or an empty directory is needed: there is something in it");
}

static int fill_in(const struct backtest_result *result, const char *beside)
{
    const struct trading_calendar *calendar = cli_run_calendar(&result->args->run);
    struct state_dir state;
    char err[512] = "";
    if (db_state_dir_resolve(beside, &state, err, sizeof err) < 0 ||
        db_state_dir_create(&state, err, sizeof err) < 0 ||
        db_backtest_save(state.database, result->backtest, result->market, result->accounts,
                         calendar ? calendar->name : NULL, err, sizeof err) < 0)
        return cli_backtest_fail(EXIT_ERROR, result->args->save, err);
    return EXIT_OK;
}

int cli_backtest_save(const struct backtest_result *result)
{
    const char *path = result->args->save;
    char beside[PATH_MAX];
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (snprintf(beside, sizeof beside, "%.*s.XXXXXX", (int)len, path) >= (int)sizeof beside)
        return cli_backtest_fail(EXIT_ERROR, path, strerror(ENAMETOOLONG));
    if (!mkdtemp(beside))
        return cli_backtest_fail(EXIT_ERROR, path, strerror(errno));
    int status = fill_in(result, beside);
    if (status == EXIT_OK && (chmod(beside, 0750) < 0 || rename(beside, path) < 0))
        status = cli_backtest_fail(EXIT_ERROR, path, strerror(errno));
    if (status != EXIT_OK)
        discard(beside);
    return status;
}
