/* Returns read from CSVs: columns known by name, the files of a study's trials, and bad input by line and
 * column. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "strategy/metrics/overfit.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "trainer/study/validation.h"

static char err[VALIDATION_ERROR_MAX];

static void refused(const char *text, int code, const char *const *words)
{
    struct returns_matrix returns = {.rows = 77};
    const char *path = scratch_write("bad.csv", text);
    err[0] = '\0';
    CHECK_INT(returns_read_csv(path, &returns, err), code);
    CHECK_INT(returns.rows, 77); /* untouched */
    CHECK(strstr(err, "bad.csv") && !strchr(err, '\n'));
    for (; *words; words++)
        if (!strstr(err, *words)) {
            check_failures++;
            fprintf(stderr, "\"%s\" is not in: %s\nof: %s\n", *words, err, text);
        }
}
#define REFUSED(text, ...) refused(text, -EINVAL, (const char *const[]){__VA_ARGS__, NULL})

static void test_refused(void)
{
    struct returns_matrix returns;
    REFUSED("", "empty", "a header");
    REFUSED("\n\r\n\n", "empty", "a header");
    REFUSED("0.1,0.2\n0.3,x\n", ":2:", "column 2 \"1\"", "x: a finite number");
    REFUSED("a,\xff\n1,2\n", ":1:", "column 2", "UTF-8");
    REFUSED("a,b\n1,2\n3\n", ":3:", "1 columns", "2 are right");
    REFUSED("a,b\n1,2\n\n3,4,5\n", ":4:", "3 columns", "2 are right");
    REFUSED("a,b\n1,x\n", ":2:", "column 2 \"b\"", "x: a finite number");
    REFUSED("a,b\n1,\n", ":2:", "column 2 \"b\"", "nothing: a finite number");
    REFUSED("a,b\n1,nan\n", ":2:", "column 2 \"b\"", "nan: a finite number");
    REFUSED("a,b\n1,inf\n", ":2:", "column 2 \"b\"", "inf: a finite number");
    REFUSED("a,b\n1,1e999\n", ":2:", "column 2 \"b\"", "1e999: a finite number");
    REFUSED("a,b\n-1,2\n\n1,-1.01\n", ":4:", "column 2 \"b\"", "-1.01: a return is a share, -1 at least");
    REFUSED("a,holding\n1,-7\n", ":2:", "column 2 \"holding\"", "-7: a return is a share");
    REFUSED("a,b\n1,2 3\n", ":2:", "column 2 \"b\"", "2 3: a finite number");
    REFUSED("timestamp_ns,a\n2024-01-01,2\n", ":2:", "column 1 \"timestamp_ns\"",
            "a whole number of nanoseconds");
    REFUSED("timestamp_ns,a\n99999999999999999999,2\n", ":2:", "column 1", "a whole number of nanoseconds");
    CHECK_INT(returns_read_csv(scratch_path("none.csv"), &returns, err), -ENOENT);
    CHECK(strstr(err, "none.csv: cannot be read"));
    CHECK_INT(returns_read_csv(scratch_root(), &returns, err), -EISDIR);
    CHECK_INT(mkfifo(scratch_path("pipe.csv"), 0600), 0); /* no process writes to it */
    CHECK_INT(returns_read_csv(scratch_path("pipe.csv"), &returns, err), -EINVAL);
    CHECK(strstr(err, "pipe.csv: cannot be read"));
}

static void test_csv(void)
{
    struct returns_matrix returns;
    const char *path = scratch_write(
        "good.csv", "\xef\xbb\xbf timestamp_ns , trial 1,holding,\"b, \"\"c\"\"\",equal_weight\r\n"
                    "1000,0.5,1,-1e-3,2\r\n\r\n 2000 , .25 ,3,\"4\",5\r\n");
    CHECK_INT(returns_read_csv(path, &returns, err), 0);
    CHECK_INT(returns.rows, 2);
    CHECK_INT(returns.columns, 2);
    CHECK_STR(returns.names[0], "trial 1");
    CHECK_STR(returns.names[1], "b, \"c\"");
    static const double values[] = {0.5, -1e-3, 0.25, 4}, holding[] = {1, 3}, equal[] = {2, 5};
    CHECK(memcmp(returns.values, values, sizeof values) == 0);
    CHECK(memcmp(returns.holding, holding, sizeof holding) == 0);
    CHECK(memcmp(returns.equal_weight, equal, sizeof equal) == 0);
    CHECK(returns.open_ns && returns.open_ns[0] == 1000 && returns.open_ns[1] == 2000);
    returns_finish(&returns);
    returns_finish(&returns);
    /* pandas: an index of dates without a name; and one that is none. */
    CHECK_INT(returns_read_csv(scratch_write("p.csv", ",a,b\n2024-01-01,1,2\n2024-01-02,3,4"), &returns, err),
              0);
    CHECK(returns.open_ns && returns.open_ns[1] - returns.open_ns[0] == INT64_C(86400000000000));
    CHECK_INT(returns.columns, 2);
    CHECK(!returns.holding && !returns.equal_weight);
    returns_finish(&returns);
    CHECK_INT(returns_read_csv(scratch_write("d.csv", "a,Date\n1,2024-01-01\n3,somewhen\n"), &returns, err),
              0);
    CHECK(!returns.open_ns);
    CHECK_INT(returns.columns, 1);
    returns_finish(&returns);
}

