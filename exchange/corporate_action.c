#include "exchange/corporate_action.h"

#include <string.h>

const char *corporate_action_name(enum corporate_action_kind kind)
{
    static const char *const names[CORPORATE_ACTION_KINDS] = {
        [ACTION_SPLIT] = "split", [ACTION_DIVIDEND] = "dividend"};
    return names[kind];
}

int corporate_action_order(const struct corporate_action *a, const struct corporate_action *b)
{
    if (a->ex_ns != b->ex_ns)
        return a->ex_ns < b->ex_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind == ACTION_SPLIT ? -1 : 1;
    return strcmp(a->id, b->id);
}
