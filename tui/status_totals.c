/* The sums of the accounts' currencies, where no daemon has given them: of what is stored, and of a status of
 * before there were any. */
#include "db/books/totals.h"
#include "tui/status_reader.h"

RECORD_SHOWN_RECORD(totals, status_total, RECORD_SHOWN_TOTAL);

void tui_status_sum(struct status *s, const struct db_totals *sums)
{
    struct db_totals listed = {0};

    if (s->n_totals > 0)
        return;
    for (int i = 0; !sums && i < s->n_accounts; i++)
        db_totals_add_real(&listed, s->accounts[i].currency, s->accounts[i].equity, s->accounts[i].deposits);
    json_t *list = db_totals_json(sums ? sums : &listed);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct status_total *row = tui_status_add(s, STATUS_TOTALS);
        if (row)
            tui_status_read(totals(), json_array_get(list, i), row);
    }
    json_decref(list);
}
