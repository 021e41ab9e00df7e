/* The link to the co-process: finds it by its socket, starts it where that is this daemon's task, greets
 * it, and reports its state in one word. The co-process keeps running when the link ends. */
#ifndef DAEMON_TRAINING_LINK_H
#define DAEMON_TRAINING_LINK_H

#include "daemon/training/client.h"
#include "daemon/training/spawn.h"

enum { LINK_PROTOCOL = 1, LINK_DETAIL_MAX = 400, LINK_VERSION_MAX = 32 };

enum link_state { LINK_ABSENT, LINK_STARTING, LINK_OK, LINK_SILENT, LINK_VERSION, LINK_OFF, LINK_STATES };

const char *daemon_training_link_state_name(enum link_state state); /* docs/control.md: "absent", … */

struct link_times { /* ms */
    uint64_t tick;
    uint64_t answer; /* a request is given up */
    uint64_t silent; /* unanswered for so long: silent */
    uint64_t kill;   /* and for so long: one that a daemon of this directory started is killed */
    uint64_t start;  /* it listens by then, or its start has failed */
    uint64_t again;  /* after a failed start: the first pause, doubled … */
    uint64_t again_max;
    uint64_t version; /* between two looks at one of another protocol */
};
extern const struct link_times daemon_training_link_times_default;

struct training_link_config {
    uv_loop_t *loop;
    const char *socket, *state_dir; /* absolute */
    bool never;                     /* [trainer] start = never */
    bool by_unit;                   /* only systemd starts it */
    struct spawn_config program;    /* without ctx and ended */
    struct link_times times;
    void *ctx;
    bool (*needed)(void *ctx);                    /* has it any work for the co-process? */
    void (*ready)(void *ctx);                     /* it is there and of this protocol */
    void (*state)(void *ctx);                     /* state or detail changed */
    void (*started)(void *ctx, const char *mark); /* was started: for the next run's `mark` */
    void (*killed)(void *ctx, const char *why);
    void (*bad)(void *ctx, const char *why); /* an answer is none of docs/serve.md */
};

struct training_link;

/* Starts to look for it on the loop's next turn. Texts of config must outlive it. NULL without memory. */
struct training_link *daemon_training_link_create(const struct training_link_config *config);

/* Sends a request once the co-process is there: at once, or when it has been started, at most times.answer
 * from now in all. `args` is stolen. `answer` is called once, possibly from within. Codes of the link's
 * own: those of the client, and ENOENT (absent), EPROTO (another version), with what would be right. */
void daemon_training_link_ask(struct training_link *link, const char *cmd, json_t *args,
                              training_answer *answer, void *ctx);

/* The mark of the process that a former run started. */
void daemon_training_link_started_before(struct training_link *link, const char *mark);

struct link_view {
    enum link_state state;
    const char *detail;  /* "" when there is nothing to say */
    const char *version; /* of the co-process that was greeted last; "" */
    pid_t pid;           /* of the listener; 0: none */
    uint64_t age_ms;     /* since it last sent anything; UINT64_MAX: never */
};
void daemon_training_link_view(const struct training_link *link, struct link_view *ret);

/* Fails the requests that wait and disconnects. Frees itself on the loop's next turns. NULL is fine. */
void daemon_training_link_destroy(struct training_link *link);

#endif
