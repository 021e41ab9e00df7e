#include "strategy/policy/limit_file.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "strategy/policy/ensemble_internal.h"
#include "strategy/policy/limit_keys.h"
#include "strategy/policy/safetensors.h"

enum { LENGTH_BYTES = 8, HEADER_UNIT = 8 };

#define refuse(err, path, code, ...) fail_line(code, err, POLICY_ERROR_MAX, path, __VA_ARGS__)

/* ---- the texts ---- */

static bool is_limit(const char *line)
{
    char name[POLICY_LIMIT_TEXT_MAX];
    size_t n = strcspn(line, "=\n");
    if (n >= sizeof name)
        return false;
    memcpy(name, line, n);
    name[n] = '\0';
    return config_key_find(policy_limit_keys, POLICY_LIMITS_N, NULL, name) != NULL;
}

/* The environment's lines without limits, and then these; for free(), NULL without memory. */
static char *limited_environment(const char *text, const struct policy_limits *limits)
{
    char *made = NULL, value[POLICY_LIMIT_TEXT_MAX];
    size_t bytes;
    FILE *out = open_memstream(&made, &bytes);
    if (!out)
        return NULL;
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (!is_limit(text))
            fprintf(out, "%.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
    for (int i = 0; i < POLICY_LIMITS_N; i++)
        if (policy_limit_text(&policy_limit_keys[i], limits, value))
            fprintf(out, "%s=%s\n", policy_limit_keys[i].name, value);
    if (fclose(out) != 0) {
        free(made);
        return NULL;
    }
    return made;
}

static json_t *limits_object(const struct policy_limits *limits)
{
    char value[POLICY_LIMIT_TEXT_MAX];
    json_t *object = json_object();
    for (int i = 0; i < POLICY_LIMITS_N; i++)
        if (policy_limit_text(&policy_limit_keys[i], limits, value))
            json_object_set_new(object, policy_limit_keys[i].name, json_string(value));
    return object;
}

/* ---- a trained one ---- */

static size_t header_bytes(const unsigned char *bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < LENGTH_BYTES; i++)
        n |= (uint64_t)bytes[i] << (8 * i);
    return (size_t)n;
}

/* The header with other limits, padded with blanks; for free(). 0; -EINVAL: it has no environment; -ENOMEM.
 */
static int limited_header(const char *text, size_t n, const struct policy_limits *limits, char **ret)
{
    json_t *header = json_loadb(text, n, 0, NULL), *metadata = json_object_get(header, "__metadata__");
    const char *environment = json_string_value(json_object_get(metadata, "environment"));
    char *made = environment ? limited_environment(environment, limits) : NULL, *dumped = NULL,
         *padded = NULL;
    if (made && json_object_set_new(metadata, "environment", json_string(made)) == 0)
        dumped = json_dumps(header, JSON_COMPACT);
    const int r = environment ? -ENOMEM : -EINVAL;
    size_t length = dumped ? strlen(dumped) : 0,
           whole = (length + HEADER_UNIT - 1) / HEADER_UNIT * HEADER_UNIT;
    if (dumped && (padded = malloc(whole + 1)) != NULL) {
        memset(padded, ' ', whole);
        memcpy(padded, dumped, length);
        padded[whole] = '\0';
    }
    free(dumped);
    free(made);
    json_decref(header);
    *ret = padded;
    return padded ? 0 : r;
}

static int write_trained(const char *to, const char *header, const unsigned char *data, size_t n)
{
    unsigned char length[LENGTH_BYTES];
    struct whole_file file;
    for (int i = 0; i < LENGTH_BYTES; i++)
        length[i] = (unsigned char)((uint64_t)strlen(header) >> (8 * i));
    int r = whole_file_open(to, SAFETENSORS_TEMPORARY, 0640, &file);
    if (r < 0)
        return r;
    r = whole_file_put(&file, length, sizeof length);
    if (r == 0)
        r = whole_file_put(&file, header, strlen(header));
    if (r == 0)
        r = whole_file_put(&file, data, n);
    return whole_file_close(&file, r);
}

static int limit_trained(const char *from, const char *to, const struct policy_limits *limits,
                         char err[static POLICY_ERROR_MAX])
{
    char why[SAFETENSORS_ERROR_MAX];
    unsigned char *bytes;
    size_t n;
    int r = safetensors_bytes(from, POLICY_FILE_MAX, &bytes, &n, why);
    if (r < 0)
        return fail_with(r, err, POLICY_ERROR_MAX, "%s", why);
    size_t begins = LENGTH_BYTES + header_bytes(bytes);
    char *header = NULL;
    r = limited_header((const char *)bytes + LENGTH_BYTES, begins - LENGTH_BYTES, limits, &header);
    if (r == -EINVAL)
        refuse(err, from, r, "it has no environment: a policy that was trained on a market is right");
    else if (r < 0)
        refuse(err, from, r, "out of memory");
    else if ((r = write_trained(to, header, bytes + begins, n - begins)) < 0)
        refuse(err, to, r, "%s", strerror(-r));
    free(header);
    free(bytes);
    return r;
}

/* ---- an ensemble ---- */

/* Names the members by paths that hold from any folder. */
static int name_members(const char *from, json_t *members)
{
    for (size_t i = 0; i < json_array_size(members); i++) {
        const char *name = json_string_value(json_array_get(members, i));
        char *path = name ? ensemble_beside(from, name) : NULL, real[PATH_MAX];
        int r = !name ? -EINVAL : !path ? -ENOMEM : realpath(path, real) ? 0 : -errno;
        free(path);
        if (r < 0)
            return r;
        if (json_array_set_new(members, i, json_string(real)) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int limit_ensemble(const char *from, const char *to, const struct policy_limits *limits,
                          char err[static POLICY_ERROR_MAX])
{
    struct whole_file file;
    char *bytes, *text = NULL;
    size_t n;
    int r = whole_file_read(from, POLICY_FILE_MAX, &bytes, &n);
    if (r < 0)
        return refuse(err, from, r, "%s", strerror(-r));
    json_t *object = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
    r = object ? name_members(from, json_object_get(object, "members")) : -EINVAL;
    if (r == 0 && json_object_set_new(object, "limits", limits_object(limits)) < 0)
        r = -ENOMEM;
    if (r == 0 && !(text = json_dumps(object, JSON_INDENT(1))))
        r = -ENOMEM;
    bool made = r == 0;
    if (made && (r = whole_file_open(to, SAFETENSORS_TEMPORARY, 0640, &file)) == 0)
        r = whole_file_close(&file, whole_file_put(&file, text, strlen(text)));
    free(text);
    free(bytes);
    json_decref(object);
    return r < 0 ? refuse(err, made ? to : from, r, "its limits: %s", strerror(-r)) : 0;
}

int policy_limit_file(const char *from, const char *to, const struct policy_limits *limits,
                      char err[static POLICY_ERROR_MAX])
{
    return policy_names_ensemble(from) ? limit_ensemble(from, to, limits, err)
                                       : limit_trained(from, to, limits, err);
}
