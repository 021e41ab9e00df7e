/* Bytes as an ensemble's text: refused in one line, or members, a rule and a window that may be. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/policy/ensemble_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ensemble_text text = {.n = -1};
    char err[POLICY_ERROR_MAX] = "";
    int r = ensemble_text_parse("f", (const char *)data, size, &text, err);
    if (r < 0) {
        if (text.n != -1 || r != -EINVAL || strncmp(err, "f: ", 3) != 0 || strchr(err, '\n'))
            abort();
        return 0;
    }
    if (text.n < ENSEMBLE_MEMBERS_MIN || text.n > ENSEMBLE_MEMBERS_MAX || text.combine > ENSEMBLE_SHARPE ||
        text.window_bars < ENSEMBLE_WINDOW_MIN || text.window_bars > ENSEMBLE_WINDOW_MAX)
        abort();
    for (int i = 0; i < text.n; i++)
        if (!policy_names_trained(text.members[i]))
            abort();
    ensemble_text_finish(&text);
    return 0;
}
