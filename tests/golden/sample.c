#include "tests/golden/sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fixtures/dashboard.h"
#include "strategy/strategy.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const int64_t second_ns = 1000000000, minute_ns = 60000000000, e8 = 100000000;

static void put_accounts(struct db_writer *writer)
{
    static const char *const names[] = {"main", "hand", "usd-of-a-long-name-with-31-chars", "ppo-btc"};
    for (int i = 0; i < (int)COUNT(names); i++) {
        struct account_spec spec = {.currency_scale = i == 2 ? 6 : 8,
                                    .cash = (i + 1) * 10000 * (i == 2 ? 1000000 : e8),
                                    .rules = {.fees = {900 + i, 1000 + i},
                                              .shorts = i == 1,
                                              .collateral_e4 = 15000,
                                              .maintenance_e4 = 12500,
                                              .borrow_rate_e6 = 50000}};
        if (i == 1)
            spec.rules.risk = (struct risk_limits){.exposure_symbol = 0.5,
                                                   .exposure_account = 1.25,
                                                   .daily_loss = 0.05,
                                                   .orders_per_second = 7,
                                                   .drawdown = 0.2,
                                                   .price_band = 0.015,
                                                   .cooldown_ns = 90 * second_ns,
                                                   .positions = 3};
        if (i == 0) {
            spec.strategy = strategy_find("sma-cross-rsi");
            strategy_defaults(spec.strategy, spec.params);
        }
        snprintf(spec.name, sizeof spec.name, "%.31s", names[i]);
        snprintf(spec.currency, sizeof spec.currency, "%s", i == 2 ? "USD" : "USDT");
        struct db_account account;
        db_account_of(i, &spec, fixture_now_ns - (100 - i) * 3600 * second_ns, &account);
        db_writer_put_account(writer, &account);
    }
}

static void put_symbols(struct db_writer *writer)
{
    struct symbol symbols[] = {
        {.name = "BTCUSDT", .base = "BTC", .quote = "USDT", .venue = "binance"},
        {.name = "ETHUSDT", .base = "ETH", .quote = "USDT", .venue = "binance"},
        {.name = "AAPL",
         .base = "AAPL",
         .quote = "USD",
         .venue = "alpaca",
         .loose_ids = true,
         .calendar = "us-equity"},
        {.name = "1000000MOGUSDT", .base = "1000000MOG", .quote = "USDT", .venue = "binance", .gone = true},
    };
    for (int i = 0; i < (int)COUNT(symbols); i++) {
        struct symbol *symbol = &symbols[i];
        symbol->price_scale = i == 2 ? 4 : 8;
        symbol->qty_scale = i == 2 ? 9 : 8;
        symbol->quote_scale = i == 2 ? 6 : 8;
        symbol->trading = i < 3;
        symbol->filters = (struct symbol_filters){.price_min = 1,
                                                  .price_max = 1000000 * e8,
                                                  .tick = i == 2 ? 100 : 1000000,
                                                  .qty_min = 1000,
                                                  .qty_max = 9000 * e8,
                                                  .step = 1000,
                                                  .market_qty_min = 2000,
                                                  .market_qty_max = 7000 * e8,
                                                  .market_step = 1000,
                                                  .notional_min = 5 * e8,
                                                  .notional_min_market = true,
                                                  .bid_up_e4 = 13000,
                                                  .bid_down_e4 = 7000,
                                                  .ask_up_e4 = 13001,
                                                  .ask_down_e4 = 7001,
                                                  .orders_max = 12};
        db_writer_put_symbol(writer, i, symbol->venue, symbol, fixture_now_ns - 5000 * second_ns);
    }
    db_writer_put_streamed(writer, 1, true);
    db_writer_put_streamed(writer, 3, false);
}

static struct bar bar_at(int i, int64_t open_ns, int64_t unit)
{
    int64_t close = (int64_t)((700 + 100 * (i % 17) - 3 * i) * 100) * (unit / 100);
    return (struct bar){.open_ns = open_ns,
                        .open = close - 5 * unit,
                        .high = close + 9 * unit,
                        .low = close - 12 * unit,
                        .close = close,
                        .volume = (int128_t)(i + 1) * 123456789,
                        .quote_volume = (int128_t)close * 1000,
                        .trades = 10 + i,
                        .first_trade_id = i * 10,
                        .last_trade_id = i * 10 + 9};
}

