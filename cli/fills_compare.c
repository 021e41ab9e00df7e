/* papertape fills --compare: the venue's fills beside the model's. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/stored.h"
#include "cli/verbs.h"
#include "db/state.h"
#include "engine/fill_compare.h"
#include "exchange/clock.h"
#include "exchange/decimal_json.h"
#include "exchange/exit_status.h"
#include "exchange/journal/journal.h"
#include "record/times.h"

#define DAY_NS (86400 * INT64_C(1000000000))

/* A UTC day's orders. */
struct compared_day {
    int64_t day;
    size_t n, modelled;
    double latency_ms, worse_bp, venue_fee, model_fee; /* sums */
    size_t timed;
};

/* Adds the orders of one day from *at on, and moves *at past them. */
static struct compared_day next_day(const struct fill_comparison *c, size_t *at)
{
    struct compared_day day = {.day = c->orders[*at].decided_ns / DAY_NS};
    for (; *at < c->n && c->orders[*at].decided_ns / DAY_NS == day.day; (*at)++) {
        const struct compared_order *o = &c->orders[*at];
        day.n++;
        day.venue_fee += o->venue_fee;
        if (o->latency_ns != INT64_MIN) {
            day.timed++;
            day.latency_ms += (double)o->latency_ns / 1e6;
        }
        if (!isnan(o->worse_bp)) {
            day.modelled++;
            day.worse_bp += o->worse_bp;
            day.model_fee += o->model_fee;
        }
    }
    return day;
}

static double mean(double sum, size_t n)
{
    return n ? sum / (double)n : NAN;
}

static json_t *real(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *figure(const struct compared_figure *f)
{
    return json_pack("{s:I, s:o, s:o, s:o}", "orders", (json_int_t)f->n, "median", real(f->median), "low",
                     real(f->low), "high", real(f->high));
}

static json_t *order_object(const struct compared_order *o)
{
    bool timed = o->latency_ns != INT64_MIN;
    return json_pack("{s:I, s:I, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "order",
                     (json_int_t)o->id, "decided_ns", (json_int_t)o->decided_ns, "account", o->account,
                     "symbol", o->symbol, "side", order_side_name(o->side), "type", order_type_name(o->type),
                     "latency_ms", timed ? json_real((double)o->latency_ns / 1e6) : json_null(), "venue_qty",
                     decimal_json(o->venue_qty, o->qty_scale), "model_qty",
                     decimal_json(o->model_qty, o->qty_scale), "venue_price", real(o->venue_price),
                     "model_price", real(o->model_price), "worse_bp", real(o->worse_bp), "venue_fee",
                     real(o->venue_fee), "model_fee", isnan(o->worse_bp) ? json_null() : real(o->model_fee));
}

static int print_json(const struct fill_comparison *c)
{
    json_t *orders = json_array(), *days = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(orders, order_object(&c->orders[i]));
    for (size_t at = 0; at < c->n;) {
        struct compared_day d = next_day(c, &at);
        json_array_append_new(
            days, json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "day_ns", (json_int_t)(d.day * DAY_NS),
                            "orders", (json_int_t)d.n, "modelled", (json_int_t)d.modelled, "latency_ms",
                            real(mean(d.latency_ms, d.timed)), "worse_bp", real(mean(d.worse_bp, d.modelled)),
                            "venue_fee", json_real(d.venue_fee), "model_fee", json_real(d.model_fee)));
    }
    return cli_stored_print("fills",
                            json_pack("{s:s, s:o, s:o, s:{s:o, s:o}, s:{s:f, s:f}}", "schema",
                                      "papertape.fills-compare/1", "orders", orders, "days", days, "fitted",
                                      "latency_ms", figure(&c->latency_ms), "slippage_bp",
                                      figure(&c->slippage_bp), "configured", "latency_ms",
                                      (double)c->latency_ns / 1e6, "slippage_bp", c->slippage_e6 / 100.0),
                            12);
}

