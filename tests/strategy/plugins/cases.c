/* One file that is many: the test writes another number behind the mark, and this file has another table,
 * each with one thing wrong. tests/strategy/library.c lists what is said of each; 0 is right. */
#include <math.h>
#include <papertape/strategy.h>
#include <string.h>

#include "tests/strategy/plugins/cases.h"

static volatile struct {
    char mark[16];
    uint32_t which;
} chosen = {CASES_MARK, 0};

static size_t specs(const double *p, char out[][PAPERTAPE_SPEC_TEXT])
{
    (void)p;
    switch (chosen.which) {
    case CASE_MANY_SPECS:
        return 1000;
    case CASE_ENDLESS_SPEC:
        memset(out[0], 'a', PAPERTAPE_SPEC_TEXT);
        return 1;
    case CASE_WRONG_SPEC:
        strcpy(out[0], "smaa:20");
        return 1;
    case CASE_FRAME_SPEC:
        strcpy(out[0], "sma:20@1h");
        return 1;
    default:
        strcpy(out[0], "sma:20");
        return 1;
    }
}

static const char *check(const double *p)
{
    (void)p;
    return chosen.which == CASE_DEFAULTS_CONTRADICT ? "period: more is needed" : NULL;
}

static size_t write_orders(const struct papertape_input *bar, struct papertape_intent *intents)
{
    intents[0] = (struct papertape_intent){.kind = PAPERTAPE_EXIT, .fraction = 0.25};
    intents[1] = (struct papertape_intent){.kind = PAPERTAPE_CANCEL};
    intents[2] = (struct papertape_intent){.kind = PAPERTAPE_ORDER,
                                           .side = PAPERTAPE_SELL,
                                           .type = PAPERTAPE_STOP_LIMIT,
                                           .tif = PAPERTAPE_GTD,
                                           .size = PAPERTAPE_OF_UNITS,
                                           .qty = bar->leverage,
                                           .limit = 90,
                                           .stop = 91,
                                           .good_ns = bar->ts_ns + 1,
                                           .reduce_only = 1};
    intents[3] = (struct papertape_intent){.kind = PAPERTAPE_ORDER,
                                           .type = PAPERTAPE_TRAILING_STOP,
                                           .size = PAPERTAPE_OF_POSITION,
                                           .trail = bar->orders,
                                           .trail_share = 0.5};
    return 4;
}

/* Of each peer what it was shown, the last one first; the state is how many intents it may write. */
static size_t write_round(const struct papertape_input *bar, void *state, struct papertape_intent *intents)
{
    for (uint32_t k = 0; k < bar->n_peers; k++) {
        const struct papertape_peer *peer = bar->peers[bar->n_peers - 1 - k];
        intents[k].kind = PAPERTAPE_TARGET;
        intents[k].symbol = bar->n_peers - 1 - k;
        intents[k].fraction =
            peer->close + peer->indicators[0] + peer->leverage + peer->record.wins + peer->fresh;
    }
    *(uint32_t *)state = bar->intents_max;
    return bar->n_peers;
}

static void scan(const double *p, const struct papertape_columns *columns,
                 const struct papertape_marks *marks)
{
    (void)p, (void)columns, (void)marks;
}

/* The state counts the bars. */
static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    if (chosen.which == CASE_TOGETHER)
        return write_round(bar, state, intents);
    uint32_t *count = state;
    uint32_t bars = ++*count;
    intents[0].kind = PAPERTAPE_ENTER;
    intents[0].fraction = chosen.which == CASE_NAN_INTENT ? (double)NAN : p[0] / 100;
    intents[0].stop = bar->close / 2;
    intents[0].why =
        chosen.which == CASE_LONG_WHY ? "a reason that is longer than an order's tag can be" : "go";
    if (chosen.which == CASE_UNKNOWN_KIND)
        intents[0].kind = 99;
    if (chosen.which == CASE_ORDERS)
        return write_orders(bar, intents);
    if (chosen.which == CASE_UNKNOWN_WORDS) {
        intents[0] = (struct papertape_intent){.kind = PAPERTAPE_ORDER, .type = 4000000000u, .qty = 1};
        return 1;
    }
    if (chosen.which == CASE_MANY_INTENTS)
        return 1000;
    return bars > 2 ? 1 : 0;
}