static void put_bars(struct db_writer *writer)
{
    int64_t begin_ns = fixture_now_ns / minute_ns * minute_ns - 120 * minute_ns;
    for (int symbol = 0; symbol < 3; symbol++)
        for (int i = 0; i < 120; i++) {
            struct bar bar = bar_at(i, begin_ns + i * minute_ns, symbol == 2 ? 10000 : e8);
            if (i == 60 && symbol == 0)
                continue;
            db_writer_put_bar(writer, symbol, minute_ns, i % 2 ? BAR_VENUE : BAR_TRADES, &bar);
            db_writer_put_bar(writer, symbol, minute_ns, i % 2 ? BAR_TRADES : BAR_VENUE, &bar);
        }
    const struct db_gap gaps[] = {
        {0, minute_ns, begin_ns + 60 * minute_ns, begin_ns + 60 * minute_ns, fixture_now_ns, 0},
        {1, minute_ns, begin_ns, begin_ns + 3 * minute_ns, fixture_now_ns, fixture_now_ns + 1}};
    for (size_t i = 0; i < COUNT(gaps); i++)
        db_writer_put_gap(writer, &gaps[i]);
    for (int i = 0; i < 20; i++) {
        struct engine_book_bar book = {.symbol = i % 2, .open_ns = begin_ns + i * minute_ns};
        for (int m = 0; m < BOOK_MEASURES; m++) {
            book.measures[m].open = m + i / 8.0;
            book.measures[m].high = m + i / 4.0;
            book.measures[m].low = m - i / 4.0;
            book.measures[m].close = m - i / 8.0;
        }
        db_writer_put_book_bar(writer, minute_ns, &book);
    }
}

static void put_chart(struct db_writer *writer)
{
    const struct db_chart_series series = {.interval_ns = minute_ns,
                                           .base_ns = minute_ns,
                                           .next_ns = fixture_now_ns,
                                           .specs = "sma:20 rsi:14",
                                           .names = "sma_20 rsi_14",
                                           .memory = "memory",
                                           .memory_size = 6};
    db_writer_put_chart_series(writer, &series, true);
    for (int i = 0; i < 60; i++) {
        const double outputs[] = {i < 19 ? NAN : 700 + i, i < 14 ? NAN : 50 + i / 4.0};
        const struct db_chart_bar bar = {
            .interval_ns = minute_ns,
            .bar = bar_at(i, fixture_now_ns / minute_ns * minute_ns - (60 - i) * minute_ns, e8),
            .outputs = outputs,
            .n_outputs = COUNT(outputs)};
        db_writer_put_chart_bar(writer, &bar);
    }
}

static void put_revisions(struct db_writer *writer)
{
    struct bar old = bar_at(3, fixture_now_ns / minute_ns * minute_ns, 10000), now = old;
    const struct market_correction corrections[] = {
        {fixture_now_ns, 77, 78, 2300000, 1000000000, 2280000, 500000000, "C"},
        {fixture_now_ns + 1, 79, 79, 0, 0, 0, 0, "a,\"b\""},
    };
    const struct db_action actions[] = {
        {0, 2, {"split-1", ACTION_SPLIT, fixture_now_ns - minute_ns, 4, 1, 0}, fixture_now_ns, 11},
        {0, 2, {"cash, \"1\"", ACTION_DIVIDEND, fixture_now_ns, 0, 0, 245000000}, fixture_now_ns + 1, 12}};
    now.high -= 20000;
    now.volume--;
    for (int i = 0; i < 4; i++) {
        const struct engine_revision revised = {.kind = i < 2 ? (enum revision_kind)i : REVISION_BAR,
                                                .symbol = i == 3 ? 0 : 2,
                                                .ts_ns = fixture_now_ns + i,
                                                .at_ns = i < 2 ? fixture_now_ns - i : old.open_ns,
                                                .correction = i < 2 ? &corrections[i] : NULL,
                                                .old = i == 1 || i == 3 ? NULL : &old,
                                                .now = i == 3 ? NULL : &now,
                                                .source = i < 2 ? BAR_TRADES : BAR_VENUE,
                                                .applied = i != 3};
        struct db_revision revision;
        db_revision_of(&revised, 21 + (uint64_t)i, &revision);
        db_writer_put_revision(writer, &revision);
    }
    for (size_t i = 0; i < COUNT(actions); i++)
        db_writer_put_action(writer, &actions[i]);
}

