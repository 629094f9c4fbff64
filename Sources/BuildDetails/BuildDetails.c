// Written in C because SwiftPM cannot pass a text to Swift code.

#include "BuildDetails.h"

const char *build_details(void) { return SCRIBE_BUILD; }
