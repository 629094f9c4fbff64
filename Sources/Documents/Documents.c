// Written in C for `#embed`: Swift can embed a file only as an array of numbers, which its type checker reads slowly.
// Each path leads to a file of the repository, so that the next build picks up an edited file.

#include "Documents.h"

static const unsigned char scribe[] = {
#embed "../../openapi/scribe.yaml"
};

struct document document_scribe(void) { return (struct document){scribe, sizeof scribe}; }

// Table with one OpenAPI document per API family.
#include "../../openapi/families.inc"

size_t family_document_count(void) { return sizeof families / sizeof *families; }

struct family_document family_document(size_t index) { return families[index]; }

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
