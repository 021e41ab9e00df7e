/* One statement a row kind. Rows that come again have newer values, except fills, ledger rows, and orders
 * and commands that ended, which never change. *_SAME and *_KNOWN return whether the stored row is the one
 * that comes again: all of it, or its columns that never change. */
#ifndef DB_STORE_SQL_H
#define DB_STORE_SQL_H

#include "db/row_hash.h"
#include "record/account.h"
#include "record/device_rows.h"
#include "record/ledger_cause.h"
#include "record/ledger_row.h"
#include "record/market.h"
#include "record/symbol.h"
#include "record/training.h"

#define ORDER_VALUES      RECORD_VALUES(RECORD_ORDER)
#define ORDER_FIXED(OF)   "(" RECORD_FIXED(RECORD_ORDER, OF) ")"
#define ORDER_IS_GIVEN    ORDER_FIXED(OWN) " IS " ORDER_FIXED(GIVEN)
#define ORDER_IS_STORED   ORDER_FIXED(OWN) " IS " ORDER_FIXED(EXCLUDED)
#define ORDER_SET         "rule = 2, hash = excluded.hash" RECORD_SET(RECORD_ORDER)
#define ACCOUNT_SET       "name = excluded.name" RECORD_SET(RECORD_ACCOUNTS)
#define COMMAND_SET       "state = excluded.state" RECORD_SET(RECORD_COMMANDS)
#define COMMAND_FIXED(OF) "(" RECORD_FIXED(RECORD_COMMANDS, OF) ")"
#define FILL_VALUES       RECORD_VALUES(RECORD_FILL)
/* Whose seal follows, by what is stored then. */
#define UNSEALED(table, LIST) \
    "INSERT INTO " table " (" RECORD_COLUMNS(LIST) ", hash) VALUES (" RECORD_VALUES(LIST) ", x'')"

/* Of a row that never changes. */
#define SAME_SEAL(table, LIST) \
    "SELECT seal(2, " RECORD_COLUMNS(LIST) ") = seal(2, " RECORD_VALUES(LIST) ") FROM " table \
                                                                              " WHERE id = :id"

/* Of what a training has by steps or by time. THIN: every second one of the first ?2. */
#define DROP(table, key) "DELETE FROM " table " WHERE training = ?1 AND " key " = ?2"
#define COUNT(table)     "SELECT count(*) FROM " table " WHERE training = ?1"
#define THIN(table, key) \
    "DELETE FROM " table " WHERE training = ?1 AND " key " IN (SELECT " key " FROM (SELECT " key \
    ", row_number() OVER (ORDER BY " key ") AS n FROM " table \
    " WHERE training = ?1) WHERE n <= ?2 AND n % 2 = 0)"
#define REWIND(table) "DELETE FROM " table " WHERE training = ?1 AND (?2 < 0 OR steps > ?2)"

/* Sums up every whole period of ?1 s before ?2, of each key from where its sums end, or from ?3 on where that
 * is earlier, as after the clock was set back. A sum of fewer samples replaces none of more. */
