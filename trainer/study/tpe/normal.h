/* The truncated normal distribution in logarithms: exact to about 1e-13 on any interval. */
#ifndef TRAINER_STUDY_TPE_NORMAL_H
#define TRAINER_STUDY_TPE_NORMAL_H

#define NORMAL_LOG_SQRT_2PI 0.91893853320467274178 /* log(2 pi) / 2 */
/* Beyond so many deviations is less than the rounding of 1: 5.2e-17. */
#define NORMAL_ALL 8.3

/* log(Phi(b) - Phi(a)) for a <= b, both of a standard normal; -infinity where they are equal. */
double tpe_normal_log_mass(double a, double b);

/* The same as a factor: Phi(b) - Phi(a) is what it returns times e^*ret_log. Where one logarithm is wanted of
 * many of them their factors, which are above 1e-300, may be multiplied. */
double tpe_normal_mass(double a, double b, double *ret_log);

/* The quantile `u` in (0, 1) of a standard normal truncated to [a, b], for drawing from it: relative error
 * 1e-9; beyond 35 deviations the tail is approximated by an exponential, relative error 1e-3. */
double tpe_normal_cut_quantile(double u, double a, double b);

#endif
