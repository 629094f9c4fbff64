#pragma once

#include <stddef.h>

// File of the repository, embedded at build time. Its bytes live as long as the program.
struct document {
    const unsigned char *start;
    size_t count;
};

// OpenAPI document of a family, `openapi/<name>.yaml`.
struct family_document {
    const char *name;
    struct document document;
};

size_t family_document_count(void);
struct family_document family_document(size_t index);

// API documents, from openapi/.
struct document document_scribe(void);
struct document document_scribe_json(void);
// A line for each operation: method, path, id, and `socket` where it opens one.
struct document document_operations(void);
struct document document_control(void);
struct document document_ambient(void);
struct document document_omi(void);
struct document document_listen(void);

// Default configuration files, from seed/.
struct document document_clients(void);
struct document document_fixtures(void);
struct document document_templates(void);

// Spoken consultation for `scribe-emulator demo`: Ogg with Opus. demo/speech.py writes it.
struct document document_consultation(void);

// Weights of the words of emergencies, Sources/Engines/Conversation/urgency.txt.
struct document document_urgency(void);

struct named_document {
    const char *name;
    struct document document;
};

// Word lists of the rules, Sources/Engines/Language/lexicon/<language>/<name>.txt.
size_t lexicon_file_count(void);
struct named_document lexicon_file(size_t index);

// File of the console, `console/<name>` or `console/views/<name>`.
size_t console_file_count(void);
struct named_document console_file(size_t index);
