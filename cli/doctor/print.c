#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/doctor/doctor.h"
#include "cli/text.h"

static void print_system(const json_t *system)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)system, key, value)
    {
        printf("%-14s ", key);
        cli_text_print(stdout, json_is_string(value) ? json_string_value(value) : "n/a");
        putchar('\n');
    }
    putchar('\n');
}

static void print_result(const json_t *result)
{
    const char *remedy = cli_answer_text(result, "remedy");
    printf("%-8s %-14s ", cli_answer_text(result, "state"), cli_answer_text(result, "name"));
    cli_text_print(stdout, cli_answer_text(result, "text"));
    putchar('\n');
    if (*remedy) {
        printf("%-8s %-14s remedy: ", "", "");
        cli_text_print(stdout, remedy);
        putchar('\n');
    }
}

void cli_doctor_print(const json_t *system, const json_t *results)
{
    size_t counts[DOCTOR_SKIPPED + 1] = {0}, i;
    json_t *result;
    print_system(system);
    json_array_foreach(results, i, result)
    {
        print_result(result);
        for (int s = 0; s <= DOCTOR_SKIPPED; s++)
            counts[s] += strcmp(cli_answer_text(result, "state"), cli_doctor_state_name(s)) == 0;
    }
    printf("\nok %zu, warning %zu, error %zu, skipped %zu\n", counts[DOCTOR_OK], counts[DOCTOR_WARNING],
           counts[DOCTOR_ERROR], counts[DOCTOR_SKIPPED]);
}
