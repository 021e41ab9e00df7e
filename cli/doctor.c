#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"
#include "exchange/nearest.h"

/* The bits of the named checks; without a name, of all. */
static int take_names(const struct option_call *call, uint32_t *ret)
{
    *ret = call->n == 0 ? (1U << DOCTOR_N) - 1 : 0;
    for (int i = 0; i < call->n; i++) {
        struct nearest nearest = {0};
        int found = -1;
        for (int c = 0; c < DOCTOR_N; c++) {
            nearest_offer(&nearest, call->arguments[i], cli_doctor_checks[c].name);
            if (strcmp(call->arguments[i], cli_doctor_checks[c].name) == 0)
                found = c;
        }
        if (found < 0)
            return option_fail(call, EXIT_USAGE, "%.64s: there is no such check%s", call->arguments[i],
                               NEAREST_HINT(&nearest, call->arguments[i]));
        *ret |= 1U << found;
    }
    return EXIT_OK;
}

/* What was checked and what was not, apart. */
static void divide(json_t *results, json_t *ret_checks, json_t *ret_skipped)
{
    json_t *result;
    size_t i;
    json_array_foreach(results, i, result)
    {
        const char *state = json_string_value(json_object_get(result, "state"));
        bool skipped = state && strcmp(state, cli_doctor_state_name(DOCTOR_SKIPPED)) == 0;
        if (skipped)
            json_object_del(result, "state");
        json_array_append(skipped ? ret_skipped : ret_checks, result);
    }
}

static int print_json(json_t *system, json_t *results)
{
    json_t *checks = json_array(), *skipped = json_array();
    divide(results, checks, skipped);
    return cli_stored_print("doctor",
                            json_pack("{s:s, s:O, s:o, s:o}", "schema", "papertape.doctor/1", "system",
                                      system, "checks", checks, "skipped", skipped),
                            15);
}

static bool has_error(const json_t *results)
{
    const json_t *result;
    size_t i;
    json_array_foreach(results, i, result)
    {
        const char *state = json_string_value(json_object_get(result, "state"));
        if (state && strcmp(state, cli_doctor_state_name(DOCTOR_ERROR)) == 0)
            return true;
    }
    return false;
}

static int run(struct option_call *call)
{
    static struct doctor doctor;
    uint32_t wanted;
    int status = take_names(call, &wanted);
    if (status == EXIT_OK)
        status = cli_doctor_find(call, &doctor);
    if (status != EXIT_OK)
        return status;
    json_t *results = cli_doctor_run(&doctor, wanted), *system = cli_doctor_system(&doctor);
    if (!results || !system)
        status = option_fail(call, EXIT_ERROR, "out of memory");
    else if (has_error(results))
        status = EXIT_ERROR;
    if (results && system && call->json && print_json(system, results) != EXIT_OK)
        status = EXIT_ERROR;
    else if (results && system && !call->json)
        cli_doctor_print(system, results);
    json_decref(results);
    json_decref(system);
    cli_doctor_forget(&doctor);
    return status;
}

#define AT(member) offsetof(struct doctor_args, member)
static const struct option_row options[] = {
    {"config", "FILE", "the daemon's configuration; else a running daemon's, the service's, or the defaults",
     AT(given.file), .letter = 'c'},
    {"venue-url", "URL", "as papertaped takes it", AT(given.venue_url)},
    {"rest-url", "URL", "likewise", AT(given.rest_url)},
    {"ca-file", "FILE", "likewise", AT(given.ca_file)},
    {"offline", NULL, "asks no venue", AT(offline)},
};

static const struct option_action actions[] = {{.arguments = "[CHECK...]", .run = run}};

#define ABOUT(name, needs, words, late) "\n" #name ": " words "."
CLI_VERB(cli_doctor) = {
    .name = "doctor",
    .words = "is this machine, this state and this configuration fit to run?",
    .about =
        "Looks at everything that a daemon depends on, at the same time, for some 7 s at most: beside a running "
        "daemon, after one, or before the first. Each line is ok, warning or error, and has its remedy, a "
        "command where there is one; what could not be checked is skipped, with the reason. Nothing is "
        "written but a scratch file without a name, which is gone with the process. With --json "
        "papertape.doctor/1: system, checks, skipped. The output serves as a bug report: it has the "
        "versions of everything, and no keys.\nCHECK names those to be made:" DOCTOR_CHECKS(ABOUT),
    .exits = "1 with an error; warnings are 0.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct doctor_args),
};
