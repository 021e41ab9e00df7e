/* The gates, each by hand: just inside, just outside, not known; and what a proposal says. */
#include "trainer/study/gate.h"

#include <errno.h>
#include <string.h>

#include "tests/check.h"

static const struct gate_limits limits = {
    .min_excess = 0.5, .max_pbo = 0.25, .min_deflated = 0.75, .max_drawdown = 0.125, .min_trades = 20};
static const struct gate_figures good = {1.5, 1.0, 0.25, 0.75, 0.125, 20}; /* each at its limit */

static void judged(struct gate_figures figures, const char *refused_by)
{
    struct gate_verdict verdicts[GATES_MAX];
    bool all = !refused_by[0];
    char words[512];
    int n = gate_judge(&limits, &figures, verdicts, &all);
    CHECK_INT(n, 5);
    CHECK_INT(all, !refused_by[0]);
    gate_words(verdicts, n, all, words, sizeof words);
    CHECK(words[0] && !strchr(words, '\n'));
    for (int i = 0; i < n; i++) {
        bool out = strcmp(verdicts[i].gate, refused_by) == 0;
        CHECK_INT(verdicts[i].passed, !out);
        CHECK_INT(strstr(words, verdicts[i].gate) != NULL, out || all);
    }
}

#define WITH(member, value, gate) \
    do { \
        struct gate_figures with = good; \
        with.member = (value); \
        judged(with, gate); \
    } while (0)

static void test_gates(void)
{
    judged(good, "");
    WITH(sharpe, 1.4999, "excess");
    WITH(sharpe, INFINITY, "");
    WITH(sharpe, -INFINITY, "excess");
    WITH(sharpe, NAN, "excess");
    WITH(sharpe_holding, 1.0001, "excess");
    WITH(sharpe_holding, -3, "");
    WITH(sharpe_holding, NAN, "excess");
    WITH(pbo, 0.2501, "pbo");
    WITH(pbo, 0, "");
    WITH(pbo, NAN, "pbo");
    WITH(deflated, 0.7499, "deflated");
    WITH(deflated, 1, "");
    WITH(deflated, NAN, "deflated");
    WITH(drawdown, 0.1251, "drawdown");
    WITH(drawdown, 0, "");
    WITH(drawdown, NAN, "drawdown");
    WITH(trades, 19, "trades");
    WITH(trades, 1000000000000, "");
    WITH(trades, -1, "trades");
    /* A limit that cannot be checked counts as not kept. */
    struct gate_limits odd = limits;
    struct gate_verdict verdicts[GATES_MAX];
    bool all = true;
    odd.max_pbo = NAN;
    gate_judge(&odd, &good, verdicts, &all);
    CHECK(!all);
}

static void test_words(void)
{
    struct gate_verdict verdicts[GATES_MAX];
    char words[256], few[12];
    bool all;
    struct gate_figures figures = {1.82, 1.0, 0.41, NAN, 0.04, 41};
    int n = gate_judge(&limits, &figures, verdicts, &all);
    gate_words(verdicts, n, all, words, sizeof words);
    CHECK_STR(words,
              "pbo 0.41 (at most 0.25 is right), deflated is not known: its trial has no returns here, or "
              "they do not vary (at least 0.75 is right)");
    gate_words(verdicts, n, all, few, sizeof few);
    CHECK_STR(few, "pbo 0.41 (a");
    figures.pbo = 0.1, figures.deflated = 0.99;
    n = gate_judge(&limits, &figures, verdicts, &all);
    gate_words(verdicts, n, all, words, sizeof words);
    CHECK_STR(
        words,
        "excess 0.82 (at least 0.5 is right), pbo 0.1 (at most 0.25 is right), deflated 0.99 "
        "(at least 0.75 is right), drawdown 0.04 (at most 0.125 is right), trades 41 (at least 20 is right)");
}

static void test_parse(void)
{
    static const char text[] =
        "{\"pbo\":0.12,\"deflated_sharpe\":0.97,\"holdout\":{\"sharpe\":1.2,\"sharpe_holding\":0.8,"
        "\"drawdown_pct\":-4.0,\"trades\":41}}";
    static const char *const keys[] = {"sharpe", "sharpe_holding", "drawdown_pct", "trades",
                                       "pbo",    "deflated_sharpe"};
    struct gate_figures figures;
    char err[GATE_ERROR_MAX];
    json_t *proposal = json_loads(text, 0, NULL);
    CHECK_INT(gate_figures_parse(proposal, &figures, err), 0);
    CHECK_NEAR(figures.sharpe, 1.2, 0);
    CHECK_NEAR(figures.sharpe_holding, 0.8, 0);
    CHECK_NEAR(figures.pbo, 0.12, 0);
    CHECK_NEAR(figures.deflated, 0.97, 0);
    CHECK_NEAR(figures.drawdown, 0.04, 1e-17);
    CHECK_INT(figures.trades, 41);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *copy = json_deep_copy(proposal), *in = i < 4 ? json_object_get(copy, "holdout") : copy;
        struct gate_verdict verdicts[GATES_MAX];
        bool all = true;
        json_object_set_new(in, keys[i], json_null());
        CHECK_INT(gate_figures_parse(copy, &figures, err), 0);
        gate_judge(&limits, &figures, verdicts, &all);
        CHECK(!all); /* null: not known */
        json_object_set_new(in, keys[i], json_string("1"));
        figures.trades = 77;
        CHECK_INT(gate_figures_parse(copy, &figures, err), -EINVAL);
        CHECK(strstr(err, keys[i]) && strstr(err, "a number"));
        json_object_del(in, keys[i]);
        CHECK_INT(gate_figures_parse(copy, &figures, err), -EINVAL);
        CHECK_INT(figures.trades, 77);
        json_decref(copy);
    }
    /* Skill is what counts, where it is given. */
    json_object_set_new(proposal, "skill", json_real(0.5));
    CHECK_INT(gate_figures_parse(proposal, &figures, err), 0);
    CHECK_NEAR(figures.deflated, 0.5, 0);
    json_t *none = json_object();
    CHECK_INT(gate_figures_parse(none, &figures, err), -EINVAL);
    CHECK_INT(gate_figures_parse(NULL, &figures, err), -EINVAL);
    json_decref(none);
    json_decref(proposal);
}

/* What docs/studies.md says of the defaults. */
static void test_defaults(void)
{
    struct gate_limits usual = gate_defaults();
    CHECK(usual.min_excess >= 0 && usual.max_pbo > 0 && usual.max_pbo < 0.5 && usual.min_deflated > 0.5);
    CHECK(usual.max_drawdown > 0 && usual.max_drawdown < 1 && usual.min_trades > 0);
}

int main(void)
{
    test_gates();
    test_words();
    test_parse();
    test_defaults();
    return check_done("trainer/gate");
}