/* numpy.savetxt() writes no names, DataFrame.to_csv() numbers for them and for rows. */
static void test_without_names(void)
{
    static const struct {
        const char *text;
        bool timed;
    } files[] = {
        {"1e-3,-2e-3,0.5\n0,1,2\n4,5,6\n", false},
        {"0,1,2\n1e-3,-2e-3,0.5\n0,1,2\n4,5,6\n", false},
        {",0,1,2\n0,1e-3,-2e-3,0.5\n1,0,1,2\n2,4,5,6\n", false},
        {",0,1,2\n1,1e-3,-2e-3,0.5\n2,0,1,2\n3,4,5,6\n", false},
        {",0,1,2\n0,1e-3,-2e-3,0.5\n60,0,1,2\n120,4,5,6\n", true},
    };
    static const double values[] = {1e-3, -2e-3, 0.5, 0, 1, 2, 4, 5, 6};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct returns_matrix returns = {0};
        CHECK_INT(returns_read_csv(scratch_write("numbers.csv", files[i].text), &returns, err), 0);
        CHECK_INT(returns.rows, 3);
        CHECK_INT(returns.columns, 3);
        if (returns.rows == 3 && returns.columns == 3) {
            CHECK(memcmp(returns.values, values, sizeof values) == 0);
            CHECK_STR(returns.names[0], "0");
            CHECK_STR(returns.names[2], "2");
        }
        CHECK_INT(returns.open_ns != NULL, files[i].timed);
        returns_finish(&returns);
    }
}

static void write_trial(int number, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "study/%d", number);
    mkdir(scratch_path(name), 0700);
    snprintf(name, sizeof name, "study/%d/returns.csv", number);
    scratch_write(name, text);
}

enum { NUMBERS_MAX = 6 };

static void name_trials(const int *numbers, int n, char names[][24], struct returns_trial *ret)
{
    static char folder[SCRATCH_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", scratch_path("study"));
    for (int i = 0; i < n; i++) {
        snprintf(names[i], 24, "trial %d", numbers[i]);
        ret[i] = (struct returns_trial){folder, names[i], numbers[i]};
    }
}

static int read_study(const int *numbers, int n, struct returns_matrix *ret, int *ret_left_out, char *to)
{
    struct returns_trial trials[NUMBERS_MAX];
    char names[NUMBERS_MAX][24];
    name_trials(numbers, n, names, trials);
    return returns_of_trials(trials, n, -1, ret, ret_left_out, to);
}

/* A file at a time, each once; of some of them what returns_of_trials() makes of these, whichever came first.
 */
static void test_kept(void)
{
    static const int numbers[] = {0, 2, 3, 4, 6, 7};
    static const struct {
        int first, n, like;
    } asked[] = {{0, 6, -1}, {0, 6, 1}, {1, 5, -1}, {2, 4, 3}, {4, 2, 0}, {0, 3, 2}};
    struct returns_trial trials[NUMBERS_MAX];
    char names[NUMBERS_MAX][24];
    write_trial(6, "timestamp_ns,path_1,equal_weight\n1,1,2\n2,2,2\n3,3,2\n"); /* the rows of 2 */
    write_trial(7, "timestamp_ns,path_1,equal_weight\n1,3,4\n2,2,4\n3,1,4\n");
    name_trials(numbers, NUMBERS_MAX, names, trials);
    struct returns_kept *kept = returns_kept_create();
    CHECK_INT(returns_kept_count(kept, trials, NUMBERS_MAX), 0);
    for (int i = 0; i < NUMBERS_MAX; i++) {
        CHECK_INT(returns_kept_read(kept, trials, NUMBERS_MAX), 1);
        CHECK_INT(returns_kept_count(kept, trials, NUMBERS_MAX), i + 1);
    }
    CHECK_INT(returns_kept_read(kept, trials, NUMBERS_MAX), 0);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct returns_matrix right = {0}, returns = {0};
        int right_out = -1, left_out = -1, n = asked[i].n, like = asked[i].like;
        const struct returns_trial *of = &trials[asked[i].first];
        CHECK_INT(returns_of_trials(of, n, like, &right, &right_out, err), 0);
        CHECK_INT(returns_kept_join(kept, of, n, like, &returns, &left_out, err), 0);
        CHECK_INT(left_out, right_out);
        CHECK_INT(returns.rows, right.rows);
        CHECK_INT(returns.columns, right.columns);
        CHECK(memcmp(returns.values, right.values, right.rows * right.columns * sizeof *right.values) == 0);
        CHECK(memcmp(returns.open_ns, right.open_ns, right.rows * sizeof *right.open_ns) == 0);
        for (size_t c = 0; c < right.columns; c++)
            CHECK_STR(returns.names[c], right.names[c]);
        returns_finish(&right);
        returns_finish(&returns);
    }
    struct returns_matrix returns = {0};
    int left_out;
    CHECK_INT(returns_kept_join(kept, trials, NUMBERS_MAX, -1, &returns, &left_out, err), 0);
    CHECK_STR(returns.names[0], "trial 2"); /* three are alike: 2, 6 and 7 */
    CHECK_INT(returns.columns, 3);
    CHECK(returns.holding && returns.holding[0] == 7 && returns.equal_weight && returns.equal_weight[0] == 2);
    returns_finish(&returns);
    write_trial(2, "spoilt\n"); /* it was read */
    CHECK_INT(returns_kept_join(kept, trials, NUMBERS_MAX, 5, &returns, &left_out, err), 0);
    CHECK_INT(returns.columns, 3);
    returns_finish(&returns);
    returns_kept_destroy(kept);
    returns_kept_destroy(NULL);
}

