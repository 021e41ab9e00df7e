/* The keys that a training's configuration may have, of the trainer that was built with this program. */
#ifndef TUI_FORM_KNOWN_H
#define TUI_FORM_KNOWN_H

#include "tui/form.h"

/* All of them in the order of a file, with their defaults. Made at the first call, for the whole run; NULL
 * and *ret_n 0 without memory. */
const struct form_known *tui_form_known_keys(size_t *ret_n);

#endif
