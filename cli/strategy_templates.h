/* The files of cli/templates, as texts: what `papertape strategy new` writes. "@NAME@" stands for the name.
 */
#ifndef CLI_STRATEGY_TEMPLATES_H
#define CLI_STRATEGY_TEMPLATES_H

#include <stddef.h>

struct strategy_template {
    const char *file, *text;
};

extern const struct strategy_template cli_strategy_templates[]; /* up to a NULL */

#endif
