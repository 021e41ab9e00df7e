/* Python's shortest text of a float64, and arithmetic on such texts, by which Optuna decides where the grid
 * of a range with a step ends: 0 to 0.9 in steps of 0.3 has 0.9 on it, although 0.9 / 0.3 < 3 in float64. */
#ifndef DB_STUDIES_DECIMAL_GRID_H
#define DB_STUDIES_DECIMAL_GRID_H

enum { DECIMAL_TEXT_MAX = 32 };

/* As Python's repr() and json.dumps() have it: "0.1", "1e-05", "3.0"; "NaN", "Infinity", "-Infinity". */
void decimal_text(double value, char ret[static DECIMAL_TEXT_MAX]);

/* The highest low + k * step that is not above high, k a whole number, all of it exact in decimal. Finite
 * low <= high, step > 0. Where the numbers are so far apart that 38 digits do not hold them, in float64. */
double decimal_grid_high(double low, double high, double step);

#endif
