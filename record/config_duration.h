/* A key whose value is a duration: "30s", "1.5h", "90d"; an int64_t of ns. */
#ifndef RECORD_CONFIG_DURATION_H
#define RECORD_CONFIG_DURATION_H

#include "record/config_key.h"

enum { CONFIG_DURATION_TEXT_MAX = 24 };

/* So many s, m, h, d, w or y (of 365 d) as ns, with at most nine digits after a point ("1.5h"), above 0 and
 * at most a century; false: invalid. Nothing is lost: a ninth digit of a second is a ns. */
bool config_key_duration_parse(const char *text, int64_t *ret_ns);

/* In the largest unit of which it is a whole number, else in seconds, as it is parsed. */
void config_key_duration_text(int64_t ns, char ret[static CONFIG_DURATION_TEXT_MAX]);

/* Also 0; and the row's `none`, as "off", which is 0 too and is how 0 is printed. */
int config_key_read_duration(const struct config_key *key, const char *text, void *base,
                             char why[static CONFIG_WHY_MAX]);
void config_key_print_duration(const struct config_key *key, const void *base, FILE *to);

#define KEY_DURATION KEY_OWN(config_key_read_duration, config_key_print_duration)

#endif