static void print_real(double value, int digits)
{
    if (isnan(value))
        putchar(',');
    else
        printf("%.*f,", digits, value);
}

static void print_csv(const struct fill_comparison *c)
{
    puts("order,decided_ns,account,symbol,side,type,venue_qty,model_qty,venue_price,model_price,latency_ms,"
         "venue_fee,model_fee,worse_bp,decided_iso");
    for (size_t i = 0; i < c->n; i++) {
        const struct compared_order *o = &c->orders[i];
        char venue[STORED_CELL], model[STORED_CELL], iso[RECORD_TIME_ISO_MAX];
        printf("%" PRIu64 ",%" PRId64 ",%s,%s,%s,%s,%s,%s,", o->id, o->decided_ns, o->account, o->symbol,
               order_side_name(o->side), order_type_name(o->type),
               cli_stored_decimal(STORED_CSV, venue, o->venue_qty, o->qty_scale),
               cli_stored_decimal(STORED_CSV, model, o->model_qty, o->qty_scale));
        print_real(o->venue_price, o->price_scale);
        print_real(o->model_price, o->price_scale);
        print_real(o->latency_ns == INT64_MIN ? NAN : (double)o->latency_ns / 1e6, 3);
        print_real(o->venue_fee, o->quote_scale);
        print_real(isnan(o->worse_bp) ? NAN : o->model_fee, o->quote_scale);
        printf(isnan(o->worse_bp) ? "" : "%.4f", o->worse_bp);
        printf(",%s\n", record_time_iso(o->decided_ns, iso));
    }
}

static void print_cell(double value, int width, int digits)
{
    if (isnan(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, digits, value);
}

static void print_fitted(const char *key, const char *unit, double scale, const struct compared_figure *f,
                         double configured)
{
    printf("%s = ", key);
    if (f->n == 0) {
        printf("not known: no order to fit it by");
    } else {
        printf("%.6g", f->median * scale);
        printf("   # %.2f %s, the middle half of %zu orders %.2f to %.2f", f->median, unit, f->n, f->low,
               f->high);
    }
    printf("; configured: %.6g\n", configured * scale);
}

static void print_table(const struct fill_comparison *c)
{
    puts("day         orders  modelled  latency ms  worse bp     fees there      fees here");
    for (size_t at = 0; at < c->n;) {
        struct compared_day d = next_day(c, &at);
        char time[STORED_CELL];
        printf("%.10s  %6zu  %8zu", cli_stored_time(STORED_TABLE, time, d.day * DAY_NS), d.n, d.modelled);
        print_cell(mean(d.latency_ms, d.timed), 12, 1);
        print_cell(mean(d.worse_bp, d.modelled), 10, 2);
        print_cell(d.venue_fee, 15, 4);
        print_cell(d.modelled ? d.model_fee : NAN, 15, 4);
        putchar('\n');
    }
    puts("\n[engine]");
    print_fitted("latency_ms", "ms", 1, &c->latency_ms, (double)c->latency_ns / 1e6);
    print_fitted("slippage", "bp", 1e-4, &c->slippage_bp, c->slippage_e6 / 100.0);
}

int cli_fills_compare(const struct option_call *call, int64_t from_ns, int64_t to_ns)
{
    struct state_dir dir;
    struct fill_comparison comparison;
    char err[JOURNAL_ERROR_MAX];
    int status = EXIT_OK, r = db_state_dir_resolve(call->state, &dir, err, sizeof err);
    if (r < 0)
        return option_fail(call, EXIT_USAGE, "%s", err);
    const struct fill_compare_options options = {.path = dir.events, .from_ns = from_ns, .to_ns = to_ns};
    r = engine_fill_compare(&options, &comparison, err, sizeof err);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, "fills", "", err);
    if (call->json)
        status = print_json(&comparison);
    else if (call->csv)
        print_csv(&comparison);
    else if (comparison.n == 0)
        puts("no order of an account with execution = venue-paper took from a book in that time");
    else
        print_table(&comparison);
    engine_fill_comparison_finish(&comparison);
    return status;
}
