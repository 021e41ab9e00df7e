#include "db/records.h"

#include "db/row.h"
#include "db/store.h"
#include "record/account.h"
#include "record/market.h"
#include "record/symbol.h"
#include "record/training.h"

#define ROW struct db_training
static const struct record_field trainings[] = {RECORD_FIELDS(RECORD_TRAINING)};
const struct record db_record_trainings = RECORD_OF("trainings", trainings);
#undef ROW

#define ROW struct db_training_point
static const struct record_field training_points[] = {RECORD_FIELDS(RECORD_TRAINING_POINT)};
const struct record db_record_training_points = RECORD_OF("training_points", training_points);
#undef ROW

#define ROW struct db_training_evaluation
static const struct record_field training_evaluations[] = {RECORD_FIELDS(RECORD_TRAINING_EVALUATION)};
const struct record db_record_training_evaluations = RECORD_OF("training_evaluations", training_evaluations);
#undef ROW

#define ROW struct db_training_state
static const struct record_field training_states[] = {RECORD_FIELDS(RECORD_TRAINING_STATE)};
const struct record db_record_training_states = RECORD_OF("training_states", training_states);
#undef ROW

#define ROW struct db_policy
static const struct record_field policies[] = {RECORD_FIELDS(RECORD_POLICY)};
const struct record db_record_policies = RECORD_OF("policies", policies);
#undef ROW

#define ROW struct db_order_policy
static const struct record_field order_policies[] = {RECORD_FIELDS(RECORD_ORDER_POLICY)};
const struct record db_record_order_policies = RECORD_OF("order_policies", order_policies);
#undef ROW

#define ROW struct db_row_bar
static const struct record_field bar_keys[] = {RECORD_FIELDS(RECORD_BAR_KEY)};
const struct record db_record_bar_keys = RECORD_OF("bars", bar_keys);
#undef ROW

#define ROW struct db_price
static const struct record_field prices[] = {RECORD_FIELDS(RECORD_PRICES)};
const struct record db_record_prices = RECORD_OF("prices", prices);
#undef ROW

#define ROW struct db_gap
static const struct record_field gaps[] = {RECORD_FIELDS(RECORD_GAPS)};
const struct record db_record_gaps = RECORD_OF("gaps", gaps);
#undef ROW

#define ROW struct db_row_book_bar
static const struct record_field book_bars[] = {RECORD_FIELDS(RECORD_BOOK_BARS)};
const struct record db_record_book_bars = RECORD_OF("book_bars", book_bars);
#undef ROW

#define ROW struct db_session
static const struct record_field sessions[] = {RECORD_FIELDS(RECORD_SESSIONS)};
const struct record db_record_sessions = RECORD_OF("market_sessions", sessions);
#undef ROW

#define ROW struct db_feed
static const struct record_field feeds[] = {RECORD_FIELDS(RECORD_FEEDS)};
const struct record db_record_feeds = RECORD_OF("feed_status", feeds);
#undef ROW

#define ROW struct db_venue
static const struct record_field venues[] = {RECORD_FIELDS(RECORD_VENUES)};
const struct record db_record_venues = RECORD_OF("venue_status", venues);
#undef ROW

#define ROW struct db_ban
static const struct record_field bans[] = {RECORD_FIELDS(RECORD_BANS)};
const struct record db_record_bans = RECORD_OF("venue_bans", bans);
#undef ROW

#define ROW struct db_telemetry
static const struct record_field telemetry[] = {RECORD_FIELDS(RECORD_TELEMETRY)};
const struct record db_record_telemetry = RECORD_OF("telemetry", telemetry);
#undef ROW

#define ROW struct db_alert
static const struct record_field alerts[] = {RECORD_FIELDS(RECORD_ALERTS)};
const struct record db_record_alerts = RECORD_OF("alerts", alerts);
#undef ROW

#define ROW struct db_command
static const struct record_field commands[] = {RECORD_FIELDS(RECORD_COMMANDS)};
const struct record db_record_commands = RECORD_OF("commands", commands);
#undef ROW

#define ROW struct db_action
static const struct record_field actions[] = {RECORD_FIELDS(RECORD_ACTIONS)};
const struct record db_record_actions = RECORD_OF("corporate_actions", actions);
#undef ROW

#define ROW struct db_revision
static const struct record_field revisions[] = {RECORD_FIELDS(RECORD_REVISIONS)};
const struct record db_record_revisions = RECORD_OF("revisions", revisions);
#undef ROW

#define ROW struct db_row_equity
static const struct record_field equity[] = {RECORD_FIELDS(RECORD_EQUITY)};
const struct record db_record_equity = RECORD_OF("equity", equity);
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
static const struct record_field accounts[] = {RECORD_ACCOUNT_OF(RECORD_FIELD_, RECORD_FIELD_, RULE)
                                                   RECORD_ACCOUNT_NOW(RECORD_FIELD_)};
const struct record db_record_accounts = RECORD_OF("accounts", accounts);
#undef ROW

static const struct record *const of_kind[DB_ROW_KINDS] = {
    [DB_ROW_PRICE] = &db_record_prices,
    [DB_ROW_GAP] = &db_record_gaps,
    [DB_ROW_POSITION] = &db_record_positions,
    [DB_ROW_COMMAND] = &db_record_commands,
    [DB_ROW_ALERT] = &db_record_alerts,
    [DB_ROW_TELEMETRY] = &db_record_telemetry,
    [DB_ROW_FEED] = &db_record_feeds,
    [DB_ROW_TRAINING] = &db_record_trainings,
    [DB_ROW_TRAINING_POINT] = &db_record_training_points,
    [DB_ROW_TRAINING_EVALUATION] = &db_record_training_evaluations,
    [DB_ROW_TRAINING_STATE] = &db_record_training_states,
    [DB_ROW_POLICY] = &db_record_policies,
    [DB_ROW_ORDER_POLICY] = &db_record_order_policies,
    [DB_ROW_SESSION] = &db_record_sessions,
    [DB_ROW_VENUE] = &db_record_venues,
    [DB_ROW_BAN] = &db_record_bans,
};

const struct record *db_record_of(enum db_row_kind kind)
{
    return of_kind[kind];
}
