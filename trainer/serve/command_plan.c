/* What is looked at before it starts: the rows of studies, and whether copies fit in a device's memory. Calls
 * that wait for a probe (probe.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/serve/internal.h"

/* A call that waits. */
struct asked {
    struct serve *serve;
    struct control_call *call;
    json_t *args;
    serve_plan_begin *begin; /* of a start */
};

static void asked_destroy(struct asked *asked)
{
    json_decref(asked->args);
    free(asked);
}

static void answer(struct control_call *call, json_t *result)
{
    if (result)
        control_ok(call, result);
    else
        control_error(call, "ENOMEM", "out of memory");
}

/* Without the program's name and the newline. */
static void first_line(const char *text, char ret[static CONFIG_ERROR_MAX])
{
    static const char program[] = "papertape-trainer: ";
    const char *words = strncmp(text, program, sizeof program - 1) == 0 ? text + sizeof program - 1 : text;
    snprintf(ret, CONFIG_ERROR_MAX, "%.*s", (int)strcspn(words, "\n"), words);
}

/* What the probe refused by one of the study's keys, as errors of a check; NULL: nothing. What it could not
 * find out, as bars that cannot be read now, is left to its worker. */
static json_t *refused_rows(int status, const char *err)
{
    char line[CONFIG_ERROR_MAX], section[64] = "", key[64] = "";
    int skip = 0;
    first_line(err, line);
    if (status != EXIT_FAILURE || sscanf(line, "[%63[^]]] %63[a-z0-9_]: %n", section, key, &skip) != 2)
        return NULL;
    return json_pack("[{s:i, s:s, s:s, s:s}]", "line", 0, "section", section, "key", key, "message",
                     line + skip);
}

/* Does it need a look before it starts? */
static bool is_looked_at(const struct serve *serve, const struct training_wants *wants)
{
    return wants->study || (wants->on_device && serve->options->n_devices > 0);
}

/* What a plan says of a device that has no room for all copies, of a study for those of its median trial or
 * its largest; "": it has, or there is none. */
static void warn(const char *out, char ret[static CONFIG_ERROR_MAX])
{
    json_t *plan = json_loads(out, 0, NULL);
    const json_t *device = json_object_get(plan, "device"), *largest = json_object_get(device, "largest"),
                 *first = device ? device : plan, *of = NULL;
    if (json_is_false(json_object_get(first, "fits")))
        of = first;
    else if (json_is_false(json_object_get(largest, "fits")))
        of = largest;
    const char *note = json_string_value(json_object_get(of, "note"));
    ret[0] = '\0';
    if (of)
        snprintf(ret, CONFIG_ERROR_MAX, "%s%.900s",
                 of == largest ? "the largest trial: "
                 : device      ? "a trial: "
                               : "",
                 note ? note : "the device has no memory for all copies");
    json_decref(plan);
}

/* Each is a process that reads bars. True: the call is answered. */
static bool refuse_more(const struct serve *serve, struct control_call *call)
{
    int n = serve_probes(serve);
    if (n >= PROBES_MAX)
        control_error(call, "EBUSY", "%d plans and checks are under way: again once one has ended", n);
    return n >= PROBES_MAX;
}

/* False: it needs no look, or no process can be started. */
static bool probe(struct serve *serve, struct control_call *call, json_t *args, enum probe_kind kind,
                  serve_probe_done *done, serve_plan_begin *begin)
{
    char err[CONFIG_ERROR_MAX];
    struct training_wants wants;
    const char *text = json_string_value(json_object_get(args, "config"));
    if (!text || serve_training_wants_read(text, &wants, err) < 0 ||
        (kind == PROBE_ROWS && !is_looked_at(serve, &wants)))
        return false;
    if (!begin && refuse_more(serve, call))
        return true;
    struct asked *asked = malloc(sizeof *asked);
    if (!asked)
        return false;
    *asked = (struct asked){serve, call, json_incref(args), begin};
    if (serve_probe_begin(serve, kind, text, done, asked) == 0)
        return true;
    asked_destroy(asked);
    return false;
}

/* ---- start ---- */

static void start(void *ctx, int status, const char *out, const char *err)
{
    struct asked *asked = ctx;
    char warning[CONFIG_ERROR_MAX];
    json_t *errors = refused_rows(status, err);
    warn(out, warning);
    if (errors)
        serve_command_refuse(asked->call, errors);
    else if (asked->serve->ending)
        control_error(asked->call, "ESHUTDOWN", "the co-process ends: it was not started");
    else
        asked->begin(asked->serve, asked->call, asked->args, warning[0] ? warning : NULL);
    json_decref(errors);
    asked_destroy(asked);
}

bool serve_plan_start(struct serve *serve, struct control_call *call, json_t *args, serve_plan_begin *begin)
{
    return probe(serve, call, args, PROBE_ROWS, start, begin);
}

/* ---- check ---- */

static void check(void *ctx, int status, const char *out, const char *err)
{
    struct asked *asked = ctx;
    char warning[CONFIG_ERROR_MAX];
    json_t *errors = refused_rows(status, err);
    const char *text = json_string_value(json_object_get(asked->args, "config"));
    warn(out, warning);
    if (!warning[0] && text && !serve_configuration_warns(text, warning))
        warning[0] = '\0';
    answer(asked->call, json_pack("{s:o, s:s?}", "errors", errors ? errors : json_array(), "warning",
                                  warning[0] ? warning : NULL));
    asked_destroy(asked);
}

bool serve_plan_check(struct serve *serve, struct control_call *call, json_t *args)
{
    return probe(serve, call, args, PROBE_ROWS, check, NULL);
}

/* ---- plan ---- */

static void plan(void *ctx, int status, const char *out, const char *err)
{
    struct asked *asked = ctx;
    char line[CONFIG_ERROR_MAX];
    json_t *found = status == EXIT_SUCCESS ? json_loads(out, 0, NULL) : NULL;
    first_line(err, line);
    if (found)
        answer(asked->call, json_pack("{s:o}", "plan", found));
    else
        control_error(asked->call, status < 0 ? "ETIME" : "EINVAL", "%.900s",
                      status < 0 || !line[0] ? "no plan: papertape-trainer plan did not end" : line);
    asked_destroy(asked);
}

bool serve_plan_show(struct serve *serve, struct control_call *call, json_t *args)
{
    return probe(serve, call, args, PROBE_PLAN, plan, NULL);
}
