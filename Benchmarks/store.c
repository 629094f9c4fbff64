// The raw peer of init: one small row per SQL transaction, with the journal and the syncing that the server uses.
//
//     store DATABASE ROWS      prints the seconds that it took

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sqlite3 *database;

static void check(int result) {
    if (result == SQLITE_OK || result == SQLITE_DONE) return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(database));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    long rows = atol(arguments[2]);
    sqlite3_stmt *begin, *insert, *commit;
    check(sqlite3_open(arguments[1], &database));
    check(sqlite3_exec(
        database,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        "CREATE TABLE IF NOT EXISTS transactions (id INTEGER PRIMARY KEY, txn_id TEXT NOT NULL, created_at INTEGER)",
        NULL, NULL, NULL));
    check(sqlite3_prepare_v2(database, "BEGIN IMMEDIATE", -1, &begin, NULL));
    check(sqlite3_prepare_v2(
        database, "INSERT INTO transactions (txn_id, created_at) VALUES (?, ?)", -1, &insert, NULL));
    check(sqlite3_prepare_v2(database, "COMMIT", -1, &commit, NULL));

    double start = now();
    for (long row = 0; row < rows; row++) {
        char id[40];
        snprintf(id, sizeof id, "i-%036ld", row);
        check(sqlite3_step(begin));
        check(sqlite3_reset(begin));
        check(sqlite3_bind_text(insert, 1, id, -1, SQLITE_TRANSIENT));
        check(sqlite3_bind_int64(insert, 2, row));
        check(sqlite3_step(insert));
        check(sqlite3_reset(insert));
        check(sqlite3_step(commit));
        check(sqlite3_reset(commit));
    }
    printf("%.6f\n", now() - start);
    return 0;
}
