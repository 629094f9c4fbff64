#pragma once

// The commit and its date as whoever built the program told them, for example "a1b2c3d, 2026-11-23"; empty where nobody did.
const char *build_details(void);
