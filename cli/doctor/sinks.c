/* Where alerts are delivered, as the running daemon knows it: `papertape alerts test` sends something. */
#include <string.h>

#include "cli/answer.h"
#include "cli/doctor/doctor.h"

static void report_sink(const json_t *sink, struct doctor_results *results)
{
    const char *name = cli_answer_text(sink, "sink"), *state = cli_answer_text(sink, "state");
    const json_int_t pending = json_integer_value(json_object_get(sink, "pending"));
    if (strcmp(state, "failing") != 0) {
        cli_doctor_add(results, DOCTOR_OK, "%s: %s", name,
                       strcmp(state, "new") == 0 ? "nothing was sent to it yet" : "it accepts");
        return;
    }
    cli_doctor_add(results, DOCTOR_WARNING, "%s: fails for %.0f s: %s; %lld notices wait", name,
                   json_number_value(json_object_get(sink, "failing_s")), cli_answer_text(sink, "detail"),
                   (long long)pending);
    cli_doctor_remedy(results, "papertape alerts test %s", name);
}

/* The queue that they share. */
static void report_queue(const json_t *all, struct doctor_results *results)
{
    const char *error = cli_answer_text(all, "error");
    const json_int_t dropped = json_integer_value(json_object_get(all, "dropped"));
    if (*error) {
        cli_doctor_add(results, DOCTOR_WARNING, "notices are only in memory: %s", error);
        cli_doctor_remedy(results, "papertape doctor space disk; a restart puts a damaged notify.db aside");
    }
    if (dropped > 0) {
        cli_doctor_add(results, DOCTOR_WARNING, "%lld notices had no room and are lost", (long long)dropped);
        cli_doctor_remedy(results, "papertape alerts list has the alerts themselves");
    }
}

void cli_doctor_sinks(const struct doctor *doctor, struct doctor_results *results)
{
    const json_t *all = json_object_get(doctor->status, "alert_sinks");
    json_t *sinks = json_object_get(all, "sinks"), *sink;
    size_t i;
    if (!json_is_array(sinks)) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "no daemon answers that knows: see daemon");
        return;
    }
    json_array_foreach(sinks, i, sink) report_sink(sink, results);
    report_queue(all, results);
    if (json_array_size(results->list) == 0)
        cli_doctor_add(results, DOCTOR_OK, "no sink is configured: no alert leaves the machine");
}
