// In C, for Swift's own way to embed files is an array of numbers, which its type checker reads one by one.
// The paths are those of the repository; an edit of a file is noticed by the next build.

#include "Documents.h"

static const unsigned char scribe[] = {
#embed "../../openapi/scribe.yaml"
};

struct document document_scribe(void) { return (struct document){scribe, sizeof scribe}; }

// A document for each API family, which scripts/bundle-openapi writes.

static const unsigned char openapi_eka[] = {
#embed "../../openapi/eka.yaml"
};

struct document document_openapi_eka(void) { return (struct document){openapi_eka, sizeof openapi_eka}; }

static const unsigned char openapi_sessions[] = {
#embed "../../openapi/sessions.yaml"
};

struct document document_openapi_sessions(void) { return (struct document){openapi_sessions, sizeof openapi_sessions}; }

static const unsigned char openapi_suki[] = {
#embed "../../openapi/suki.yaml"
};

struct document document_openapi_suki(void) { return (struct document){openapi_suki, sizeof openapi_suki}; }

static const unsigned char openapi_listen[] = {
#embed "../../openapi/listen.yaml"
};

struct document document_openapi_listen(void) { return (struct document){openapi_listen, sizeof openapi_listen}; }

static const unsigned char openapi_omi[] = {
#embed "../../openapi/omi.yaml"
};

struct document document_openapi_omi(void) { return (struct document){openapi_omi, sizeof openapi_omi}; }

static const unsigned char openapi_status[] = {
#embed "../../openapi/status.yaml"
};

struct document document_openapi_status(void) { return (struct document){openapi_status, sizeof openapi_status}; }

static const unsigned char control[] = {
#embed "../../openapi/control.yaml"
};

struct document document_control(void) { return (struct document){control, sizeof control}; }

static const unsigned char ambient[] = {
#embed "../../openapi/ambient.asyncapi.yaml"
};

struct document document_ambient(void) { return (struct document){ambient, sizeof ambient}; }

static const unsigned char omi[] = {
#embed "../../openapi/omi.asyncapi.yaml"
};

struct document document_omi(void) { return (struct document){omi, sizeof omi}; }

static const unsigned char listen[] = {
#embed "../../openapi/listen.asyncapi.yaml"
};

struct document document_listen(void) { return (struct document){listen, sizeof listen}; }

static const unsigned char clients[] = {
#embed "../../seed/clients.yaml"
};

struct document document_clients(void) { return (struct document){clients, sizeof clients}; }

static const unsigned char fixtures[] = {
#embed "../../seed/fixtures.yaml"
};

struct document document_fixtures(void) { return (struct document){fixtures, sizeof fixtures}; }

static const unsigned char templates[] = {
#embed "../../seed/templates.yaml"
};

struct document document_templates(void) { return (struct document){templates, sizeof templates}; }
