#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

#include "cli/doctor/asking.h"
#include "exchange/clock.h"
#include "exchange/net/requests.h"

enum {
    ASKED = 3, /* times; the shortest counts */
    /* The clock of a replay stands until it is played: one that has not moved within so many more is no
       clock. */
    STANDING = 10,
    PAUSE_MS = 200,
    /* Of the offset, its error taken off. Nothing decides by less than seconds (docs/overview.md, Time); a
     * clock that NTP keeps is within 0.1 s. */
    WARNING_MS = 2000,
    ERROR_MS = 3000,
    RESOLUTION_MS = 1, /* of elapsed_ms */
};

struct offset {
    int asked;
    bool known, moves;
    int64_t ns, bound_ns; /* the venue's time less ours; off by at most */
    int64_t first_ns;     /* its first answer */
    uv_timer_t pause;
};

static void ask(struct doctor_venue *venue);

static void after_pause(uv_timer_t *timer)
{
    struct doctor_venue *venue = timer->data;
    venue->asking->waiting--;
    ask(venue);
}

static void pause_before(struct doctor_venue *venue)
{
    struct offset *offset = venue->own;
    uv_timer_init(&venue->asking->loop, &offset->pause);
    offset->pause.data = venue;
    venue->asking->waiting++;
    uv_timer_start(&offset->pause, after_pause, PAUSE_MS, 0);
}

/* The venue took its time between the request and the reply: the middle, give or take half of that. */
static void have_time(void *user, const struct venue_reply *reply)
{
    struct doctor_venue *venue = user;
    struct offset *offset = venue->own;
    venue->asking->waiting--;
    if (reply->error)
        return;
    int64_t elapsed_ns = reply->elapsed_ms * 1000000, bound_ns = elapsed_ns / 2 + RESOLUTION_MS * 1000000;
    if (!offset->known || bound_ns < offset->bound_ns) {
        offset->ns = reply->server_ns - (clock_wall_ns() - elapsed_ns / 2);
        offset->bound_ns = bound_ns;
    }
    if (!offset->known)
        offset->first_ns = reply->server_ns;
    offset->known = true;
    offset->moves |= reply->server_ns != offset->first_ns;
    if (++offset->asked < ASKED)
        ask(venue);
    else if (!offset->moves && offset->asked < STANDING)
        pause_before(venue);
}

static void ask(struct doctor_venue *venue)
{
    if (net_requests_time(venue->rest, have_time, venue, NULL) == 0)
        venue->asking->waiting++;
}

/* Not one whose next answers failed, or did not come in time. */
static bool stands(const struct offset *offset)
{
    return !offset->moves && offset->asked == STANDING;
}

static void report(const struct doctor_venue *venue, struct doctor_results *results)
{
    const struct offset *offset = venue->own;
    double ms = (double)offset->ns / 1e6, bound_ms = (double)offset->bound_ns / 1e6;
    double least_ms = (ms < 0 ? -ms : ms) - bound_ms;
    if (!offset->known) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: no time from it: see network", venue->name);
        return;
    }
    if (stands(offset)) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: its clock stands still: a replay that is not played?",
                       venue->name);
        return;
    }
    cli_doctor_add(results,
                   least_ms > ERROR_MS     ? DOCTOR_ERROR
                   : least_ms > WARNING_MS ? DOCTOR_WARNING
                                           : DOCTOR_OK,
                   "%s: this clock is %.3f s %s, give or take %.3f s", venue->name,
                   (ms < 0 ? -ms : ms) / 1000, ms < 0 ? "ahead" : "behind", bound_ms / 1000);
    if (least_ms > WARNING_MS)
        cli_doctor_remedy(results, "timedatectl set-ntp true; else date -u --set");
}

/* How many venues' offsets are known. */
static int ask_venues(const struct doctor *doctor, struct doctor_results *results)
{
    static struct doctor_asking asking;
    static struct offset offsets[CONFIG_VENUES_MAX];
    int known = 0;
    if (doctor->offline || !doctor->config_good || doctor->config->clock == CLOCK_FEED ||
        !cli_doctor_asking_open(doctor, results, &asking))
        return 0;
    for (int v = 0; v < asking.n_venues; v++) {
        asking.venues[v].own = &offsets[v];
        if (asking.venues[v].rest)
            ask(&asking.venues[v]);
    }
    cli_doctor_asking_run(&asking);
    for (int v = 0; v < asking.n_venues; v++) {
        report(&asking.venues[v], results);
        known += offsets[v].known && !stands(&offsets[v]);
    }
    return known;
}

void cli_doctor_clock(const struct doctor *doctor, struct doctor_results *results)
{
    struct timex now = {0};
    int known = ask_venues(doctor, results), state = adjtimex(&now);
    bool synchronised = state >= 0 && state != TIME_ERROR && !(now.status & STA_UNSYNC);
    if (synchronised) {
        cli_doctor_add(results, DOCTOR_OK, "synchronised, by the kernel off by at most %.3f s",
                       (double)now.maxerror / 1e6);
    } else if (known > 0) { /* as in a machine whose host keeps the time */
        cli_doctor_add(results, DOCTOR_OK, "not synchronised by NTP; the venues' clocks are above");
    } else {
        cli_doctor_add(results, DOCTOR_WARNING, "not synchronised by NTP%s%s", state < 0 ? ": " : "",
                       state < 0 ? strerror(errno) : "");
        cli_doctor_remedy(results, "apt install systemd-timesyncd && timedatectl set-ntp true");
    }
}