static void put_venues(struct db_writer *writer)
{
    static const char *const venues[] = {"binance", "alpaca", "third", "fourth", "fifth", "sixth"};
    for (int i = 0; i <= DB_FEED_CLOSED; i++) {
        const bool known = i != DB_FEED_CONNECTING;
        const struct db_venue venue = {.venue = venues[i],
                                       .state = (enum db_feed_state)i,
                                       .detail = i > 1 ? "a reason, \"in words\"" : "",
                                       .market = i == DB_FEED_CLOSED ? "closed" : "always",
                                       .last_recv_ns = known ? fixture_now_ns - i * second_ns : 0,
                                       .frames = i * 100000,
                                       .bad_frames = i,
                                       .connects = 1 + i,
                                       .renewals = 2 * i,
                                       .latency_p50_ms = known ? 1.5 + i : NAN,
                                       .latency_p99_ms = known ? 12.25 + i : NAN,
                                       .clock_offset_ms = known ? -3 + i : NAN};
        const struct db_feed feed = {.symbol = i - 1 < 3 ? i - 1 : -1,
                                     .state = (enum db_feed_state)i,
                                     .last_recv_ns = fixture_now_ns - i * second_ns,
                                     .limit_ns = i * second_ns,
                                     .frames = 10 * i,
                                     .bytes = 1000 * i,
                                     .bad_frames = i,
                                     .connects = i,
                                     .stream = i ? venues[i] : "connection",
                                     .detail = i ? "detail" : ""};
        db_writer_put_venue(writer, &venue);
        db_writer_put_feed(writer, &feed);
    }
    const struct db_ban ban = {.venue = "third", .until_ns = fixture_now_ns + minute_ns, .why = "HTTP 418"};
    db_writer_put_ban(writer, &ban);
    static const char *const calendars[] = {"unknown", "us-equity", "early", "open", "late"};
    for (int i = 0; i < MARKET_PHASES; i++) {
        struct db_session session = {
            .session = {.phase = (enum market_phase)i, .next_ns = i ? fixture_now_ns + i : 0},
            .since_ns = fixture_now_ns - i};
        snprintf(session.session.calendar, sizeof session.session.calendar, "%s", calendars[i]);
        db_writer_put_session(writer, &session);
    }
    for (int i = 0; i < 3; i++) {
        const int64_t unit = i == 2 ? 10000 : e8;
        const struct db_price price = {.symbol = i,
                                       .last = 700 * unit,
                                       .bid = 699 * unit,
                                       .ask = 701 * unit,
                                       .mark = i ? 700 * unit : 0,
                                       .ts_ns = fixture_now_ns,
                                       .recv_wall_ns = fixture_now_ns + i};
        db_writer_put_price(writer, &price);
    }
}

static void put_alerts(struct db_writer *writer)
{
    for (uint64_t i = 1; i <= 12; i++) {
        const int64_t ts_ns = fixture_now_ns - (int64_t)(40 - i) * minute_ns;
        const struct db_alert alert = {.id = i,
                                       .ts_ns = ts_ns,
                                       .last_ns = ts_ns + (int64_t)i * second_ns,
                                       .count = (int64_t)(i * i),
                                       .severity = (enum db_severity)(i % 3),
                                       .lasts = i % 2,
                                       .acked_ns = i % 4 == 2 ? ts_ns + minute_ns : 0,
                                       .closed_ns = i % 4 == 1 ? ts_ns + 2 * minute_ns : 0,
                                       .code = i % 5 ? "feed" : "left-out",
                                       .text = i % 3 ? "ETHUSDT depth: nothing for 31 s"
                                                     : "hostile \033]0;title\a, \"quoted\" and \xe2\x80\xae"};
        db_writer_put_alert(writer, &alert);
    }
}

/* A training in each state, with points of curve, evaluations and states; policies in each role. */
static void put_learning(struct db_writer *writer)
{
    static const char *const states[] = {"queued", "loading",    "features",      "rollout",
                                         "update", "evaluating", "checkpointing", "paused",
                                         "done",   "stopped",    "failed"};
    static const char *const causes[] = {"memory_budget", "killed", "", "config"};
    static const char *const policies[] = {"ppo-btc", "ppo-eth_2.b", "old"};
    char names[COUNT(states)][DB_STRATEGY_NAME_MAX];
    for (size_t i = 0; i < COUNT(states); i++) {
        snprintf(names[i], sizeof names[i], i ? "%s-%zu" : "ppo-btc", states[i], i);
        struct db_training training = fixture_training_row(names[i], states[i], (int64_t)i * 401408);
        training.priority = (int64_t)i - 5;
        training.created_ns += (int64_t)i * second_ns;
        if (i == 0)
            training.steps_s = training.episode_return = NAN, training.memory_bytes = -1,
            training.started_ns = 0;
        if (i >= 8)
            training.ended_ns = fixture_now_ns - (int64_t)i * second_ns;
        if (i == 10)
            training.reason = "resident 4.1 GiB of 4.0: over its memory, \"enough\"",
            training.cause = causes[0];
        db_writer_put_training(writer, &training);
    }
    for (int i = 0; i < 40; i++)
        fixture_put_point(writer, names[4], i, 0);
    for (int i = 0; i < 3; i++) {
        const struct db_training_evaluation evaluation = {
            names[4], 1000 * i, fixture_now_ns + i, 0.01, i ? 0.02 * i : NAN, 0.004, 0.021};
        const struct db_training_state state = {names[4], states[3 + i], fixture_now_ns + i * second_ns,
                                                i ? 0.5 * i : NAN};
        const struct db_policy policy = {.name = policies[i],
                                         .account = i ? "hand" : "ppo-btc",
                                         .training = i == 2 ? "" : names[i],
                                         .path = "/var/lib/papertape/policies/a, b.safetensors",
                                         .reason = i == 2 ? "by the user" : "",
                                         .proposal = i == 1 ? "search/17" : "",
                                         .role = (enum db_policy_role)((i + 1) % 3),
                                         .id = {(uint8_t)(0x9f + i), 0x3c},
                                         .since_ns = fixture_now_ns - i * 3600 * second_ns,
                                         .judged_ns = i ? fixture_now_ns : 0,
                                         .expires_ns = i ? fixture_now_ns + 86400 * second_ns : 0};
        db_writer_put_training_evaluation(writer, &evaluation);
        db_writer_put_training_state(writer, &state);
        db_writer_put_policy(writer, &policy);
    }
}