static void test_study(void)
{
    static const int numbers[] = {0, 2, 3, 4, 5, 9};
    struct returns_matrix returns = {0};
    int left_out = -1;
    mkdir(scratch_path("study"), 0700);
    CHECK_INT(read_study(numbers, 6, &returns, &left_out, err), -EINVAL);
    CHECK(strstr(err, "two or more") && strstr(err, "9/returns.csv"));
    write_trial(0, "timestamp_ns,path_1,path_2,holding,equal_weight\n1,,,7,8\n2,1,,7,8\n3,1,3,,8\n4,,,7,8\n");
    CHECK_INT(read_study(numbers, 1, &returns, &left_out, err), -EINVAL);
    CHECK(strstr(err, "1 trials: two or more"));
    write_trial(2, "timestamp_ns,path_1,holding\n1,5,7\n2,5,7\n3,5,7\n"); /* other rows */
    write_trial(3, "timestamp_ns,path_1,holding\n1,,7\n2,nan,7\n3,-2,7\n4,4,7\n");
    write_trial(4, "timestamp_ns,path_1\n1,x\n"); /* cannot be read */
    write_trial(5, "path_1\n1\n");                /* no times */
    CHECK_INT(read_study(numbers, 6, &returns, &left_out, err), 0);
    CHECK_INT(left_out, 4);
    CHECK_INT(returns.columns, 2);
    CHECK_INT(returns.rows, 3); /* no trial traded in the first */
    CHECK_STR(returns.names[0], "trial 0");
    CHECK_STR(returns.names[1], "trial 3");
    static const double values[] = {1, 0, 2, -2, 0, 4}, holding[] = {7, 0, 7}, equal[] = {8, 8, 8};
    CHECK(memcmp(returns.values, values, sizeof values) == 0);
    CHECK(memcmp(returns.holding, holding, sizeof holding) == 0);
    CHECK(memcmp(returns.equal_weight, equal, sizeof equal) == 0);
    CHECK_INT(returns.open_ns[0], 2);
    returns_finish(&returns);
    CHECK_INT(read_study(numbers, 0, &returns, &left_out, err), -EINVAL);
    CHECK(strstr(err, "no trial that is complete"));
    static const int differ[] = {0, 2};
    CHECK_INT(read_study(differ, 2, &returns, &left_out, err), -EINVAL);
    CHECK(strstr(err, "no two trials have rows of the same times"));
}

