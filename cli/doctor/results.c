#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/text.h"

const char *cli_doctor_state_name(enum doctor_state state)
{
    static const char *const names[] = {[DOCTOR_OK] = "ok",
                                        [DOCTOR_WARNING] = "warning",
                                        [DOCTOR_ERROR] = "error",
                                        [DOCTOR_SKIPPED] = "skipped"};
    return names[state];
}

static json_t *text_of(const char *format, va_list args)
{
    char raw[DOCTOR_TEXT_MAX], text[DOCTOR_TEXT_MAX];
    vsnprintf(raw, sizeof raw, format, args);
    cli_text_clean(text, sizeof text, raw);
    return json_string(text);
}

void cli_doctor_add(struct doctor_results *results, enum doctor_state state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_array_append_new(results->list,
                          json_pack("{s:s, s:s, s:o, s:n}", "name", results->name, "state",
                                    cli_doctor_state_name(state), "text", text_of(format, args), "remedy"));
    va_end(args);
}

void cli_doctor_remedy(struct doctor_results *results, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_object_set_new(json_array_get(results->list, json_array_size(results->list) - 1), "remedy",
                        text_of(format, args));
    va_end(args);
}

const char *cli_doctor_quote(const char *path, char ret[static DOCTOR_QUOTED_MAX])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:@%,=";
    size_t n = 0;
    if (path[0] && path[0] != '-' && strspn(path, plain) == strlen(path)) {
        snprintf(ret, DOCTOR_QUOTED_MAX, "%s", path);
        return ret;
    }
    ret[n++] = '\'';
    for (const char *at = path; *at && n + 6 < DOCTOR_QUOTED_MAX; at++)
        n += (size_t)snprintf(ret + n, DOCTOR_QUOTED_MAX - n, "%.*s", *at == '\'' ? 4 : 1,
                              *at == '\'' ? "'\\''" : at);
    snprintf(ret + n, DOCTOR_QUOTED_MAX - n, "'");
    return ret;
}
