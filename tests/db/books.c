/* Whole records, as the engine makes them at random: each verifies, and what is recovered from it is what the
 * engine was. With arguments (books PATH SEED EVENTS) keeps one for other tests. */
#include "tests/db/books.h"

#include "db/recover.h"
#include "db/verify.h"
#include "tests/db/fixture.h"

enum { EVENTS = 6000, RECORDS = 6 };

static void check_verified(const char *path, const struct books *b)
{
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(db_verify(reader, &verified), 0);
    CHECK_STR(verified->failure, "");
    CHECK(verified->ok);
    CHECK_INT(verified->n_failures, 0);
    CHECK_INT(verified->fills, b->fills);
    for (size_t i = 0; i < verified->n_balances; i++) {
        const struct db_verified_balance *kept = &verified->balances[i];
        const struct account *account = engine_account(b->engine, kept->account);
        for (int k = 0; k < account->n_assets; k++)
            if (strcmp(account->assets[k].asset, kept->asset) == 0) {
                CHECK_INT(kept->total, account->assets[k].total);
                CHECK_INT(kept->borrowed, account->assets[k].borrowed);
            }
    }
    db_verified_destroy(verified);
    db_reader_close(reader);
}

static void check_spec(const struct account_spec *a, const struct account_spec *b)
{
    CHECK_STR(a->name, b->name);
    CHECK_STR(a->currency, b->currency);
    CHECK_INT(a->currency_scale, b->currency_scale);
    CHECK_INT(a->cash, b->cash);
    CHECK(a->strategy == b->strategy);
    CHECK(memcmp(a->params, b->params, sizeof a->params) == 0);
    CHECK_INT(a->rules.fees.maker_e6, b->rules.fees.maker_e6);
    CHECK_INT(a->rules.fees.taker_e6, b->rules.fees.taker_e6);
    CHECK(a->rules.risk.exposure_symbol == b->rules.risk.exposure_symbol &&
          a->rules.risk.exposure_account == b->rules.risk.exposure_account &&
          a->rules.risk.daily_loss == b->rules.risk.daily_loss &&
          a->rules.risk.drawdown == b->rules.risk.drawdown &&
          a->rules.risk.price_band == b->rules.risk.price_band);
    CHECK_INT(a->rules.risk.cooldown_ns, b->rules.risk.cooldown_ns);
    CHECK_INT(a->rules.risk.positions, b->rules.risk.positions);
    CHECK_INT(a->rules.risk.orders_per_second, b->rules.risk.orders_per_second);
    CHECK_INT(a->rules.shorts, b->rules.shorts);
    CHECK_INT(a->rules.collateral_e4, b->rules.collateral_e4);
    CHECK_INT(a->rules.maintenance_e4, b->rules.maintenance_e4);
    CHECK_INT(a->rules.borrow_rate_e6, b->rules.borrow_rate_e6);
    CHECK_INT(a->session, b->session);
}

static void check_order(const struct order *a, const struct order *b)
{
    CHECK_INT(a->id, b->id);
    CHECK(a->account == b->account && a->symbol == b->symbol && a->side == b->side && a->type == b->type &&
          a->tif == b->tif && a->state == b->state && a->reason == b->reason);
    CHECK(a->qty == b->qty && a->filled == b->filled && a->price == b->price &&
          a->stop_price == b->stop_price && a->trail == b->trail && a->trail_e6 == b->trail_e6 &&
          a->peak == b->peak && a->cost == b->cost);
    CHECK(a->triggered == b->triggered && a->post_only == b->post_only && a->reduce_only == b->reduce_only &&
          a->by_hand == b->by_hand);
    CHECK(a->group == b->group && a->parent == b->parent && a->amends == b->amends &&
          a->input_seq == b->input_seq);
    CHECK(a->created_ns == b->created_ns && a->effective_ns == b->effective_ns &&
          a->updated_ns == b->updated_ns && a->expires_ns == b->expires_ns);
    CHECK_STR(a->client_id, b->client_id);
    CHECK_STR(a->tag, b->tag);
}

/* What would be restored is what the engine holds. */
/* Dividends that are booked and not paid, and the volumes that rates follow from. */
static void check_charges(const struct db_recovered *r, const struct books *b)
{
    size_t open = 0;
    for (int a = 0; a < r->n_accounts; a++) {
        const struct account *account = engine_account(b->engine, a);
        struct fee_volume volume = {0};
        open += account->n_receivables;
        for (size_t i = 0; i < r->n_volumes; i++)
            if (r->volumes[i].account == a)
                fee_volume_add(&volume, r->volumes[i].day, r->volumes[i].notional);
        CHECK_INT(fee_volume_before(&volume, account->volume.day + 1),
                  fee_volume_before(&account->volume, account->volume.day + 1));
    }
    CHECK_INT(r->n_receivables, open);
    for (size_t i = 0; i < r->n_receivables; i++) {
        const struct receivable_row *row = &r->receivables[i];
        const struct account *account = engine_account(b->engine, row->account);
        uint32_t k = 0;
        while (k < account->n_receivables && account->receivables[k].booked != row->id)
            k++;
        CHECK(k < account->n_receivables);
        if (k == account->n_receivables)
            continue;
        const struct receivable *kept = &account->receivables[k], *of = &row->of;
        CHECK(of->amount == kept->amount && of->gross == kept->gross && of->qty == kept->qty &&
              of->pay_ns == kept->pay_ns && of->ex_ns == kept->ex_ns && of->booked == kept->booked);
        CHECK_STR(of->action, kept->action);
        CHECK_STR(of->asset, kept->asset);
    }
}

