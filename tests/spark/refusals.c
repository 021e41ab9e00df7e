/* What a batch of bars is refused for, in words, with outputs left as they were; and epochs of every unit. */
#include "spark/native/papertape_spark.h"

#include <errno.h>

#include "tests/spark/three.h"

/* What a batch is refused for: `part` of the sentence. */
static void refuses(const struct bars *b, const struct made_column columns[], int64_t from, int64_t n,
                    const char *part)
{
    char err[PAPERTAPE_SPARK_ERROR_MAX] = "";
    struct papertape_spark *run = NULL;
    struct ArrowArray batch, out;
    struct ArrowSchema schema, out_schema;
    (void)b;
    memset(&out, 0x5a, sizeof(out));
    memset(&out_schema, 0x5a, sizeof(out_schema));
    const struct ArrowArray untouched = out;
    CHECK_INT(papertape_spark_indicators("sma:3\nrsi", &run, err, sizeof(err)), 0);
    made_batch(columns, COLUMNS, from, n, &batch, &schema);
    CHECK_INT(papertape_spark_update(run, &batch, &schema, &out, &out_schema, err, sizeof(err)), -EINVAL);
    CHECK(memcmp(&out, &untouched, sizeof(out)) == 0);
    CHECK_INT(made_alive, 0);
    if (!strstr(err, part))
        fprintf(stderr, "  \"%s\" without \"%s\"\n", err, part);
    CHECK(strstr(err, part) != NULL);
    papertape_spark_close(run);
}

/* Each fault is put into a copy of the bars. */
static void test_refusals(struct bars *b)
{
    struct made_column columns[COLUMNS];
    columns_of(b, columns);
    int64_t time = b->time[5];
    b->time[5] = b->time[4];
    refuses(b, columns, 0, 10, "ADA at 2023-11-14T22:17:20Z: two bars have this time");
    b->time[5] = b->time[3];
    refuses(b, columns, 0, 10, "it comes after a later bar");
    b->time[5] = INT64_MAX / 2;
    refuses(b, columns, 0, 10, "no timestamp from 1677 to 2262");
    b->time[5] = time;
    b->symbol[7] = "AAA";
    refuses(b, columns, 0, 10, "AAA comes after ADA: rows in the order of symbol and timestamp");
    b->symbol[7] = "ADA";
    const double close = b->prices[3][6], volume = b->prices[4][6], high = b->prices[1][6];
    b->prices[3][6] = NAN;
    refuses(b, columns, 0, 10, "ADA at 2023-11-14T22:19:20Z: close is not finite");
    b->prices[3][6] = high * 2;
    refuses(b, columns, 0, 10, "close is outside low to high");
    b->prices[3][6] = close;
    b->prices[1][6] = b->prices[2][6] / 2;
    refuses(b, columns, 0, 10, "high is below low");
    b->prices[1][6] = high;
    b->prices[4][6] = -1;
    refuses(b, columns, 0, 10, "negative volume");
    b->prices[4][6] = volume;
    b->null[6] = true;
    columns[4].null = b->null;
    refuses(b, columns, 0, 10, "low is null");
    columns[4].null = NULL;
    columns[0].null = b->null;
    refuses(b, columns, 0, 10, "a row has no symbol");
    columns[0].null = NULL;
    columns[1].null = b->null;
    refuses(b, columns, 0, 10, "no timestamp");
    columns[1].null = NULL;
    b->null[6] = false;
    columns[2].name = "opening";
    refuses(b, columns, 0, 10, "column open is missing: float64 is needed");
    columns[2].name = "open";
    columns[6].format = "l";
    refuses(b, columns, 0, 10, "column volume has Arrow's type \"l\": float64 is needed");
    columns[6].format = "g";

    char err[PAPERTAPE_SPARK_ERROR_MAX];
    struct papertape_spark *run = NULL;
    CHECK_INT(papertape_spark_indicators("", &run, err, sizeof(err)), -EINVAL);
    CHECK_INT(papertape_spark_indicators("sma:20\nsma", &run, err, sizeof(err)), 0);
    papertape_spark_close(run);
    run = NULL;
    CHECK_INT(papertape_spark_indicators("sma:20\nsma:20", &run, err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "sma_20 is asked for twice") != NULL);
    CHECK_INT(papertape_spark_indicators("smaa", &run, err, sizeof(err)), -EINVAL);
    CHECK(run == NULL);
    int64_t bars = 7;
    CHECK_INT(papertape_spark_indicators("ema:14\nobv", &run, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_warmup(run, &bars, err, sizeof(err)), -EOPNOTSUPP);
    CHECK(strstr(err, "obv remembers") != NULL);
    CHECK_INT(bars, 7);
    papertape_spark_close(run);
    CHECK_INT(papertape_spark_indicators("ema:14\nrsi", &run, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_warmup(run, &bars, err, sizeof(err)), 0);
    CHECK(bars > 400 && bars < 600);
    papertape_spark_refuse_gaps(run, 60000000000);
    struct ArrowArray batch;
    struct ArrowSchema schema;
    made_batch(columns, COLUMNS, 0, 2, &batch, &schema);
    CHECK_INT(papertape_spark_update(run, &batch, &schema, NULL, NULL, err, sizeof(err)), 0);
    made_batch(columns, COLUMNS, 5, 2, &batch, &schema);
    CHECK_INT(papertape_spark_update(run, &batch, &schema, NULL, NULL, err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "bars missing between it and 2023-11-14T22:14:20Z: 3") != NULL);
    papertape_spark_close(run);
}

/* Epochs in s, ms, us and ns are one time. */
static void test_epochs(struct bars *b)
{
    struct made_column columns[COLUMNS];
    columns_of(b, columns);
    columns[1].format = "l";
    char err[PAPERTAPE_SPARK_ERROR_MAX];
    double **want = room(1), **got = room(1);
    for (int64_t unit = 1; unit <= 1000000000; unit *= 1000) {
        struct papertape_spark *run = NULL;
        for (int i = 0; i < ROWS; i++)
            b->time[i] = (int64_t)b->series[0].time[i] * unit;
        CHECK_INT(papertape_spark_indicators("vwap:13.5", &run, err, sizeof(err)), 0);
        CHECK_INT(give(run, columns, COLUMNS, 0, ROWS, unit == 1 ? want : got, err), 0);
        for (int i = 0; i < ROWS && unit > 1; i++)
            CHECK(same(want[0][i], got[0][i]));
        papertape_spark_close(run);
    }
    /* Two units in one column, which numbers sort in another order than times. */
    struct papertape_spark *run = NULL;
    for (int i = 0; i < ROWS; i++)
        b->time[i] = (int64_t)b->series[0].time[i] * (i < 5 ? 1000 : 1000000) - (i < 5 ? 0 : 600000000);
    CHECK_INT(papertape_spark_indicators("sma", &run, err, sizeof(err)), 0);
    CHECK_INT(give(run, columns, COLUMNS, 0, 10, got, err), -EINVAL);
    if (!strstr(err, "is an epoch in \u00b5s, and the one before it one in ms: one unit a column"))
        fprintf(stderr, "  \"%s\"\n", err);
    CHECK(strstr(err, "is an epoch in \u00b5s, and the one before it one in ms: one unit a column") != NULL);
    papertape_spark_close(run);
    room_free(want, 1);
    room_free(got, 1);
}

int main(void)
{
    rng = random_seeded("spark/refusals", 33);
    struct bars *bars = bars_make();
    test_refusals(bars);
    test_epochs(bars); /* last: it changes the times */
    bars_free(bars);
    return check_done("spark/refusals");
}
