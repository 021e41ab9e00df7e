#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/json_fault.h"
#include "strategy/policy/limit_keys.h"

static const char *const combines[] = {"mean", "majority", "sharpe"};

const char *ensemble_combine_name(enum ensemble_combine combine)
{
    return combines[combine];
}

bool ensemble_combine_parse(const char *text, enum ensemble_combine *ret)
{
    for (size_t i = 0; i < sizeof combines / sizeof *combines; i++)
        if (strcmp(text, combines[i]) == 0) {
            *ret = (enum ensemble_combine)i;
            return true;
        }
    return false;
}

struct reading {
    const char *name;
    char *err;
    struct ensemble_text text;
};

#define refuse(in, code, ...) fail_line(code, (in)->err, POLICY_ERROR_MAX, (in)->name, __VA_ARGS__)

static int check_keys(const struct reading *in, json_t *object)
{
    static const char *const keys[] = {"schema", "members", "combine", "window_bars", "limits"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        struct nearest nearest = {0};
        bool known = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            known |= strcmp(key, keys[i]) == 0;
            nearest_offer(&nearest, key, keys[i]);
        }
        if (!known)
            return refuse(in, -EINVAL, "%.64s: an ensemble has no such key%s", key,
                          NEAREST_HINT(&nearest, key));
    }
    return 0;
}

static int check_schema(const struct reading *in, json_t *object)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));
    if (!schema)
        return refuse(in, -EINVAL, "schema is missing: \"" ENSEMBLE_SCHEMA "\" is right");
    if (strcmp(schema, ENSEMBLE_SCHEMA) != 0)
        return refuse(in, -EINVAL, "schema: \"%.64s\": this program reads " ENSEMBLE_SCHEMA, schema);
    return 0;
}

static int read_members(struct reading *in, json_t *object)
{
    const json_t *list = json_object_get(object, "members");
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n < ENSEMBLE_MEMBERS_MIN || n > ENSEMBLE_MEMBERS_MAX)
        return refuse(in, -EINVAL, "members: a list of %d to %d files of trained policies is right",
                      ENSEMBLE_MEMBERS_MIN, ENSEMBLE_MEMBERS_MAX);
    for (size_t i = 0; i < n; i++) {
        const char *path = json_string_value(json_array_get(list, i));
        if (!path || !policy_names_trained(path) || strlen(path) >= PATH_MAX)
            return refuse(in, -EINVAL, "members: number %zu: %s%.128s%s: F.safetensors is right", i + 1,
                          path ? "\"" : "", path ? path : "no text", path ? "\"" : "");
        in->text.members[i] = strdup(path);
        if (!in->text.members[i])
            return refuse(in, -ENOMEM, "out of memory");
        in->text.n++;
    }
    return 0;
}

static int read_combine(struct reading *in, json_t *object)
{
    const json_t *combine = json_object_get(object, "combine");
    const json_t *window = json_object_get(object, "window_bars");
    const char *name = json_string_value(combine);
    in->text.combine = ENSEMBLE_MEAN;
    in->text.window_bars = ENSEMBLE_WINDOW;
    if (combine && (!name || !ensemble_combine_parse(name, &in->text.combine)))
        return refuse(in, -EINVAL, "combine: %s%.40s%s: mean, majority or sharpe is right", name ? "\"" : "",
                      name ? name : "no text", name ? "\"" : "");
    if (!window)
        return 0;
    json_int_t bars = json_integer_value(window);
    if (!json_is_integer(window) || bars < ENSEMBLE_WINDOW_MIN || bars > ENSEMBLE_WINDOW_MAX)
        return refuse(in, -EINVAL, "window_bars: a whole number from %d to %d is right", ENSEMBLE_WINDOW_MIN,
                      ENSEMBLE_WINDOW_MAX);
    in->text.window_bars = (int)bars;
    return 0;
}

static int read_limits(struct reading *in, json_t *object)
{
    json_t *limits = json_object_get(object, "limits");
    const char *key, *text;
    char why[CONFIG_WHY_MAX];
    json_t *value;
    if (!limits)
        return 0;
    if (!json_is_object(limits))
        return refuse(in, -EINVAL,
                      "limits: an object of names and texts, as {\"exposure\": \"30%%\"}, is right");
    in->text.has_limits = true;
    json_object_foreach(limits, key, value)
    {
        if (!(text = json_string_value(value)))
            return refuse(in, -EINVAL, "limits: %.64s: a text, as \"30%%\", is right", key);
        if (policy_limits_set(&in->text.limits, key, text, why) < 0)
            return refuse(in, -EINVAL, "limits: %.64s: %s", key, why);
    }
    return policy_limits_check(&in->text.limits, why) < 0 ? refuse(in, -EINVAL, "limits: %s", why) : 0;
}

int ensemble_text_parse(const char *name, const char *bytes, size_t n, struct ensemble_text *ret,
                        char err[static POLICY_ERROR_MAX])
{
    struct reading in = {.name = name, .err = err};
    json_error_t why;
    json_t *object = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &why);
    int r = 0;
    if (!object)
        return refuse(&in, -EINVAL, "line %d: %.160s", why.line, policy_json_fault(&why));
    if (!json_is_object(object))
        r = refuse(&in, -EINVAL, "an object with schema, members and combine is right");
    r = r < 0 ? r : check_schema(&in, object);
    r = r < 0 ? r : check_keys(&in, object);
    r = r < 0 ? r : read_members(&in, object);
    r = r < 0 ? r : read_combine(&in, object);
    r = r < 0 ? r : read_limits(&in, object);
    json_decref(object);
    if (r < 0) {
        ensemble_text_finish(&in.text);
        return r;
    }
    *ret = in.text;
    return 0;
}

void ensemble_text_finish(struct ensemble_text *text)
{
    for (int i = 0; i < text->n; i++)
        free(text->members[i]);
    *text = (struct ensemble_text){0};
}