static struct papertape_param params[40] = {
    {.name = "period", .summary = "bars", .fallback = 20, .min = 1, .max = 100, .integer = 1},
    {.name = "way",
     .summary = "which way",
     .fallback = 1,
     .min = 0,
     .max = 2,
     .integer = 1,
     .words = "long short both"},
};

static struct papertape_strategy table = {
    .size = sizeof table,
    .version = PAPERTAPE_STRATEGY_VERSION,
    .name = "case",
    .summary = "one thing is wrong with it",
    .params = params,
    .n_params = 2,
    .param_size = sizeof *params,
    .state_size = 4,
    .check = check,
    .specs = specs,
    .on_bar = on_bar,
};

/* A table of a later header, with one member more. */
static struct {
    struct papertape_strategy table;
    uint64_t more;
} larger;

const struct papertape_strategy *papertape_strategy_v1(void)
{
    static char long_text[300];
    memset(long_text, 'x', sizeof long_text - 1);
    switch (chosen.which) {
    case CASE_NULL:
        return NULL;
    case CASE_VERSION:
        table.version = 2;
        break;
    case CASE_SHORT:
        table.size = 16;
        break;
    case CASE_LARGER_ZERO:
    case CASE_LARGER_USED:
        larger.table = table;
        larger.table.size = sizeof larger;
        larger.more = chosen.which == CASE_LARGER_USED;
        return &larger.table;
    case CASE_PARAM_SIZE:
        table.param_size = 8;
        break;
    case CASE_NO_NAME:
        table.name = NULL;
        break;
    case CASE_BAD_NAME:
        table.name = "My Strategy";
        break;
    case CASE_LONG_NAME:
        table.name = long_text;
        break;
    case CASE_NO_SUMMARY:
        table.summary = "";
        break;
    case CASE_LONG_SUMMARY:
        table.summary = long_text;
        break;
    case CASE_TWO_LINES:
        table.summary = "one\ntwo";
        break;
    case CASE_MANY_PARAMS:
        table.n_params = 40;
        break;
    case CASE_NO_PARAMS:
        table.params = NULL;
        break;
    case CASE_STATE:
        table.state_size = 1u << 30;
        break;
    case CASE_SHORTS:
        table.shorts = 7;
        break;
    case CASE_PEERS:
        table.peers = 2;
        break;
    case CASE_SYMBOLS:
        table.symbols_min = 5000;
        break;
    case CASE_TOGETHER_SCAN:
        table.scan = scan;
        table.together = 1;
        break;
    case CASE_TOGETHER:
        table.together = table.needs_shorts = 1;
        table.symbols_min = 2;
        break;
    case CASE_NO_ON_BAR:
        table.on_bar = NULL;
        break;
    case CASE_PARAM_NAME:
        params[1].name = "the-way";
        break;
    case CASE_PARAM_TWICE:
        params[1].name = "period";
        break;
    case CASE_PARAM_SUMMARY:
        params[1].summary = NULL;
        break;
    case CASE_RANGE:
        params[0].min = 200;
        break;
    case CASE_RANGE_NAN:
        params[0].max = (double)NAN;
        break;
    case CASE_RANGE_INFINITE:
        params[0].max = (double)INFINITY;
        break;
    case CASE_DEFAULT_OUTSIDE:
        params[0].fallback = 101;
        break;
    case CASE_DEFAULT_NAN:
        params[0].fallback = (double)NAN;
        break;
    case CASE_DEFAULT_FRACTION:
        params[0].fallback = 2.5;
        break;
    case CASE_INTEGER:
        params[0].integer = 3;
        break;
    case CASE_WORDS_BLANK:
        params[1].words = "long  short";
        break;
    case CASE_WORDS_ONE:
        params[1].words = "long";
        break;
    case CASE_WORDS_RANGE:
        params[1].max = 1;
        break;
    case CASE_WORDS_NUMBER:
        params[1].integer = 0;
        break;
    default:
        break;
    }
    return &table;
}
