/* Numbers in bars files. */
#ifndef EXCHANGE_BARS_NUMBER_H
#define EXCHANGE_BARS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Reads all of a finite decimal number, with or without sign, point and exponent: the double that strtod()
 * gives. Raises *digits to its digits after the point, zeros at the end apart, at most DECIMAL_SCALE_MAX.
 * False, and *digits as it was, for anything else. A '\0' or another character that no number has must follow
 * it. */
bool bars_number(const char *data, size_t len, double *ret, int *digits);

/* Raises *digits to the digits after the point of a finite number's shortest decimal, at most
 * DECIMAL_SCALE_MAX: what bars_number() finds in the text of a program that prints doubles so. */
void bars_number_digits(double value, int *digits);

#endif
