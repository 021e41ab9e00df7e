#include "tui/panel/panel.h"

typedef void (*draw_fn)(const struct area *area, const struct scene *scene);

static const draw_fn draw[PANELS] = {
    [PANEL_TOO_SMALL] = panel_too_small,
    [PANEL_HEADER] = panel_header,
    [PANEL_TABS] = panel_tabs,
    [PANEL_KEYS] = panel_keys,
    [PANEL_PRICES] = panel_prices,
    [PANEL_POSITIONS] = panel_positions,
    [PANEL_ACCOUNTS] = panel_accounts,
    [PANEL_EQUITY] = panel_equity,
    [PANEL_ALERTS] = panel_alerts,
    [PANEL_FILLS] = panel_fills,
    [PANEL_ORDERS] = panel_orders,
    [PANEL_FEED] = panel_feed,
    [PANEL_STREAMS] = panel_streams,
    [PANEL_VENUES] = panel_venues,
    [PANEL_GPU] = panel_gpu,
    [PANEL_TRAININGS] = panel_trainings,
    [PANEL_POLICIES] = panel_policies,
    [PANEL_TRAINING] = panel_training,
    [PANEL_CURVE] = panel_curve,
    [PANEL_TIMELINE] = panel_timeline,
    [PANEL_TRAINING_LOG] = panel_training_log,
    [PANEL_SEARCHES] = panel_searches,
    [PANEL_SEARCH] = panel_search,
    [PANEL_BEST] = panel_best,
    [PANEL_IMPORTANCE] = panel_importance,
    [PANEL_RUNNING] = panel_running,
    [PANEL_TRIALS] = panel_trials,
    [PANEL_TRIAL] = panel_trial,
    [PANEL_REPORTS] = panel_reports,
    [PANEL_VALIDATION] = panel_validation,
    [PANEL_LAMBDA] = panel_lambda,
    [PANEL_TESTED] = panel_tested,
    [PANEL_CHART] = panel_chart,
    [PANEL_LOG] = panel_log,
    [PANEL_STRATEGIES] = panel_strategies,
};

void panel_draw(enum panel panel, const struct area *area, const struct scene *scene)
{
    if (draw[panel] && area->width > 0 && area->height > 0)
        draw[panel](area, scene);
}
