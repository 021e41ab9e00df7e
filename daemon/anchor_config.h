/* [ledger]: where anchors of the books go, and who signs and stamps them. */
#ifndef DAEMON_ANCHOR_CONFIG_H
#define DAEMON_ANCHOR_CONFIG_H

enum { ANCHOR_TARGET_MAX = 512, ANCHOR_KEY_MAX = 256, ANCHOR_URL_MAX = 256 };

#define ANCHOR_JOURNAL "journal"
#define ANCHOR_COMMAND "exec:"

struct anchor_config {
    char target[ANCHOR_TARGET_MAX];     /* a file's path, "journal", "exec:COMMAND"; "": there are none */
    char key[ANCHOR_KEY_MAX];           /* a credential's name or a file's path; "": they are not signed */
    char timestamp_url[ANCHOR_URL_MAX]; /* of an authority; "": they are not stamped */
};

#endif
