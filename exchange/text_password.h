/* Passwords in what was typed: a storage's URL, right or mistyped, and libpq's KEY=VALUE words. */
#ifndef EXCHANGE_TEXT_PASSWORD_H
#define EXCHANGE_TEXT_PASSWORD_H

#include <stdbool.h>

/* Their bytes become "*", in place: that of USER:PASSWORD@HOST, behind a scheme's name with ":" or slashes,
 * whichever of them are there, or alone; and the value of each key whose name has "pass" or "pwd" in it, in
 * capitals or not, except passfile's. `text` may be a URL, or a line that has one, cut off too. True: there
 * was one. */
bool text_hide_passwords(char *text);

#endif
