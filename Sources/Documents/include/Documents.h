#pragma once

#include <stddef.h>

// A file of this repository as it was when the program was built. It lives as long as the program.
struct document {
    const unsigned char *start;
    size_t count;
};

// In openapi/.
struct document document_scribe(void);
struct document document_openapi_eka(void);
struct document document_openapi_sessions(void);
struct document document_openapi_suki(void);
struct document document_openapi_listen(void);
struct document document_openapi_omi(void);
struct document document_openapi_status(void);
struct document document_control(void);
struct document document_ambient(void);
struct document document_omi(void);
struct document document_listen(void);

// In seed/.
struct document document_clients(void);
struct document document_fixtures(void);
struct document document_templates(void);