static void check_recovered(const char *path, const struct books *b)
{
    struct db_reader *reader = NULL;
    struct db_recovered *r = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_reader_open(path, &reader, err, sizeof err), 0);
    CHECK_INT(db_recover(reader, b->driver.symbols, DRIVER_SYMBOLS, &r, err, sizeof err), 0);
    CHECK_STR(err, "");
    db_reader_close(reader);
    if (!r)
        return;
    CHECK_INT(r->n_accounts, engine_accounts(b->engine));
    int charged = 0;
    for (int a = 0; a < r->n_accounts; a++) {
        const struct account *account = engine_account(b->engine, a);
        check_spec(&r->accounts[a].spec, engine_account_spec(b->engine, a));
        CHECK_INT(r->accounts[a].deposits, account->deposits);
        CHECK_INT(r->accounts[a].killed_ns, account->killed_ns);
        CHECK(r->accounts[a].interest_ns < account->interest_ns + INT64_C(3600) * 1000000000);
        charged += r->accounts[a].interest_ns > 0;
    }
    CHECK((charged > 0) == (b->rows[LEDGER_INTEREST] > 0));
    for (size_t i = 0; i < r->n_balances; i++) {
        const struct account *account = engine_account(b->engine, r->balances[i].account);
        for (int k = 0; k < account->n_assets; k++)
            if (strcmp(account->assets[k].asset, r->balances[i].asset) == 0) {
                CHECK_INT(r->balances[i].total, account->assets[k].total);
                CHECK_INT(r->balances[i].borrowed, account->assets[k].borrowed);
            }
    }
    for (size_t i = 0; i < r->n_positions; i++) {
        const struct db_recovered_position *p = &r->positions[i];
        const struct account *account = engine_account(b->engine, p->account);
        CHECK(memcmp(&p->position, &account->positions[p->symbol], sizeof p->position) == 0);
        const struct lots *lots = &account->lots[p->symbol];
        CHECK_INT(p->lots.n - p->lots.first, lots->n - lots->first);
        for (uint32_t k = 0; k < lots->n - lots->first; k++)
            CHECK(memcmp(&p->lots.lots[p->lots.first + k], &lots->lots[lots->first + k],
                         sizeof(struct lot)) == 0);
    }
    check_charges(r, b);
    CHECK_INT(r->n_actions, b->actions);
    CHECK_INT(r->n_sessions, 1);
    if (r->n_sessions == 1) {
        CHECK_STR(r->sessions[0].session.calendar, b->session.calendar);
        CHECK_INT(r->sessions[0].session.phase, b->session.phase);
        CHECK_INT(r->sessions[0].session.next_ns, b->session.next_ns);
    }
    CHECK_INT(r->n_orders, engine_orders(b->engine));
    for (size_t i = 0; i < r->n_orders && i < engine_orders(b->engine); i++)
        check_order(&r->orders[i], engine_order(b->engine, i));
    CHECK(r->event_seq > 0 && r->event_seq <= b->driver.seq);
    CHECK_INT(r->last_fill, b->fills);
    CHECK_INT(r->last_command, b->command);
    CHECK(r->n_keys > 0 && r->n_keys <= 30);
    for (size_t i = 0; i < r->n_keys; i++) {
        CHECK(i == 0 || strcmp(r->keys[i - 1].key, r->keys[i].key) < 0);
        CHECK_STR(r->keys[i].cmd, "command");
        CHECK_STR(r->keys[i].args, "{\"a\":1}");
        CHECK_STR(r->keys[i].result, "{}");
    }
    db_recovered_destroy(r);
}

int main(int argc, char **argv)
{
    static struct books b;
    if (argc == 4) {
        books_keep(&b, argv[1], strtoull(argv[2], NULL, 10), atoi(argv[3]));
        books_close(&b);
        return check_done("books");
    }
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX];
    struct random random = random_seeded("books", 20261121);
    scratch_make(directory);
    uint64_t kinds[LEDGER_KINDS] = {0};
    for (int i = 0; i < RECORDS; i++) {
        snprintf(path, sizeof path, "%s/%d.db", directory, i);
        books_keep(&b, path, random_next(&random), EVENTS);
        check_verified(path, &b);
        check_recovered(path, &b);
        for (int k = 0; k < LEDGER_KINDS; k++)
            kinds[k] += b.rows[k];
        books_close(&b);
    }
    for (int k = 0; k < LEDGER_KINDS; k++) {
        printf("%s: %" PRIu64 " rows\n", ledger_kind_name((enum ledger_kind)k), kinds[k]);
        CHECK(kinds[k] > 0);
    }
    return check_done("books");
}
