#include "trainer/search/proposal_folder.h"

#include <errno.h>
#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/search/inside.h"

/* Each proposal has a folder of its own, the first number after that of the one that proposal.json tells of
 * that nobody has: until that is written anew what it says is what lies there, whenever this process is
 * killed, and who else proposes meanwhile takes the number after. */
int proposal_folder_make(const char *folder, char ret[static PATH_MAX], char err[static TRIAL_ERROR_MAX])
{
    static const char within[] = "/proposals/";
    char path[PATH_MAX], name[32];
    int r = search_join(path, folder, "proposal.json", err);
    if (r == 0)
        r = search_join(ret, folder, "proposals", err);
    if (r == 0)
        r = search_make_folder(ret, err);
    if (r < 0)
        return r;
    json_t *before = json_load_file(path, 0, NULL);
    const char *policy = json_string_value(json_object_get(before, "policy")), *at = NULL;
    for (const char *next = policy; next && (next = strstr(next, within)); next++)
        at = next + sizeof within - 1;
    unsigned long number = at ? strtoul(at, NULL, 10) + 1 : 1;
    json_decref(before);
    do {
        snprintf(name, sizeof name, "proposals/%lu", number++);
        if ((r = search_join(ret, folder, name, err)) < 0)
            return r;
        r = mkdir(ret, 0777) < 0 ? -errno : 0;
    } while (r == -EEXIST);
    return r < 0 ? search_say(err, r, "cannot make the folder: %.300s: %s", ret, strerror(-r)) : 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    (void)remove(path);
    return 0;
}

/* Nobody is told of what lies there. */
void proposal_folder_drop(const char *own)
{
    enum { FOLDERS_OPEN = 8 };
    (void)nftw(own, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

int proposal_file_write(const json_t *object, const char *folder, char err[static TRIAL_ERROR_MAX])
{
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (!text)
        return search_say(err, -ENOMEM, "out of memory: proposal.json");
    int r = search_write_file(folder, "proposal.json", text, strlen(text), err);
    free(text);
    return r;
}

bool proposal_file_names(const json_t *object, const char *folder)
{
    char path[PATH_MAX];
    if (!object || snprintf(path, sizeof path, "%s/proposal.json", folder) >= (int)sizeof path)
        return false;
    json_t *kept = json_load_file(path, 0, NULL);
    bool same = kept && json_equal(json_object_get(kept, "policy"), json_object_get(object, "policy"));
    json_decref(kept);
    return same;
}