/* What a proposal takes from it; and that more trials than columns deflate more. */
static void test_figures(void)
{
    double values[120];
    char a[] = "a", b[] = "b", *names[] = {a, b};
    struct returns_matrix returns = {.rows = 60, .columns = 2, .values = values, .names = names};
    json_t *few = NULL, *many = NULL, *proposal = json_object();
    for (int i = 0; i < 120; i++)
        values[i] = 0.001 * ((i * 7919) % 101 - 47);
    CHECK_INT(validation_json(&returns, 6, 0, &few, err), 0);
    CHECK(json_is_null(json_object_get(few, "periods_per_year")) &&
          json_is_null(json_object_get(few, "holding")));
    returns.tried = 500;
    CHECK_INT(validation_json(&returns, 6, 365, &many, err), 0);
    CHECK_NEAR(json_number_value(json_object_get(many, "periods_per_year")), 365, 0);
    const json_t *one = json_object_get(few, "deflated"), *other = json_object_get(many, "deflated");
    CHECK_INT(json_integer_value(json_object_get(one, "trials")), 2);
    CHECK_INT(json_integer_value(json_object_get(other, "trials")), 500);
    CHECK(json_number_value(json_object_get(one, "deflated_sharpe")) >
          json_number_value(json_object_get(other, "deflated_sharpe")));
    CHECK(json_number_value(json_object_get(other, "deflated_capped")) >=
          json_number_value(json_object_get(other, "deflated_sharpe")));
    CHECK_NEAR(json_number_value(json_object_get(other, "sharpe")),
               sqrt(365) * json_number_value(json_object_get(one, "sharpe")), 1e-14);
    validation_figures(many, proposal);
    CHECK_INT(json_object_size(proposal), 7);
    CHECK(json_equal(json_object_get(proposal, "pbo"), json_object_get(many, "pbo")));
    CHECK(json_equal(json_object_get(proposal, "skill"), json_object_get(other, "deflated_capped")));
    json_decref(few);
    json_decref(many);
    json_decref(proposal);
    few = NULL;
    returns.rows = 11;
    CHECK_INT(validation_json(&returns, 6, 0, &few, err), -EINVAL);
    CHECK(!few && strstr(err, "at least 12 rows"));
}

/* The trial that is proposed is looked at, whichever is the best by its Sharpe; of one without returns
 * nothing is known. */
static void test_proposed(void)
{
    double values[180];
    char a[] = "a", b[] = "b", c[] = "c", *names[] = {a, b, c};
    struct returns_matrix returns = {
        .rows = 60, .columns = 3, .values = values, .names = names, .proposed = "c"};
    json_t *validation = NULL, *alone = NULL, *none = NULL;
    for (int i = 0; i < 180; i++)
        values[i] = 0.001 * ((i * 7919) % 101 - 50 + (i % 3 == 1 ? 20 : 0));
    CHECK_INT(validation_json(&returns, 6, 0, &validation, err), 0);
    const json_t *of = json_object_get(validation, "deflated");
    const json_t *best = json_object_get(validation, "deflated_best");
    CHECK_STR(json_string_value(json_object_get(of, "name")), "c");
    CHECK_INT(json_integer_value(json_object_get(of, "column")), 2);
    CHECK_STR(json_string_value(json_object_get(best, "name")), "b");
    CHECK_STR(json_string_value(json_object_get(json_object_get(validation, "best"), "name")), "b");
    CHECK_STR(json_string_value(json_object_get(json_object_get(validation, "proposed"), "name")), "c");
    CHECK_NEAR(json_number_value(json_object_get(of, "sharpe")), overfit_sharpe(values + 2, 60, 3), 1e-14);
    CHECK_NEAR(json_number_value(json_object_get(best, "sharpe")), overfit_sharpe(values + 1, 60, 3), 1e-14);
    CHECK_NEAR(json_number_value(json_object_get(of, "expected_sharpe")),
               json_number_value(json_object_get(best, "expected_sharpe")), 0);
    CHECK(json_number_value(json_object_get(of, "skill")) <
          json_number_value(json_object_get(best, "skill")));
    json_t *proposal = json_object();
    validation_figures(validation, proposal);
    CHECK(json_equal(json_object_get(proposal, "skill"), json_object_get(of, "skill")));
    returns.proposed = NULL;
    CHECK_INT(validation_json(&returns, 6, 0, &alone, err), 0);
    CHECK(json_equal(json_object_get(alone, "deflated"), best));
    CHECK(json_is_null(json_object_get(alone, "proposed")));
    returns.proposed = "d";
    CHECK_INT(validation_json(&returns, 6, 0, &none, err), 0);
    of = json_object_get(none, "deflated");
    CHECK_STR(json_string_value(json_object_get(of, "name")), "d");
    CHECK(json_is_null(json_object_get(of, "column")) && json_is_null(json_object_get(of, "skill")));
    CHECK(json_is_null(json_object_get(none, "proposed")));
    CHECK(json_equal(json_object_get(none, "deflated_best"), best));
    json_decref(validation);
    json_decref(alone);
    json_decref(none);
    json_decref(proposal);
}

int main(void)
{
    test_refused();
    test_csv();
    test_without_names();
    test_study();
    test_kept();
    test_figures();
    test_proposed();
    return check_done("trainer/validation");
}
