/* Requests to all configured venues at the same time, by the clients that the daemon uses. */
#ifndef CLI_DOCTOR_ASKING_H
#define CLI_DOCTOR_ASKING_H

#include <uv.h>

#include "cli/doctor/doctor.h"
#include "daemon/feed/keys.h"
#include "exchange/venue.h"

enum { DOCTOR_URL_MAX = 256 };

struct doctor_asking;

struct doctor_venue {
    struct doctor_asking *asking;
    const struct daemon_config_venue *config;
    const struct venue *venue;
    const char *name;
    struct feed_keys *keys; /* NULL: none, or unreadable */
    struct venue_setting settings[CONFIG_SETTINGS_MAX];
    size_t n_settings;
    struct venue_rest *rest; /* NULL: it cannot be asked, for the reason in `error` */
    char error[CONFIG_ERROR_MAX];
    bool keys_lacking; /* … which is that it needs keys, and this user may not read them */
    void *own;         /* of the check */
};

struct doctor_asking {
    const struct doctor *doctor;
    struct doctor_results *results;
    uv_loop_t loop;
    uv_timer_t limit;
    struct net_context *net;
    struct doctor_venue venues[CONFIG_VENUES_MAX];
    int n_venues;
    int waiting; /* answers that the check waits for; it counts them itself */
    bool late;
};

/* Makes the clients. False: none can be made, and the results say why. */
bool cli_doctor_asking_open(const struct doctor *doctor, struct doctor_results *results,
                            struct doctor_asking *ret);

/* Turns the loop until `waiting` is 0, or DOCTOR_VENUE_MS have passed: then `late` is set. */
void cli_doctor_asking_run(struct doctor_asking *asking);

const char *cli_doctor_ws_url(const struct doctor_venue *venue);
const char *cli_doctor_rest_url(const struct doctor_venue *venue);

/* Why a direct connection may be impossible here: " ($https_proxy is set: papertape uses no proxy)"; "". */
const char *cli_doctor_proxy_hint(void);

/* The list of names of a venue's configured symbols; returns how many. */
size_t cli_doctor_symbols_of(const struct doctor_venue *venue, const char *ret[static SYMBOLS_MAX]);

#endif
