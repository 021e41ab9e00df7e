#include "tui/panel/training_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "strategy/metrics/verdict.h"
#include "trainer/serve/record.h"

bool panel_training_endless(const struct status_training *training)
{
    return serve_training_steps_endless(training->total_steps);
}

double panel_training_share(const struct status_training *training)
{
    return serve_training_steps_share(training->steps, training->total_steps);
}

enum style panel_training_verdict_style(const char *verdict)
{
    switch (metrics_verdict_of_word(verdict)) {
    case VERDICT_BETTER:
        return STYLE_GOOD;
    case VERDICT_FEES_EXCEED_GAIN:
    case VERDICT_BELOW_HOLDING:
        return STYLE_BAD;
    case VERDICT_NONE:
        return STYLE_DIM;
    default:
        return STYLE_WARN;
    }
}

const char *panel_training_state(const struct status_training *training, enum freshness freshness,
                                 enum style *ret_style)
{
    *ret_style = STYLE_WARN;
    if (freshness != FRESH)
        return "STALE";
    if (training->stopping && !tui_model_training_ended(training))
        return "stopping";
    if (strcmp(training->state, "failed") == 0)
        *ret_style = STYLE_BAD;
    else if (tui_model_training_works(training) || strcmp(training->state, "done") == 0)
        *ret_style = STYLE_GOOD;
    else if (strcmp(training->state, "stopped") == 0)
        *ret_style = STYLE_DIM;
    return training->state[0] ? training->state : "n/a";
}

int64_t panel_training_age(const struct model *model, const struct status_training *training,
                           struct moment now)
{
    if (tui_model_training_ended(training)) {
        int64_t age_ns = now.wall_ns - training->ended_ns;
        return training->ended_ns <= 0 ? -1 : age_ns > 0 ? age_ns / 1000000 : 0;
    }
    return tui_model_age(model, training->age_ms, now);
}

double panel_training_number(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

char *panel_training_percent(char buf[static FORMAT_MAX], double share)
{
    if (!isfinite(share))
        snprintf(buf, FORMAT_MAX, "n/a");
    else
        snprintf(buf, FORMAT_MAX, "%.0f%%", floor(share * 100)); /* 100 % only when it is */
    return buf;
}

char *panel_training_steps(char buf[static PANEL_TRAINING_STEPS_MAX], const struct status_training *training,
                           const char *unit)
{
    char made[FORMAT_MAX], wanted[FORMAT_MAX];

    cli_format_count(made, panel_training_number(training->steps));
    cli_format_count(wanted, (double)training->total_steps);
    if (training->steps > training->total_steps)
        snprintf(buf, PANEL_TRAINING_STEPS_MAX, "%s%s (%s in whole rollouts)", made, unit, wanted);
    else
        snprintf(buf, PANEL_TRAINING_STEPS_MAX, "%s of %s%s", made, wanted, unit);
    return buf;
}

char *panel_training_left(char buf[static FORMAT_MAX], const struct status_training *training)
{
    if (panel_training_endless(training) || training->steps < 0 || !(training->steps_s > 0)) {
        snprintf(buf, FORMAT_MAX, "%s", panel_training_endless(training) ? "-" : "n/a");
        return buf;
    }
    double left_s = (double)(training->total_steps - training->steps) / training->steps_s;
    return cli_format_age(buf, left_s > 0 ? (int64_t)fmin(left_s * 1000, 1e15) : 0);
}

char *panel_training_return(char buf[static FORMAT_MAX], double value)
{
    double size = fabs(value);

    if (size >= 99999999.5 && isfinite(value)) { /* the list has nine columns for it */
        snprintf(buf, FORMAT_MAX, "%+.1e", value);
        return buf;
    }
    return cli_format_signed(buf, value, size < 10 ? 4 : size < 1000 ? 2 : 0);
}

char *panel_training_busy(char buf[static FORMAT_MAX], double utilisation)
{
    if (!isfinite(utilisation))
        snprintf(buf, FORMAT_MAX, "n/a");
    else
        snprintf(buf, FORMAT_MAX, fabs(utilisation) < 100 ? "%.0f%%" : "%.0e%%", 100 * utilisation);
    return buf;
}

char *panel_training_memory(char buf[static FORMAT_MAX], double mib)
{
    if (!isfinite(mib))
        snprintf(buf, FORMAT_MAX, "n/a");
    else if (mib < 1000)
        snprintf(buf, FORMAT_MAX, "%.0fMiB", mib);
    else
        snprintf(buf, FORMAT_MAX,
                 mib < 999.95 * 1024    ? "%.1fGiB"
                 : mib < 99999.5 * 1024 ? "%.0fGiB"
                                        : "%.0eGiB",
                 mib / 1024);
    return buf;
}
