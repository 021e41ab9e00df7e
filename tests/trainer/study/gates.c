/* Small searches from end to end: of those on noise hardly any proposal passes the gates, of those on a
 * planted signal nearly every one does. The short run does few of each and asks for the same.
 *
 *     search-gates; PAPERTAPE_LONG=1: 40 on noise, 10 on a signal */
#include "tests/counts.h"
#include "tests/trainer/study/hunt.h"

enum { ROWS = 2400 };

static const char *const search = "[study]\ntrials = 12\nsampler = random\nvalidation = cpcv:4,2\n"
                                  "[search]\nlearning_rate = 1e-6..1e-2 log\ngamma = 0.88..0.99\n";

static bool admitted(bool signal, uint64_t seed)
{
    struct hunt hunt;
    json_t *proposal = NULL;
    char err[TRIAL_ERROR_MAX] = "";
    hunt_begin(&hunt, ROWS, signal, seed, search);
    for (int i = 0; i < hunt.settings.trials; i++)
        hunt_trial(&hunt);
    CHECK_INT(hunt_propose(&hunt, &proposal, err), 0);
    CHECK_STR(err, "");
    bool passed = json_is_true(json_object_get(proposal, "admitted"));
    printf("%s %llu: %s\n", signal ? "signal" : "noise", (unsigned long long)seed,
           json_string_value(json_object_get(proposal, "words")));
    fflush(stdout);
    json_decref(proposal);
    hunt_end(&hunt);
    return passed;
}

int main(void)
{
    bool whole = getenv("PAPERTAPE_LONG") != NULL;
    const int few = counts_of("searches on noise, and as many on a signal", 2, 1);
    int n_noise = whole ? 40 : few, n_signal = whole ? 10 : few, noise = 0, signal = 0;
    scratch_in_memory();
    for (int i = 0; i < n_noise; i++)
        noise += admitted(false, 100 + (uint64_t)i);
    for (int i = 0; i < n_signal; i++)
        signal += admitted(true, 200 + (uint64_t)i);
    printf("admitted: %d of %d on noise, %d of %d on a signal\n", noise, n_noise, signal, n_signal);
    CHECK(noise * 20 <= n_noise);
    CHECK(signal * 10 >= 9 * n_signal);
    return check_done("gates");
}
