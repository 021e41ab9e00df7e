#include "db/records.h"

#include "db/row.h"
#include "db/store.h"
#include "record/account.h"
#include "record/device_rows.h"
#include "record/market.h"
#include "record/symbol.h"
#include "record/training.h"

#define ROW struct db_training
const struct record db_record_trainings = RECORD_LIST("trainings", RECORD_TRAINING);
#undef ROW

#define ROW struct db_training_point
const struct record db_record_training_points = RECORD_LIST("training_points", RECORD_TRAINING_POINT);
#undef ROW

#define ROW struct db_training_evaluation
const struct record db_record_training_evaluations =
    RECORD_LIST("training_evaluations", RECORD_TRAINING_EVALUATION);
#undef ROW

#define ROW struct db_training_state
const struct record db_record_training_states = RECORD_LIST("training_states", RECORD_TRAINING_STATE);
#undef ROW

#define ROW struct db_policy
const struct record db_record_policies = RECORD_LIST("policies", RECORD_POLICY);
#undef ROW

#define ROW struct db_order_policy
const struct record db_record_order_policies = RECORD_LIST("order_policies", RECORD_ORDER_POLICY);
#undef ROW

#define ROW struct db_row_bar
const struct record db_record_bar_keys = RECORD_LIST("bars", RECORD_BAR_KEY);
#undef ROW

#define ROW struct db_chart_series
const struct record db_record_chart_series = RECORD_LIST("chart_series", RECORD_CHART_SERIES);
#undef ROW

#define ROW struct bar
const struct record db_record_bars = RECORD_LIST("bars", RECORD_STORED_BAR);
const struct record db_record_chart_bars = RECORD_LIST("chart_bars", RECORD_CHART_BAR);
#undef ROW

#define ROW struct db_price
const struct record db_record_prices = RECORD_LIST("prices", RECORD_PRICES);
#undef ROW

#define ROW struct db_gap
const struct record db_record_gaps = RECORD_LIST("gaps", RECORD_GAPS);
#undef ROW

#define ROW struct db_row_book_bar
const struct record db_record_book_bars = RECORD_LIST("book_bars", RECORD_BOOK_BARS);
#undef ROW

#define ROW struct db_session
const struct record db_record_sessions = RECORD_LIST("market_sessions", RECORD_SESSIONS);
#undef ROW

#define ROW struct db_feed
const struct record db_record_feeds = RECORD_LIST("feed_status", RECORD_FEEDS);
#undef ROW

#define ROW struct db_venue
const struct record db_record_venues = RECORD_LIST("venue_status", RECORD_VENUES);
#undef ROW

#define ROW struct db_ban
const struct record db_record_bans = RECORD_LIST("venue_bans", RECORD_BANS);
#undef ROW

#define ROW struct db_run
const struct record db_record_runs = RECORD_LIST("runs", RECORD_RUNS);
#undef ROW

#define ROW struct db_log_note
const struct record db_record_log_notes = RECORD_LIST("log_notes", RECORD_LOG_NOTES);
#undef ROW

#define ROW struct db_device
const struct record db_record_devices = RECORD_LIST("devices", RECORD_DEVICE);
#undef ROW

#define ROW struct db_device_sample
const struct record db_record_device_samples = RECORD_LIST("device_samples", RECORD_DEVICE_SAMPLE);
#undef ROW

#define ROW struct db_device_process
const struct record db_record_device_processes = RECORD_LIST("device_processes", RECORD_DEVICE_PROCESS);
#undef ROW

#define ROW struct db_process
const struct record db_record_processes = RECORD_LIST("processes", RECORD_PROCESS);
#undef ROW

#define ROW struct db_process_sample
const struct record db_record_process_samples = RECORD_LIST("process_samples", RECORD_PROCESS_SAMPLE);
#undef ROW

#define ROW struct db_alert
const struct record db_record_alerts = RECORD_LIST("alerts", RECORD_ALERTS);
#undef ROW

#define ROW struct db_command
const struct record db_record_commands = RECORD_LIST("commands", RECORD_COMMANDS);
#undef ROW

#define ROW struct db_action
const struct record db_record_actions = RECORD_LIST("corporate_actions", RECORD_ACTIONS);
#undef ROW

#define ROW struct db_revision
const struct record db_record_revisions = RECORD_LIST("revisions", RECORD_REVISIONS);
#undef ROW

#define ROW struct db_margin
const struct record db_record_margins = RECORD_LIST("account_margins", RECORD_MARGINS);
#undef ROW

#define ROW struct db_mark
const struct record db_record_marks = RECORD_LIST("marks", RECORD_MARKS);
#undef ROW

#define ROW struct db_equity
const struct record db_record_equity = RECORD_LIST("equity", RECORD_EQUITY);
#undef ROW

#define ROW               struct db_row_position
#define HELD(member, ...) RECORD_FIELD_(position.member, __VA_ARGS__)
static const struct record_field positions[] = {RECORD_POSITION_OF(RECORD_FIELD_, RECORD_FIELD_, HELD)};
const struct record db_record_positions = RECORD_OF("positions", positions);
#undef ROW

#define ROW                 struct db_symbol_row
#define UNIT(member, ...)   RECORD_FIELD_(symbol.member, __VA_ARGS__)
#define FILTER(member, ...) RECORD_FIELD_(symbol.filters.member, __VA_ARGS__)
static const struct record_field symbols[] = {RECORD_SYMBOL_OF(RECORD_FIELD_, RECORD_FIELD_, UNIT, FILTER)};
const struct record db_record_symbols = RECORD_OF("symbols", symbols);
#undef ROW

#define ROW               struct db_account_stored
#define RULE(member, ...) RECORD_FIELD_(row.account.rules.member, __VA_ARGS__)
static const struct record_field accounts[] = {
    RECORD_ACCOUNT_OF(RECORD_FIELD_, RECORD_FIELD_, RULE) RECORD_ACCOUNT_NOW(RECORD_FIELD_)
        RECORD_ACCOUNT_SINCE_12(RECORD_FIELD_, RULE) RECORD_ACCOUNT_CLOSED(RECORD_FIELD_)};
const struct record db_record_accounts = RECORD_OF("accounts", accounts);
#undef ROW

#undef RULE
#define ROW               struct db_terms
#define RULE(member, ...) RECORD_FIELD_(account.rules.member, __VA_ARGS__)
static const struct record_field terms[] = {RECORD_TERMS_OF(RECORD_FIELD_, RECORD_FIELD_, RULE)};
const struct record db_record_terms = RECORD_OF("account_terms", terms);
#undef RULE
#undef ROW

#define APPLY(kind, name, flags, record) [DB_ROW_##kind] = record,
#define PUT(kind, flags, record)         [DB_ROW_##kind] = record,
static const struct record *const of_kind[DB_ROW_KINDS] = {DB_ROWS(APPLY, PUT)};

const struct record *db_record_of(enum db_row_kind kind)
{
    return of_kind[kind];
}
