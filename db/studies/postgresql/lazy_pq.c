/* libpq, at its first use. */
#include <libpq-fe.h>

#include "db/studies/postgresql/lazy_pq.h"
#include "exchange/lazy_library.h"

static struct lazy_library lib = {.file = "libpq.so.5"};

int study_postgresql_load(char *err, size_t err_size)
{
    return lazy_library_load(&lib, err, err_size);
}

LAZY(lib, PQconninfoOption *, PQconninfoParse, (const char *text, char **error), (text, error))
LAZY(lib, void, PQconninfoFree, (PQconninfoOption * options), (options))
LAZY(lib, void, PQfreemem, (void *memory), (memory))

LAZY(lib, PGconn *, PQconnectStartParams, (const char *const *keys, const char *const *values, int expand),
     (keys, values, expand))
LAZY(lib, PostgresPollingStatusType, PQconnectPoll, (PGconn * conn), (conn))
LAZY(lib, void, PQfinish, (PGconn * conn), (conn))
LAZY(lib, PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * conn, PQnoticeProcessor process, void *ctx),
     (conn, process, ctx))
LAZY(lib, ConnStatusType, PQstatus, (const PGconn *conn), (conn))
LAZY(lib, PGTransactionStatusType, PQtransactionStatus, (const PGconn *conn), (conn))
LAZY(lib, char *, PQerrorMessage, (const PGconn *conn), (conn))
LAZY(lib, int, PQserverVersion, (const PGconn *conn), (conn))
LAZY(lib, int, PQsocket, (const PGconn *conn), (conn))
LAZY(lib, char *, PQescapeLiteral, (PGconn * conn, const char *text, size_t n), (conn, text, n))

LAZY(lib, int, PQsendQuery, (PGconn * conn, const char *text), (conn, text))
LAZY(lib, int, PQsendPrepare, (PGconn * conn, const char *name, const char *text, int n, const Oid *types),
     (conn, name, text, n, types))
LAZY(lib, int, PQsendQueryPrepared,
     (PGconn * conn, const char *name, int n, const char *const *values, const int *lengths,
      const int *formats, int result_format),
     (conn, name, n, values, lengths, formats, result_format))
LAZY(lib, int, PQenterPipelineMode, (PGconn * conn), (conn))
LAZY(lib, int, PQexitPipelineMode, (PGconn * conn), (conn))
LAZY(lib, int, PQpipelineSync, (PGconn * conn), (conn))
LAZY(lib, int, PQconsumeInput, (PGconn * conn), (conn))
LAZY(lib, int, PQisBusy, (PGconn * conn), (conn))
LAZY(lib, PGnotify *, PQnotifies, (PGconn * conn), (conn))
LAZY(lib, PGresult *, PQgetResult, (PGconn * conn), (conn))

LAZY(lib, ExecStatusType, PQresultStatus, (const PGresult *result), (result))
LAZY(lib, char *, PQresultErrorField, (const PGresult *result, int field), (result, field))
LAZY(lib, int, PQntuples, (const PGresult *result), (result))
LAZY(lib, char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))
LAZY(lib, int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))
LAZY(lib, char *, PQcmdStatus, (PGresult * result), (result))
LAZY(lib, char *, PQcmdTuples, (PGresult * result), (result))
LAZY(lib, void, PQclear, (PGresult * result), (result))
