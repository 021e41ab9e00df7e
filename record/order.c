#include "record/order.h"

#include <stdio.h>
#include <string.h>

#include "exchange/fill.h"
#include "record/words.h"

#define ROW struct order
const struct record record_orders = RECORD_LIST("orders", RECORD_ORDER);
#undef ROW

#define ROW struct fill
const struct record record_fills = RECORD_LIST("fills", RECORD_FILL);
#undef ROW

#define GIVEN(member, option, argument, does, of) {#member, option},
static const struct {
    const char *member, *option;
} given[] = {RECORD_ORDER_GIVEN(GIVEN)};

const struct record_field *record_order_given(int i)
{
    const struct record_field *field = record_orders.fields;
    if (i >= (int)(sizeof given / sizeof *given))
        return NULL;
    while (strcmp(field->member, given[i].member) != 0)
        field++;
    return field;
}

void record_order_given_text(const struct order *order, char ret[static RECORD_GIVEN_TEXT_MAX])
{
    const struct record_field *field;
    size_t n = 0;
    ret[0] = '\0';
    for (int i = 0; (field = record_order_given(i)) && n < RECORD_GIVEN_TEXT_MAX; i++) {
        const char *text = field->kind == RECORD_TEXT ? record_field_text(field, order) : "";
        if (strcmp(field->member, "client_id") == 0 || (!*text && !record_field_number(field, order)))
            continue;
        n += (size_t)snprintf(ret + n, RECORD_GIVEN_TEXT_MAX - n, " %s", given[i].option);
        if (*text && n < RECORD_GIVEN_TEXT_MAX)
            n += (size_t)snprintf(ret + n, RECORD_GIVEN_TEXT_MAX - n, " \"%s\"", text);
    }
}
