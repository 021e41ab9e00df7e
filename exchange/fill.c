#include "exchange/fill.h"

const char *fill_model_name(enum fill_model model)
{
    static const char *const names[FILL_MODELS] = {
        [FILL_BOOK] = "book", [FILL_QUOTE] = "quote", [FILL_BAR] = "bar"};
    return (unsigned)model < FILL_MODELS ? names[model] : "";
}
