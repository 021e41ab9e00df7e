/* The configured symbols against the venues' lists. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/doctor/asking.h"
#include "daemon/feed/feed.h"
#include "exchange/nearest.h"
#include "exchange/net/requests.h"

static void report_one(struct doctor_venue *venue, const struct venue_symbol *symbol)
{
    const struct doctor *doctor = venue->asking->doctor;
    struct doctor_results *results = venue->asking->results;
    const char *file = doctor->given.file;
    char section[SYMBOL_NAME_MAX], where[CONFIG_PATH_MAX + 32] = "";
    bool first = venue->config == doctor->config->venues;
    if (symbol->found && symbol->symbol.trading)
        return;
    snprintf(section, sizeof section, "%s%s", first ? "market" : "venue ", first ? "" : venue->name);
    int line = file ? daemon_config_line(file, section, "symbols") : 0;
    if (line > 0)
        snprintf(where, sizeof where, "%s:%d: ", file, line);
    if (symbol->found) {
        cli_doctor_add(results, DOCTOR_WARNING, "%s[%s] symbols: %s: %s does not trade it now", where,
                       section, symbol->name, venue->name);
        cli_doctor_remedy(results, "leave it out, or wait: orders in it are refused until it does");
        return;
    }
    cli_doctor_add(results, DOCTOR_ERROR, "%s[%s] symbols: %s: %s %s%s", where, section, symbol->name,
                   venue->name, feed_unlisted(symbol), NEAREST_SUGGEST(symbol->nearest));
    cli_doctor_remedy(results, "correct that line%s", doctor->status ? ", then papertape reload" : "");
}

static void have_symbols(void *user, const struct venue_reply *reply)
{
    struct doctor_venue *venue = user;
    struct doctor_results *results = venue->asking->results;
    venue->asking->waiting--;
    venue->own = NULL;
    if (reply->error) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: no list from it: see network", venue->name);
        return;
    }
    size_t before = json_array_size(results->list);
    for (size_t i = 0; i < reply->symbols.n; i++)
        report_one(venue, &reply->symbols.list[i]);
    if (json_array_size(results->list) == before)
        cli_doctor_add(results, DOCTOR_OK, "%s lists all %zu", venue->name, reply->symbols.n);
}

static void ask(struct doctor_venue *venue)
{
    static const char *names[SYMBOLS_MAX];
    size_t n = cli_doctor_symbols_of(venue, names);
    if (!venue->rest || n == 0)
        return;
    if (net_requests_symbols(venue->rest, names, n, have_symbols, venue, NULL) < 0)
        return;
    venue->own = venue; /* waits */
    venue->asking->waiting++;
}

void cli_doctor_symbols(const struct doctor *doctor, struct doctor_results *results)
{
    static struct doctor_asking asking;
    if (!cli_doctor_asking_open(doctor, results, &asking))
        return;
    for (int v = 0; v < asking.n_venues; v++)
        ask(&asking.venues[v]);
    cli_doctor_asking_run(&asking);
    for (int v = 0; v < asking.n_venues; v++)
        if (!asking.venues[v].rest || asking.venues[v].own)
            cli_doctor_add(results, DOCTOR_SKIPPED, "%s: no list from it: see network",
                           asking.venues[v].name);
}
