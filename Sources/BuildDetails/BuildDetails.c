// In C, for SwiftPM hands no text to Swift code.

#include "BuildDetails.h"

const char *build_details(void) { return SCRIBE_BUILD; }
