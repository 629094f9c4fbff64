/// Stops SQLite from counting the memory that it takes, before its first use in the process.
///
/// Each of its allocations would take a lock that all connections share. Returns SQLite's code, 0 for success.
int sqlite_stop_counting_memory(void);
