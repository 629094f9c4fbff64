#include "SQLiteMemory.h"

#include <sqlite3.h>

// Swift cannot call a function with a variable number of arguments.
int sqlite_stop_counting_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
