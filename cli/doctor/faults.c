#include "cli/doctor/faults.h"

#include <stdlib.h>
#include <string.h>

const struct doctor_fault cli_doctor_faults[] = {
    {"libwebsockets", "", "4.3.3", "",
     "a frame that is not compressed on a connection with permessage-deflate loops for ever",
     "permessage-deflate is not offered", "https://github.com/warmcat/libwebsockets/issues/2794"},
    {"libcurl", "7.69.0", "8.4.0", "", "a long host name overflows the buffer of a SOCKS5 handshake",
     "no proxy is used", "https://curl.se/docs/CVE-2023-38545.html"},
    {"SQLite", "3.7.0", "3.51.3", "3.44.6 3.50.7",
     "two connections that checkpoint and write at the same time can corrupt a WAL database",
     "one connection, the daemon's, writes and checkpoints", "https://sqlite.org/wal.html#walresetbug"},
    {"OpenSSL", "3.0.0", "3.0.7", "", "a certificate's e-mail address overflows the stack", NULL,
     "https://www.openssl.org/news/secadv/20221101.txt"},
    {"Linux", "", "4.13", "", "an error of writing back may be reported to no process that syncs", NULL,
     "https://wiki.postgresql.org/wiki/Fsync_Errors"},
    {"Linux", "6.1.64", "6.1.66", "", "ext4 writes data to the wrong place", NULL,
     "https://bugs.debian.org/1057843"},
    {"NVIDIA driver", "", "525.60.13", "", "too old for the GPU module, which CUDA 12 or later builds", NULL,
     "https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/"},
};
const size_t cli_doctor_faults_n = sizeof cli_doctor_faults / sizeof *cli_doctor_faults;

int cli_doctor_version_compare(const char *a, const char *b)
{
    for (;;) {
        char *end_a, *end_b;
        unsigned long left = strtoul(a, &end_a, 10), right = strtoul(b, &end_b, 10);
        if (left != right)
            return left < right ? -1 : 1;
        bool more_a = *end_a == '.', more_b = *end_b == '.';
        if (!more_a && !more_b)
            return 0;
        a = more_a ? end_a + 1 : "0";
        b = more_b ? end_b + 1 : "0";
    }
}

/* Are the first two numbers the same? */
static bool same_branch(const char *a, const char *b)
{
    for (int i = 0; i < 2; i++) {
        char *end_a, *end_b;
        if (strtoul(a, &end_a, 10) != strtoul(b, &end_b, 10))
            return false;
        a = end_a + (*end_a == '.');
        b = end_b + (*end_b == '.');
    }
    return true;
}

bool cli_doctor_fault_has(const struct doctor_fault *fault, const char *version)
{
    if ((fault->from[0] && cli_doctor_version_compare(version, fault->from) < 0) ||
        cli_doctor_version_compare(version, fault->cure) >= 0)
        return false;
    for (const char *at = fault->branches; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (same_branch(version, at) && cli_doctor_version_compare(version, at) >= 0)
            return false;
    return true;
}
