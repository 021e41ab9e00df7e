/* Which plug-in's code runs on a thread, so that a process that it ends does not end without a word. */
#ifndef INDICATORS_GPU_PLUGIN_WATCH_H
#define INDICATORS_GPU_PLUGIN_WATCH_H

/* Without a call of the loader, which a signal handler may not make, and which would be a library to need. */
#define PLUGIN_WATCH_TLS __attribute__((tls_model("initial-exec")))

/* The path of the file whose code is called, which lives as long as the process; NULL: ours runs. Set around
 * each call of a file's functions, by the thread that makes it. */
extern _Thread_local const char *indicator_plugin_running PLUGIN_WATCH_TLS;

/* Evaluates a call of code of the file. */
#define INDICATOR_PLUGIN_CALL(file, call) \
    ({ \
        indicator_plugin_running = (file)->path; \
        __auto_type plugin_answer_ = (call); \
        indicator_plugin_running = NULL; \
        plugin_answer_; \
    })

/* For a program's main(). From then on an exit() that a plug-in's code calls ends the process with status 1
 * and a line on stderr that names the file. To be called before what else is registered with atexit(), which
 * then runs as at any exit. */
void indicator_plugin_watch_exit(void);

/* And a signal of a crash while a plug-in's code runs writes such a line before it does what it did. */
void indicator_plugin_watch_crashes(void);

#endif
