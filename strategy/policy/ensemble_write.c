#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "strategy/policy/ensemble_internal.h"

#define refuse(err, path, code, why) fail_line(code, err, POLICY_ERROR_MAX, path, "%s", why)

static char *text_of(const char *const *members, int n, enum ensemble_combine combine, int window_bars)
{
    json_t *object = json_object(), *list = json_array();
    int r = json_object_set_new(object, "schema", json_string(ENSEMBLE_SCHEMA));
    for (int i = 0; i < n; i++)
        r |= json_array_append_new(list, json_string(members[i]));
    r |= json_object_set_new(object, "members", list);
    r |= json_object_set_new(object, "combine", json_string(ensemble_combine_name(combine)));
    r |= json_object_set_new(object, "window_bars", json_integer(window_bars));
    char *text = r == 0 ? json_dumps(object, JSON_INDENT(1)) : NULL;
    json_decref(object);
    return text;
}

int ensemble_write(const char *path, const char *const *members, int n, enum ensemble_combine combine,
                   int window_bars, char err[static POLICY_ERROR_MAX])
{
    struct ensemble_text as_read;
    struct whole_file file;
    char *text = text_of(members, n, combine, window_bars);
    if (!policy_names_ensemble(path)) {
        free(text);
        return refuse(err, path, -EINVAL, "its name: NAME" ENSEMBLE_ENDING " is right");
    }
    if (!text) /* a name that is not UTF-8, or no memory */
        return refuse(err, path, -EINVAL, "members: names in UTF-8 are right");
    int r = ensemble_text_parse(path, text, strlen(text), &as_read, err);
    if (r == 0)
        ensemble_text_finish(&as_read);
    if (r == 0 && (r = whole_file_open(path, ".new", 0644, &file)) == 0) {
        r = whole_file_put(&file, text, strlen(text));
        r = whole_file_close(&file, r < 0 ? r : whole_file_put(&file, "\n", 1));
    }
    if (r < 0 && r != -EINVAL)
        refuse(err, path, r, r == -ENOMEM ? "out of memory" : strerror(-r));
    free(text);
    return r;
}