/* Two devices, one of which says little, three samples of each and a process; the daemon's own. */
static void put_devices(struct db_writer *writer)
{
    for (int i = 0; i < 3; i++) {
        const int64_t ts_ns = fixture_now_ns - (5 - i) * second_ns;
        struct db_device device;
        struct db_device_sample row;
        struct db_process process;
        struct db_process_sample used;
        struct device_sample sample = {.device = "nvidia:GPU-0b1c",
                                       .name = "NVIDIA H100, \"80GB\"",
                                       .driver = "560.35.03",
                                       .processes_known = true,
                                       .figures = {50 + 10 * i, 8e9 + 1e9 * i, 8e10, 30, 310.5 + i, 700, 1755,
                                                   2619, 61 + i, NAN, 0, 0, 0, 1.5e6, 2e5}};
        const struct db_device_process holder = {.device = sample.device,
                                                 .name = "papertape-train",
                                                 .role = i ? "ppo-btc" : "",
                                                 .pid = 4711,
                                                 .ts_ns = ts_ns,
                                                 .memory_bytes = 7e9 + 1e8 * i,
                                                 .util_percent = i ? 48 : NAN};
        const struct process_sample own = {"daemon", 4242, i ? 3.25 : NAN, 31457280, i ? 0 : NAN, 8192.5 * i};
        db_device_of(&sample, ts_ns, &device, &row);
        db_writer_put_device(writer, &device);
        db_writer_put_device_sample(writer, &row);
        db_writer_put_device_process(writer, &holder);
        strcpy(sample.device, "amd:0000:03:00.0");
        strcpy(sample.name, "AMD 1002:744c");
        sample.processes_known = false;
        sample.figures.power_w = sample.figures.util_percent = NAN;
        db_device_of(&sample, ts_ns, &device, &row);
        db_writer_put_device(writer, &device);
        db_writer_put_device_sample(writer, &row);
        db_process_of(&own, ts_ns, &process, &used);
        db_writer_put_process(writer, &process);
        db_writer_put_process_sample(writer, &used);
    }
}

static int put_all(const char *path)
{
    static const struct db_writer_config config;
    struct db_writer_stats stats;
    struct db_writer *writer;
    char err[DB_ERROR_MAX] = "";
    int r = db_writer_open(path, &config, &writer, err, sizeof err);
    if (r == 0) {
        put_accounts(writer);
        put_symbols(writer);
        put_bars(writer);
        put_chart(writer);
        put_revisions(writer);
        put_venues(writer);
        put_alerts(writer);
        put_learning(writer);
        put_devices(writer);
        sample_put_trades(writer);
        db_writer_put_paused(writer, true);
        r = db_writer_flush(writer, 60000);
        db_writer_stats(writer, &stats);
        if (r == 0 && (stats.skipped || stats.conflicts || stats.dropped || !stats.ok)) {
            fprintf(stderr, "golden-state: %ju rows refused, %ju conflicts: %s%s\n", (uintmax_t)stats.skipped,
                    (uintmax_t)stats.conflicts, stats.conflict, stats.last_error);
            r = -EINVAL;
        }
        int closed = db_writer_close(writer, 60000, err, sizeof err);
        r = r < 0 ? r : closed;
    }
    if (r < 0)
        fprintf(stderr, "golden-state: %s: %s\n", path, err);
    return r;
}

int sample_make(const char *home)
{
    char path[1024];
    if (mkdir(home, 0700) < 0)
        return -errno;
    snprintf(path, sizeof path, "%s/papertape.db", home);
    int r = put_all(path);
    snprintf(path, sizeof path, "%s/studies.db", home);
    return r < 0 ? r : sample_make_studies(path);
}
