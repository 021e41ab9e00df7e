/* Everything that is wrong with a configuration, for a form that shows each error at its line; config_parse()
 * stops at the first. */
#ifndef TRAINER_CONFIG_ERRORS_H
#define TRAINER_CONFIG_ERRORS_H

#include "trainer/config.h"

/* Calls `error` for each, by line: `line` counts from 1, those of no line (a key that is missing) come last
 * with 0; `section` and `key` are the configuration's, "" where there is none; `message` says what is wrong
 * and what would be right, without them; the three are UTF-8 without control characters. A key whose own
 * value is wrong is told once: not again for what it does not fit; and keys under a heading that is wrong are
 * not judged. `name` is what sentences call the text. 0: there is none, and *ret (NULL: not wanted) is the
 * configuration, as config_parse() reads it; else how many there are, or -ENOMEM, and *ret is as it was. */
int config_errors(const char *name, const char *text, struct config *ret,
                  void (*error)(void *ctx, int line, const char *section, const char *key,
                                const char *message),
                  void *ctx);

#endif
