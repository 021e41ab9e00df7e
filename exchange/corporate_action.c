#include "exchange/corporate_action.h"

const char *corporate_action_name(enum corporate_action_kind kind)
{
    static const char *const names[CORPORATE_ACTION_KINDS] = {
        [ACTION_SPLIT] = "split", [ACTION_DIVIDEND] = "dividend"};
    return names[kind];
}
