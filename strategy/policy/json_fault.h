/* Why a text is no JSON, without a part of it: any file can be named as one of a policy. */
#ifndef STRATEGY_POLICY_JSON_FAULT_H
#define STRATEGY_POLICY_JSON_FAULT_H

#include <jansson.h>
#include <string.h>

/* What jansson says, up to what it quotes. */
static inline const char *policy_json_fault(json_error_t *error)
{
    char *quoted = strstr(error->text, " near '");
    if (quoted)
        *quoted = '\0';
    return error->text;
}

#endif
