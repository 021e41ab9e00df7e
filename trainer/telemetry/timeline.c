#include "trainer/telemetry/report.h"

#include <stddef.h>
#include <string.h>

static const char *const turns[TIMELINE_TURNS] = {"rollout", "update"};

static int turn_of(const char *state)
{
    for (int i = 0; i < TIMELINE_TURNS; i++)
        if (strcmp(state, turns[i]) == 0)
            return i;
    return -1;
}

void telemetry_timeline_begin(struct timeline *timeline, double every_s)
{
    *timeline = (struct timeline){.every_s = every_s, .state = "", .reported = ""};
}

/* Only rollout and update are reported as each other: other states are reported at once. */
static void settle(struct timeline *timeline, double now_s)
{
    int is = turn_of(timeline->state), said = turn_of(timeline->reported);
    if (is >= 0 && said >= 0) {
        timeline->unreported[is] += now_s - timeline->since_s;
        timeline->unreported[said] -= now_s - timeline->since_s;
    }
    timeline->since_s = now_s;
}

static const char *choose(struct timeline *timeline, double now_s)
{
    const char *choice = timeline->state;
    int is = turn_of(choice);
    if (is >= 0 && timeline->unreported[1 - is] > timeline->every_s / 2)
        choice = turns[1 - is];
    if (strcmp(choice, timeline->reported) == 0)
        return NULL;
    if (is >= 0 && turn_of(timeline->reported) >= 0 && now_s - timeline->reported_s < timeline->every_s)
        return NULL;
    timeline->reported = choice;
    timeline->reported_s = now_s;
    return choice;
}

const char *telemetry_timeline_enter(struct timeline *timeline, const char *state, double now_s)
{
    settle(timeline, now_s);
    timeline->state = state;
    return choose(timeline, now_s);
}

const char *telemetry_timeline_tick(struct timeline *timeline, double now_s)
{
    settle(timeline, now_s);
    return choose(timeline, now_s);
}
