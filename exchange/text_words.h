/* A command line as words, which starts a program without a shell. */
#ifndef EXCHANGE_TEXT_WORDS_H
#define EXCHANGE_TEXT_WORDS_H

#include <stddef.h>

/* Splits `line` at blanks as a shell does: quotes, single and double, keep them, and a backslash the next
 * character, except between single quotes. Nothing is expanded. The words are written into buf[size], ret[n]
 * is NULL. Returns n, at least 1; -EINVAL: a quote is open, there is no program, or buf[size] or ret[most],
 * its NULL included, is too small. */
int text_words(const char *line, char *buf, size_t size, char **ret, int most);

#endif
