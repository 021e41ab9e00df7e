/* A daemon's configuration, whatever the text: refused with lines that begin with the file's name, or taken;
 * then what is printed of it is read back as the same one. And reloads from one text to the other: with live
 * changes alone the daemon runs by the new text, and a second reload of it has nothing to change. */
#include <errno.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/config_changes.h"
#include "tests/fuzz/fuzz.h"

static char *printed(const struct daemon_config *config)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fail_unless(file);
    daemon_config_print(config, file);
    fail_unless(fclose(file) == 0);
    return text;
}

static bool same(const struct daemon_config *a, const struct daemon_config *b)
{
    char *one = printed(a), *other = printed(b);
    bool is = strcmp(one, other) == 0;
    free(one);
    free(other);
    return is;
}

static bool take(const uint8_t *data, size_t size, struct daemon_config *ret)
{
    static char errors[CONFIG_ERRORS_MAX];
    char path[32];
    int fd = memory_file(data, size, path);
    errors[0] = '\0';
    int r = daemon_config_read(path, ret, errors);
    close(fd);
    if (r == 0)
        return true;
    for (char *line = errors, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        fail_unless(strncmp(line, path, strlen(path)) == 0 || strncmp(line, "and ", 4) == 0);
        end += *end != '\0';
    }
    fail_unless(errors[0] != '\0');
    return false;
}

static void reload(const struct daemon_config *running, const struct daemon_config *read, bool early)
{
    static struct daemon_config merged, again;
    static char error[CONFIG_ERROR_MAX];
    struct daemon_config_changes changes = {0}, none = {0};
    int r = daemon_config_changes_find(running, read, early, &merged, &changes, error);
    if (r < 0) {
        fail_unless(r == -EINVAL && error[0] == '[');
        return;
    }
    bool all_live = true;
    for (size_t i = 0; i < changes.n; i++)
        all_live &= changes.list[i].live;
    fail_unless((changes.n == 0) == same(running, read));
    fail_unless(!all_live || same(&merged, read));
    r = daemon_config_changes_find(&merged, read, early, &again, &none, error);
    fail_unless(r == 0 && same(&again, &merged));
    for (size_t i = 0; i < none.n; i++)
        fail_unless(!none.list[i].live);
    daemon_config_changes_finish(&changes);
    daemon_config_changes_finish(&none);
}

/* Two texts, with a line of nothing but '%' between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct daemon_config first, second, again;
    const uint8_t *between = memmem(data, size, "\n%\n", 3);
    size_t n = between ? (size_t)(between - data) : size;
    bool taken = take(data, n, &first);
    if (taken) {
        char *text = printed(&first);
        fail_unless(take((const uint8_t *)text, strlen(text), &again) && same(&first, &again));
        free(text);
    }
    if (between && take(between + 3, size - n - 3, &second) && taken) {
        reload(&first, &second, false);
        reload(&first, &second, true);
        reload(&second, &first, false);
        reload(&second, &first, true);
    }
    return 0;
}
