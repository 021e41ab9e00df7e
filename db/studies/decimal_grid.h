/* Where the grid of a range with a step ends, reckoned as Optuna does, on Python's texts of the numbers: 0 to
 * 0.9 in steps of 0.3 has 0.9 on it, although 0.9 / 0.3 < 3 in float64. */
#ifndef DB_STUDIES_DECIMAL_GRID_H
#define DB_STUDIES_DECIMAL_GRID_H

/* The highest low + k * step that is not above high, k a whole number, all of it exact in decimal. Finite
 * low <= high, step > 0. Where the numbers are so far apart that 38 digits do not hold them, in float64. */
double study_decimal_grid_high(double low, double high, double step);

#endif
