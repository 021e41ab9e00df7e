/* How a study's run ends: it was asked to, its storage fails, or all is done. */
#include <errno.h>
#include <stdlib.h>

#include "trainer/command/args.h"
#include "trainer/command/stop.h"
#include "trainer/command/study_run.h"
#include "trainer/command/train_run.h"

void trainer_study_warn(void *ctx, const char *words)
{
    struct study_run *run = ctx;
    telemetry_report_warning(&run->report, words);
}

bool trainer_study_is_stopped(void *ctx)
{
    const struct study_run *run = ctx;
    return trainer_stop_asked() || run->report.failed;
}

int trainer_study_stopped(struct study_run *run)
{
    trainer_study_ended(run, "stopped", NULL);
    return run->report.failed
               ? trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader; stopped")
               : (int)run->args->stopped_status;
}

/* A server that is away is no disk of this machine. */
static const char *storage_cause(const struct study_run *run, int r)
{
    static const int passing[] = {EBUSY, EBADMSG, EIO, ENOTCONN, EUSERS, ECONNRESET, ENOMEM, ENOSPC, EROFS};
    char *file = study_store_file(run->url);
    const char *cause = train_cause(r, r == -EBUSY || r == -EBADMSG || r == -EIO ? "disk" : "config");
    for (size_t i = 0; !file && i < sizeof passing / sizeof *passing; i++)
        if (r == -passing[i])
            cause = "storage";
    free(file);
    return cause;
}

int trainer_study_storage_failed(struct study_run *run, int error, const char *words)
{
    return error == -EINTR && trainer_stop_asked()
               ? trainer_study_stopped(run)
               : trainer_study_failed(run, storage_cause(run, error), "%s", words);
}

int trainer_study_done(struct study_run *run)
{
    const int left = trainer_study_artifacts_resume(run);
    trainer_study_ended(run, "done", left > 0 ? "artifacts" : NULL);
    return left > 0 ? EXIT_NOT_UPLOADED : EXIT_SUCCESS;
}
