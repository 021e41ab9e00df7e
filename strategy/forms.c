/* The forms of outside strategies alone, so that a test may link its own instead. */
#include "strategy/external.h"
#include "strategy/library.h"
#include "strategy/process/process.h"

const struct strategy_form_row *strategy_form_row(enum strategy_form form)
{
    static const struct strategy_form_row *const rows[STRATEGY_FORMS] = {
        [STRATEGY_LIBRARY] = &strategy_library_form,
        [STRATEGY_PROCESS] = &strategy_process_form,
    };
    return rows[form];
}
