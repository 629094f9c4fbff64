#pragma once

// Commit and its date, for example "a1b2c3d, 2026-11-23"; empty if the build did not pass them.
const char *build_details(void);