/* clang-format off */
#define ROLL(table, keys, key, FIGURES, statistic, OF) \
    "INSERT INTO " table " (" key ", period_s, statistic, ts_ns, n" FIGURES(ROLL_NAME_) ") " \
    "SELECT k." key ", ?1, '" statistic "', s.ts_ns - s.ts_ns % (?1 * 1000000000) AS start_ns, count(*)" \
    FIGURES(ROLL_##OF##_) " FROM " keys " AS k CROSS JOIN " table " AS s ON s." key " = k." key " " \
    "AND s.period_s = 0 AND s.statistic = 'sample' AND s.ts_ns < ?2 AND s.ts_ns >= min(?3, " \
    "ifnull((SELECT max(r.ts_ns) + ?1 * 1000000000 FROM " table " AS r WHERE r." key " = k." key " " \
    "AND r.period_s = ?1 AND r.statistic = '" statistic "'), 0)) WHERE true GROUP BY k." key ", start_ns " \
    "ON CONFLICT DO UPDATE SET n = excluded.n" FIGURES(ROLL_SET_) " WHERE excluded.n >= n"
/* clang-format on */
#define ROLL_NAME_(figure) ", " #figure
#define ROLL_MIN_(figure)  ", min(s." #figure ")"
#define ROLL_MAX_(figure)  ", max(s." #figure ")"
#define ROLL_AVG_(figure)  ", avg(s." #figure ")"
#define ROLL_SET_(figure)  ", " #figure " = excluded." #figure
#define ROLL_DEVICES(statistic, OF) \
    ROLL("device_samples", "devices", "device", RECORD_DEVICE_FIGURES, statistic, OF)
#define ROLL_PROCESSES(statistic, OF) \
    ROLL("process_samples", "processes", "role", RECORD_PROCESS_FIGURES, statistic, OF)
/* Rows of periods of ?1 s that start before ?2. */
#define THIN_SAMPLES(table, keys, key) \
    "DELETE FROM " table " WHERE " key " IN (SELECT " key " FROM " keys \
    ") AND period_s = ?1 AND statistic IN " \
    "('sample', 'min', 'mean', 'max') AND ts_ns < ?2"
#define GREATEST(column) \
    column "_max = max(ifnull(" column "_max, :" column "), ifnull(:" column ", " column "_max))"

#define BAR_COLUMNS RECORD_COLUMNS(RECORD_STORED_BAR)
/* A session that is not known, as of a bar that was stored before there were any, is no correction. */
#define BAR_GIVEN_COLUMNS RECORD_COLUMNS(RECORD_BAR)
#define BAR_VALUES        RECORD_VALUES(RECORD_STORED_BAR)
#define NEWEST_SPLIT \
    "(SELECT ifnull(max(id), 0) FROM corporate_actions WHERE symbol = :symbol AND kind = 'split')"
#define THE_BAR "symbol = :symbol AND interval_ns = :interval_ns AND open_ns = :open_ns"

/* Of two reports of one run; a state that says less comes from a log that does not reach its end. */
#define RUN_MERGED \
    "began_ns = min(began_ns, excluded.began_ns), alive_ns = max(alive_ns, excluded.alive_ns), state = " \
    "iif('stopped' IN (state, excluded.state), 'stopped', excluded.state)"

#define DB_SQL_LIST(X) \
    X(BEGIN, "BEGIN IMMEDIATE") \
    X(COMMIT, "COMMIT") \
    X(META, "INSERT INTO meta (key, value, hash) VALUES (?1, ?2, seal(2, ?1, ?2)) " \
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value, hash = excluded.hash") \
    X(ACCOUNT, \
      UNSEALED("accounts", RECORD_ACCOUNTS) " ON CONFLICT (id) DO UPDATE SET " ACCOUNT_SET \
                                            " WHERE currency = excluded.currency AND currency_scale = " \
                                            "excluded.currency_scale RETURNING id") \
    X(ACCOUNT_SEAL, \
      "UPDATE accounts SET hash = seal(" DB_ACCOUNT_SEALED ", " DB_ACCOUNT_COLUMNS ") WHERE id = ?1") \
    X(ACCOUNT_KNOWN, \
      "SELECT currency = :currency AND currency_scale = :currency_scale FROM accounts WHERE id = :id") \
    /* A stock under another name: ?1, ?2 its venue, ?3 the first name that it had, ?4 its currency. */ \
    X(SYMBOL_RENAME, "UPDATE symbols SET name = ?1 WHERE venue = ?2 AND base = ?3 AND quote = ?4 AND " \
                     "calendar <> '' AND name <> ?1 AND NOT EXISTS (SELECT 1 FROM symbols WHERE venue = ?2 " \
                     "AND name = ?1)") \
    X(SYMBOL, RECORD_UPSERT("symbols", "(venue, name)", "trading", \
                            RECORD_SYMBOLS) " WHERE base = excluded.base AND quote = excluded.quote " \
                                            "AND price_scale = excluded.price_scale " \
                                            "AND qty_scale = excluded.qty_scale AND quote_scale = " \
                                            "excluded.quote_scale RETURNING id") \
    X(SYMBOL_SEAL, \
      "UPDATE symbols SET hash = seal(" DB_SYMBOL_SEALED ", " DB_SYMBOL_COLUMNS ") WHERE id = ?1") \
    X(BAR, "INSERT INTO bars (" RECORD_COLUMNS( \
               RECORD_BAR_KEY) ", " BAR_COLUMNS ", split) " \
                               "VALUES (" RECORD_VALUES(RECORD_BAR_KEY) ", " BAR_VALUES ", " NEWEST_SPLIT \
                                                                        ") ON CONFLICT DO NOTHING") \
    X(BAR_CORRECT, "UPDATE bars SET split = " NEWEST_SPLIT RECORD_ASSIGN( \
                       RECORD_STORED_BAR) " WHERE " THE_BAR " AND source = :source AND (" BAR_GIVEN_COLUMNS \
                                          ", ifnull(session, :session)) IS NOT (" BAR_VALUES ")") \
    X(GAP, RECORD_UPSERT("gaps", "", "filled_ns", RECORD_GAPS)) \
    X(PRICE, RECORD_UPSERT("prices", "", "last", RECORD_PRICES)) \
    X(ORDER, "INSERT INTO orders (" DB_ORDER_COLUMNS ", rule, hash) VALUES (" ORDER_VALUES ", 2, " \
             "seal(" DB_ORDER_SEALED ", " ORDER_VALUES ")) ON CONFLICT (id) DO UPDATE SET " ORDER_SET " " \
             "WHERE state IN " DB_LIVE_STATES " AND " ORDER_IS_STORED) \
    /* An older state of it too, as it comes again with a transaction that was stored after all. */ \
    X(ORDER_SAME, \
      "SELECT seal(" DB_ORDER_SEALED ", " DB_ORDER_COLUMNS ") = seal(" DB_ORDER_SEALED ", " ORDER_VALUES \
      ") OR (" ORDER_IS_GIVEN " AND updated_ns >= :updated_ns AND :state IN " DB_LIVE_STATES \
      ") FROM orders WHERE id = :id") \
    X(ORDER_KNOWN, "SELECT " ORDER_IS_GIVEN " FROM orders WHERE id = :id") \
    X(FILL, "INSERT INTO fills (" DB_FILL_COLUMNS ", rule, hash) VALUES (" FILL_VALUES ", 2, " \
            "seal(" DB_FILL_SEALED ", " FILL_VALUES ")) ON CONFLICT DO NOTHING") \
    X(FILL_SAME, "SELECT seal(" DB_FILL_SEALED ", " DB_FILL_COLUMNS ") = seal(" DB_FILL_SEALED \
                 ", " FILL_VALUES ") FROM fills WHERE id = :id") \
    X(LEDGER, "INSERT INTO ledger (" RECORD_COLUMNS(RECORD_LEDGER_ROW) ") VALUES (" RECORD_VALUES( \
                  RECORD_LEDGER_ROW) ") " \
                                     "ON CONFLICT DO NOTHING") \
    X(LEDGER_SAME, "SELECT hash = :hash FROM ledger WHERE id = :id") \
    X(CAUSE, DB_SEALED_INSERT("ledger_causes", RECORD_LEDGER_CAUSE) " ON CONFLICT DO NOTHING") \
    X(ACCRUAL, UNSEALED("ledger_accruals", RECORD_ACCRUAL) " ON CONFLICT DO NOTHING RETURNING id") \
    X(ACCRUAL_SEAL, "UPDATE ledger_accruals SET hash = seal(2, " DB_ACCRUAL_COLUMNS ") WHERE id = ?1") \
    X(CAUSE_SAME, \
      "SELECT hash = seal(2, " RECORD_VALUES(RECORD_LEDGER_CAUSE) ") FROM ledger_causes WHERE id = :id") \
    /* As the account's row has them by now, where the newest before the event are others. A reset's epoch \
     * has a row of its own. */ \
    X(TERMS, \
      "INSERT INTO account_terms (account, epoch, since_ns, event, why, command, command_key, uid" DB_TERMS_OF_NONE \
      ", hash) SELECT a.id, ifnull(t.epoch + (:why = 'reset'), " DB_EPOCH_OF( \
          "a") "), " \
               ":since_ns, :event, CASE WHEN t.id IS NOT NULL OR :why <> 'configured' THEN :why WHEN EXISTS " \
               "(SELECT 1 FROM ledger WHERE account = a.id) OR EXISTS (SELECT 1 FROM base) THEN 'known' ELSE " \
               "'opened' END, :command, :command_key, :uid" DB_TERMS_OF_A \
               ", zeroblob(32) FROM accounts AS a LEFT JOIN " \
               "account_terms AS t ON t.id = (SELECT id FROM account_terms WHERE account = a.id AND event <= " \
               ":event ORDER BY event DESC, id DESC LIMIT 1) WHERE a.id = :account AND (t.id IS NULL OR " \
               "(1" DB_TERMS_OF_T ") IS NOT (1" DB_TERMS_OF_A \
               ") OR (:why = 'reset' AND t.event < :event)) AND NOT EXISTS " \
               "(SELECT 1 FROM account_terms AS t WHERE t.account = a.id AND t.event = :event AND " \
               "t.why = :why AND (1" DB_TERMS_OF_T ") IS (1" DB_TERMS_OF_A ")) RETURNING id") \
    X(TERMS_SEAL, \
      "UPDATE account_terms SET hash = seal(" DB_TERMS_SEALED ", " DB_TERMS_COLUMNS ") WHERE id = ?1") \
    X(POSITION, \
      DB_SEALED_INSERT( \
          "positions", \
          RECORD_POSITIONS) " ON CONFLICT DO UPDATE SET hash = excluded.hash" RECORD_SET(RECORD_POSITIONS)) \
    X(EQUITY, \
      DB_SEALED_INSERT( \
          "equity", \
          RECORD_EQUITY) " ON CONFLICT DO UPDATE SET hash = excluded.hash" RECORD_SET(RECORD_EQUITY)) \
    X(EQUITY_KNOWN, "SELECT 1 FROM equity WHERE account = :account AND ts_ns = :ts_ns") \
    X(EQUITY_NEW, DB_SEALED_INSERT("equity", RECORD_EQUITY)) \
    X(EQUITY_ACCOUNT, "UPDATE accounts SET equity_peak = ?2, day = ?3, day_equity = ?4, killed_ns = ?5 " \
                      "WHERE id = ?1") \
    X(EQUITY_THIN, \
      "DELETE FROM equity WHERE account = ?1 AND ts_ns >= ?3 AND ts_ns < ?2 AND EXISTS " \
      "(SELECT 1 FROM equity AS later WHERE later.account = ?1 AND later.ts_ns > equity.ts_ns " \
      "AND later.ts_ns < equity.ts_ns - equity.ts_ns % 3600000000000 + 3600000000000) " \
      "AND day_equity = (SELECT before.day_equity FROM equity AS before WHERE " \
      "before.account = ?1 AND before.ts_ns < equity.ts_ns ORDER BY before.ts_ns DESC LIMIT 1) " \
      "AND NOT EXISTS (SELECT 1 FROM marks WHERE marks.account = ?1 AND marks.ts_ns = equity.ts_ns)") \
    X(MARK, \
      DB_SEALED_INSERT("marks", RECORD_MARKS) " ON CONFLICT DO UPDATE SET hash = excluded.hash" RECORD_SET( \
          RECORD_MARKS)) \
    X(MARGIN, RECORD_UPSERT("account_margins", "", "ts_ns", RECORD_MARGINS)) \
    X(COMMAND, UNSEALED("commands", RECORD_COMMANDS) " ON CONFLICT (id) DO UPDATE SET " COMMAND_SET \
                                                     " WHERE state = 'pending' AND " COMMAND_FIXED( \
                                                         OWN) " IS " COMMAND_FIXED(EXCLUDED)) \
    X(COMMAND_SEAL, \
      "UPDATE commands SET hash = seal(" DB_COMMAND_SEALED ", " DB_COMMAND_COLUMNS ") WHERE id = ?1") \
    X(COMMAND_KNOWN, \
      "SELECT " COMMAND_FIXED(OWN) " IS " COMMAND_FIXED(GIVEN) " FROM commands WHERE id = :id") \
    X(ALERT, \
      UNSEALED( \
          "alerts", \
          RECORD_ALERTS) " ON CONFLICT (id) DO UPDATE SET " \
                         "acked_ns = CASE WHEN excluded.count > count THEN excluded.acked_ns ELSE " \
                         "coalesce(acked_ns, excluded.acked_ns) END, " \
                         "severity = CASE WHEN excluded.count >= count THEN excluded.severity ELSE severity END, " \
                         "text = CASE WHEN excluded.count >= count THEN excluded.text ELSE text END, " \
                         "last_ns = max(last_ns, excluded.last_ns), " \
                         "count = max(count, excluded.count), lasts = excluded.lasts, " \
                         "closed_ns = coalesce(closed_ns, excluded.closed_ns)") \
    X(ALERT_SEAL, "UPDATE alerts SET hash = seal(2, " DB_ALERT_COLUMNS ") WHERE id = ?1") \
    /* Without a sample it changes a device that is there, what it still knows of itself. */ \
    X(DEVICE, \
      "INSERT INTO devices (" RECORD_COLUMNS(RECORD_DEVICE) ") SELECT " RECORD_VALUES( \
          RECORD_DEVICE) " WHERE :last_ns > 0 OR EXISTS (SELECT 1 FROM devices WHERE device = :device) " \
                         "ON CONFLICT (device) DO UPDATE SET name = iif(excluded.name <> '', excluded.name, " \
                         "name), driver = iif(excluded.driver <> '', excluded.driver, driver), profile = " \
                         "excluded.profile, reason = excluded.reason, processes_known = " \
                         "excluded.processes_known, last_ns = iif(excluded.last_ns > 0, excluded.last_ns, " \
                         "last_ns)") \
    X(DEVICE_SAMPLE, RECORD_UPSERT("device_samples", "", "n", RECORD_DEVICE_SAMPLE)) \
    X(DEVICE_MIN, ROLL_DEVICES("min", MIN)) \
    X(DEVICE_MAX, ROLL_DEVICES("max", MAX)) \
    X(DEVICE_MEAN, ROLL_DEVICES("mean", AVG)) \
    X(DEVICE_THIN, THIN_SAMPLES("device_samples", "devices", "device")) \
    X(DEVICE_FORGET, "DELETE FROM devices WHERE last_ns < ?1") \
    X(DEVICE_PROCESS, RECORD_INSERT("device_processes", RECORD_DEVICE_PROCESS)) \
    X(DEVICE_PROCESS_AGAIN, \
      "UPDATE device_processes SET n = n + 1, ts_ns = :ts_ns, role = iif(:role = '', role, :role), " \
      "memory_bytes = :memory_bytes, util_percent = :util_percent, " GREATEST("memory_bytes") ", " GREATEST( \
          "util_percent") " WHERE device = :device AND pid = :pid AND name = :name AND ts_ns < :ts_ns AND " \
                          "ts_ns >= :ts_ns - 60000000000") \
    X(DEVICE_PROCESS_FORGET, "DELETE FROM device_processes WHERE ts_ns < ?1") \
    X(PROCESS, RECORD_UPSERT("processes", "(role)", "pid", RECORD_PROCESS)) \
    X(PROCESS_SAMPLE, RECORD_UPSERT("process_samples", "", "n", RECORD_PROCESS_SAMPLE)) \
    X(PROCESS_MIN, ROLL_PROCESSES("min", MIN)) \
    X(PROCESS_MAX, ROLL_PROCESSES("max", MAX)) \
    X(PROCESS_MEAN, ROLL_PROCESSES("mean", AVG)) \
    X(PROCESS_THIN, THIN_SAMPLES("process_samples", "processes", "role")) \
    X(PROCESS_FORGET, "DELETE FROM processes WHERE last_ns < ?1") \
    X(FEED, RECORD_UPSERT("feed_status", "", "state", RECORD_FEEDS)) \
    X(CHART_SERIES, "INSERT INTO chart_series (" RECORD_COLUMNS( \
                        RECORD_CHART_SERIES) ", memory) " \
                                             "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE " \
                                             "SET base_ns = excluded.base_ns, " \
                                             "next_ns = excluded.next_ns, specs = excluded.specs, names = " \
                                             "excluded.names, memory = " \
                                             "excluded.memory") \
    X(CHART_REPLACE, "DELETE FROM chart_bars WHERE symbol = ?1 AND interval_ns = ?2") \
    X(CHART_DROP, "DELETE FROM chart_series WHERE symbol = ?1 AND interval_ns = ?2") \
    X(CHART_BAR, "INSERT OR REPLACE INTO chart_bars (symbol, interval_ns, outputs, " RECORD_COLUMNS( \
                     RECORD_CHART_BAR) ") VALUES (?1, ?2, ?3, " RECORD_VALUES(RECORD_CHART_BAR) ")") \
    X(CHART_THIN, "DELETE FROM chart_bars WHERE symbol = ?1 AND interval_ns = ?2 AND open_ns <= ?3") \
    X(CHART_CORRECT, "UPDATE chart_bars SET open = :open, high = :high, low = :low, close = :close, " \
                     "volume = :volume WHERE " THE_BAR) \
    X(CHART_FORGET, "DELETE FROM chart_series WHERE symbol = ?1") \
    X(CHART_FORGET_BARS, "DELETE FROM chart_bars WHERE symbol = ?1") \
    X(TRAINING, RECORD_INSERT("trainings", RECORD_TRAINING)) \
    X(TRAINING_AGAIN, \
      "UPDATE trainings SET state = :state" RECORD_ASSIGN(RECORD_TRAINING) " WHERE name = :name") \
    X(TRAINING_FORGET, \
      "DELETE FROM trainings WHERE name IN (SELECT name FROM trainings WHERE state IN ('done', 'failed', " \
      "'stopped') AND name <> ?2 ORDER BY ended_ns, created_ns, name LIMIT max(0, (SELECT count(*) FROM " \
      "trainings) - ?1))") \
    X(POINT, RECORD_INSERT("training_points", RECORD_TRAINING_POINT)) \
    X(POINT_DROP, DROP("training_points", "steps")) \
    X(POINT_COUNT, COUNT("training_points")) \
    X(POINT_THIN, THIN("training_points", "steps")) \
    X(POINT_REWIND, REWIND("training_points")) \
    X(EVALUATION, RECORD_INSERT("training_evaluations", RECORD_TRAINING_EVALUATION)) \
    X(EVALUATION_DROP, DROP("training_evaluations", "steps")) \
    X(EVALUATION_COUNT, COUNT("training_evaluations")) \
    X(EVALUATION_THIN, THIN("training_evaluations", "steps")) \
    X(EVALUATION_REWIND, REWIND("training_evaluations")) \
    X(STATE, RECORD_INSERT("training_states", RECORD_TRAINING_STATE)) \
    X(STATE_DROP, DROP("training_states", "ts_ns")) \
    X(STATE_COUNT, COUNT("training_states")) \
    X(STATE_THIN, THIN("training_states", "ts_ns")) \
    X(STATE_REWIND, "DELETE FROM training_states WHERE training = ?1 AND ?2 < 0") \
    /* The first ?2 states, 16 at a time: what each state's were together, in the order of the first of \
     * each, * one behind the other from when the 16 began. */ \
    X(STATE_MERGE, \
      "INSERT INTO temp.merged_states SELECT min(first_ns) OVER (PARTITION BY block) + ifnull(sum(long_ns) " \
      "OVER (PARTITION BY block ORDER BY first_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0), " \
      "state, utilisation FROM (SELECT block, state, min(ts_ns) AS first_ns, sum(long_ns) AS long_ns, " \
      "sum(utilisation * long_ns) / sum(long_ns) FILTER (WHERE utilisation IS NOT NULL) AS utilisation " \
      "FROM (SELECT ts_ns, state, utilisation, lead(ts_ns) OVER (ORDER BY ts_ns) - ts_ns AS long_ns, " \
      "(row_number() OVER (ORDER BY ts_ns) - 1) / 16 AS block FROM training_states WHERE training = ?1 " \
      "ORDER BY ts_ns LIMIT ?2) GROUP BY block, state)") \
    X(STATE_MERGE_DROP, \
      "DELETE FROM training_states WHERE training = ?1 AND ts_ns <= (SELECT max(ts_ns) FROM (SELECT ts_ns " \
      "FROM training_states WHERE training = ?1 ORDER BY ts_ns LIMIT ?2))") \
    X(STATE_MERGED, "INSERT INTO training_states (training, ts_ns, state, utilisation) " \
                    "SELECT ?1, ts_ns, state, utilisation FROM temp.merged_states") \
    X(STATE_MERGE_FORGET, "DELETE FROM temp.merged_states") \
    X(POLICY, RECORD_UPSERT("policies", "(name)", "role", RECORD_POLICY)) \
    X(ORDER_POLICY, RECORD_UPSERT("order_policies", "(order_id)", "policy", RECORD_ORDER_POLICY)) \
    X(STREAMED, "UPDATE symbols SET streamed = NULLIF(?2, -1) WHERE id = ?1") \
    X(BAR_DROP, "DELETE FROM bars WHERE " THE_BAR " AND source = :source") \
    X(BOOK_BAR, RECORD_UPSERT("book_bars", "", "spread_open", RECORD_BOOK_BARS)) \
    X(BOOK_BAR_THIN, "DELETE FROM book_bars WHERE symbol = ?1 AND interval_ns = ?2 AND open_ns <= ?3") \
    X(REVISION, UNSEALED("revisions", RECORD_REVISIONS) " ON CONFLICT DO NOTHING RETURNING id") \
    X(REVISION_SEAL, "UPDATE revisions SET hash = seal(2, " DB_REVISION_COLUMNS ") WHERE id = ?1") \
    X(ACTION, UNSEALED("corporate_actions", RECORD_ACTIONS) " ON CONFLICT DO NOTHING RETURNING id") \
    X(ACTION_SEAL, \
      "UPDATE corporate_actions SET hash = seal(" DB_ACTION_SEALED ", " DB_ACTION_COLUMNS ") WHERE id = ?1") \
    X(ACTION_SAME, "SELECT (kind, ex_ns, shares, per, cash) IS (:kind, :ex_ns, :shares, :per, :cash) " \
                   "FROM corporate_actions WHERE symbol = :symbol AND action = :action") \
    X(RECEIVABLE, DB_SEALED_INSERT("receivables", RECORD_RECEIVABLES) " ON CONFLICT DO NOTHING") \
    X(RECEIVABLE_SAME, SAME_SEAL("receivables", RECORD_RECEIVABLES)) \
    X(FEE_RATE, DB_SEALED_INSERT("fee_rates", RECORD_FEE_RATES) " ON CONFLICT DO NOTHING") \
    X(FEE_RATE_SAME, SAME_SEAL("fee_rates", RECORD_FEE_RATES)) \
    X(SESSION, RECORD_INSERT("market_sessions", \
                             RECORD_SESSIONS) " ON CONFLICT DO UPDATE SET since_ns = iif(phase = " \
                                              "excluded.phase, since_ns, excluded.since_ns), " \
                                              "phase = excluded.phase, next_ns = excluded.next_ns") \
    X(VENUE, RECORD_UPSERT("venue_status", "", "state", RECORD_VENUES)) \
    X(BAN, RECORD_UPSERT("venue_bans", "", "why", RECORD_BANS)) \
    X(RUN, RECORD_INSERT("runs", RECORD_RUNS) " ON CONFLICT (run) DO UPDATE SET " RUN_MERGED) \
    X(LOG_NOTE, DB_SEALED_INSERT("log_notes", RECORD_LOG_NOTES) " ON CONFLICT DO NOTHING") \
    X(RUN_KILLED, "UPDATE runs SET state = 'killed' WHERE state = 'running' AND run <> ?1") \
    X(BAN_OVER, "DELETE FROM venue_bans WHERE venue = :venue")

#endif
