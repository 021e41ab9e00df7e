/* Python's text of a float64: the fewest digits that are read as the same number. */
#ifndef DB_STUDIES_PYTHON_FLOAT_H
#define DB_STUDIES_PYTHON_FLOAT_H

enum { PYTHON_FLOAT_MAX = 32, PYTHON_FLOAT_DIGITS = 17 };

/* As json.dumps() writes it, which is repr() except for non-finite numbers: "0.1", "1e-05", "3.0"; "NaN",
 * "Infinity", "-Infinity". */
void study_python_float_text(double value, char ret[static PYTHON_FLOAT_MAX]);

/* The digits alone, without trailing zeros; returns how many. |value| is 0.DIGITS * 10^point; finite and not
 * 0. */
int study_python_float_digits(double value, char ret[static PYTHON_FLOAT_DIGITS + 1], int *ret_point);

#endif
