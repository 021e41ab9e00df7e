/* The distribution of a hyper-parameter, as Optuna 4 and 5 store it (trial_params.distribution_json). Values
 * are Optuna's internal ones everywhere in this program: floats as they are (not logged), whole numbers as
 * float64, categories as the index of the choice. */
#ifndef DB_STUDIES_DISTRIBUTION_H
#define DB_STUDIES_DISTRIBUTION_H

#include <jansson.h>
#include <stdbool.h>

enum { DISTRIBUTION_ERROR_MAX = 256 };
#define DISTRIBUTION_WHOLE_MAX 9007199254740992 /* 2^53 */

enum distribution_kind { DISTRIBUTION_FLOAT, DISTRIBUTION_INT, DISTRIBUTION_CATEGORICAL };

struct distribution {
    enum distribution_kind kind;
    bool log;
    double low, high; /* low <= high, both may be drawn; categorical: 0 and n_choices - 1 */
    double step;      /* 0: none, of floats only; whole numbers: >= 1. high is on the grid: low + k * step */
    int n_choices;
    /* [n_choices], owned; NULL except of categories: null, booleans, numbers, strings; {"float": "NaN"},
     * "Infinity" or "-Infinity"; {"json": TEXT}, of which only the text is known: Optuna's lists and dicts,
     * and values that Jansson lacks (db/studies/python_json.h). */
    json_t *choices;
    char *text; /* the stored text, owned, of whole numbers beyond 2^53, whose low and high are the nearest
                   float64s; else NULL */
};

/* -EINVAL with "what: where: what would be right": low > high, not finite, log with low <= 0 or (whole
 * numbers) < 1, log and a step, a step <= 0. A high that is off the grid is lowered to it, as Optuna does. */
int distribution_number(enum distribution_kind kind, double low, double high, double step, bool log,
                        struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX]);
/* `choices` is borrowed: a non-empty array of the values that struct distribution allows. */
int distribution_categories(const json_t *choices, struct distribution *ret,
                            char err[static DISTRIBUTION_ERROR_MAX]);

/* From and to Optuna's text, which is what Optuna 5.0.0 writes to the byte. Old names
 * (UniformDistribution, LogUniformDistribution, DiscreteUniformDistribution, IntUniformDistribution,
 * IntLogUniformDistribution) are read, as Optuna does; so are ranges of whole numbers beyond 2^53, which
 * distribution_number() refuses. For distribution_finish(); text for free(), NULL without memory. */
int distribution_parse(const char *json, struct distribution *ret, char err[static DISTRIBUTION_ERROR_MAX]);
char *distribution_text(const struct distribution *distribution);

int distribution_copy(const struct distribution *from, struct distribution *ret); /* 0 or -ENOMEM */
void distribution_finish(struct distribution *distribution);                      /* fine on a zeroed one */

bool distribution_equal(const struct distribution *a, const struct distribution *b);
/* May one study have both for one parameter? The same class and log flag; of categories the same choices. */
bool distribution_compatible(const struct distribution *a, const struct distribution *b);
bool distribution_contains(const struct distribution *distribution, double value);
bool distribution_single(const struct distribution *distribution); /* has it only one value? */

/* The external value: a new number, a real one for whole ones beyond 2^63, or a choice; NULL for a value that
 * it does not contain, or without memory. */
json_t *distribution_external(const struct distribution *distribution, double value);
/* The internal value. 0 or -EINVAL. 1, 1.0 and true are distinguished as Optuna does; for a choice of which
 * only the text is known, equal JSON suffices, if Jansson reads it. */
int distribution_internal(const struct distribution *distribution, const json_t *external, double *ret);

/* The end of a range's grid with a step, computed as Optuna does, on Python's texts of the numbers: 0 to
 * 0.9 in steps of 0.3 has 0.9 on it, although 0.9 / 0.3 < 3 in float64 (decimal_grid.c).
 *
 * The highest low + k * step that is not above high, k a whole number, all of it exact in decimal. Finite
 * low <= high, step > 0. Where 38 digits do not suffice for both numbers, it is computed in float64. */
double study_decimal_grid_high(double low, double high, double step);

#endif
