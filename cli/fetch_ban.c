/* A ban, or how long the venue says to wait, over runs: a text in the folder of the venue's history, so that
 * another run waits as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fetch.h"
#include "exchange/clock.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

enum { LINE_MAX_BYTES = 64, FILE_MODE = 0644, FOLDER_MODE = 0755 };

/* A later end is none: no venue bans for so long. */
#define LONGEST_NS (7 * 24 * 3600 * 1000000000LL)

static bool find_path(const struct fetch *fetch, char ret[static PATH_MAX])
{
    char folder[PATH_MAX], host[FETCH_HOST_MAX];
    cli_fetch_host(fetch, host);
    const char *cache = fetch->asked->check ? NULL : fetch->asked->cache; /* that is removed again */
    return folder_cache("history", cache, folder) &&
           history_venue_path(folder, fetch->venue->format->name, host, "banned_until_ns", ret) == 0;
}

int64_t cli_fetch_banned_until(const struct fetch *fetch)
{
    char path[PATH_MAX], *text;
    size_t n;
    if (!find_path(fetch, path) || whole_file_read(path, LINE_MAX_BYTES, &text, &n) < 0)
        return 0;
    int64_t until_ns, now_ns = clock_wall_ns();
    text[strcspn(text, "\n")] = '\0';
    bool is =
        decimal_parse_str(text, 0, &until_ns) == 0 && until_ns > now_ns && until_ns < now_ns + LONGEST_NS;
    free(text);
    return is ? until_ns : 0;
}

void cli_fetch_banned(const struct fetch *fetch, int64_t until_ns)
{
    char path[PATH_MAX], place[PATH_MAX], failed[PATH_MAX], line[LINE_MAX_BYTES];
    struct whole_file file;
    if (until_ns <= cli_fetch_banned_until(fetch) || !find_path(fetch, path))
        return;
    snprintf(place, sizeof place, "%.*s", (int)(strrchr(path, '/') - path), path);
    int n = snprintf(line, sizeof line, "%lld\n", (long long)until_ns);
    if (folder_make(place, FOLDER_MODE, failed) == 0 && whole_file_open(path, ".new", FILE_MODE, &file) == 0)
        (void)whole_file_close(&file, whole_file_put(&file, line, (size_t)n)); /* then this run alone waits */
}
