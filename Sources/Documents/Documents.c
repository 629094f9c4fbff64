// Written in C for `#embed`: Swift can embed a file only as an array of numbers, which its type checker reads slowly.
// Each path leads to a file of the repository, so that the next build picks up an edited file.

#include "Documents.h"

#ifndef __has_embed
#error "A compiler with #embed is needed: clang 19, or Xcode 16.3"
#endif

static const unsigned char scribe[] = {
#embed "../../openapi/scribe.yaml"
};

struct document document_scribe(void) { return (struct document){scribe, sizeof scribe}; }

static const unsigned char scribe_json[] = {
#embed "../../openapi/scribe.json"
};

struct document document_scribe_json(void) { return (struct document){scribe_json, sizeof scribe_json}; }

static const unsigned char operations[] = {
#embed "../../openapi/operations.txt"
};

struct document document_operations(void) { return (struct document){operations, sizeof operations}; }

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

static const unsigned char consultation[] = {
#embed "../../seed/consultation.ogg"
};

struct document document_consultation(void) { return (struct document){consultation, sizeof consultation}; }

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

static const unsigned char urgency[] = {
#embed "../Engines/Conversations/urgency.txt"
};

struct document document_urgency(void) { return (struct document){urgency, sizeof urgency}; }

// Files of the console: templates, style sheet and scripts.
static const unsigned char console_app_js[] = {
#embed "../../console/app.js"
};

static const unsigned char console_icon_svg[] = {
#embed "../../console/icon.svg"
};

static const unsigned char console_recorder_js[] = {
#embed "../../console/recorder.js"
};

static const unsigned char console_style_css[] = {
#embed "../../console/style.css"
};

static const unsigned char console_try_js[] = {
#embed "../../console/try.js"
};

static const unsigned char console_again_mustache[] = {
#embed "../../console/views/again.mustache"
};

static const unsigned char console_bench_mustache[] = {
#embed "../../console/views/bench.mustache"
};

static const unsigned char console_connect_mustache[] = {
#embed "../../console/views/connect.mustache"
};

static const unsigned char console_consultation_mustache[] = {
#embed "../../console/views/consultation.mustache"
};

static const unsigned char console_consultations_mustache[] = {
#embed "../../console/views/consultations.mustache"
};

static const unsigned char console_dropped_mustache[] = {
#embed "../../console/views/dropped.mustache"
};

static const unsigned char console_empty_mustache[] = {
#embed "../../console/views/empty.mustache"
};

static const unsigned char console_frame_mustache[] = {
#embed "../../console/views/frame.mustache"
};

static const unsigned char console_login_mustache[] = {
#embed "../../console/views/login.mustache"
};

static const unsigned char console_missing_mustache[] = {
#embed "../../console/views/missing.mustache"
};

static const unsigned char console_request_mustache[] = {
#embed "../../console/views/request.mustache"
};

static const unsigned char console_requests_mustache[] = {
#embed "../../console/views/requests.mustache"
};

static const unsigned char console_settings_mustache[] = {
#embed "../../console/views/settings.mustache"
};

static const unsigned char console_state_mustache[] = {
#embed "../../console/views/state.mustache"
};

static const unsigned char console_try_mustache[] = {
#embed "../../console/views/try.mustache"
};

static const unsigned char console_webhooks_mustache[] = {
#embed "../../console/views/webhooks.mustache"
};

static const unsigned char console_templates_js[] = {
#embed "../../console/templates.js"
};

static const unsigned char console_templates_mustache[] = {
#embed "../../console/views/templates.mustache"
};

static const unsigned char console_closed_mustache[] = {
#embed "../../console/views/closed.mustache"
};

static const unsigned char console_player_js[] = {
#embed "../../console/player.js"
};

static const unsigned char console_body_mustache[] = {
#embed "../../console/views/body.mustache"
};

static const unsigned char console_lint_mustache[] = {
#embed "../../console/views/lint.mustache"
};

static const struct named_document console_files[] = {
    {"lint.mustache", {console_lint_mustache, sizeof console_lint_mustache}},
    {"body.mustache", {console_body_mustache, sizeof console_body_mustache}},
    {"player.js", {console_player_js, sizeof console_player_js}},
    {"closed.mustache", {console_closed_mustache, sizeof console_closed_mustache}},
    {"templates.mustache", {console_templates_mustache, sizeof console_templates_mustache}},
    {"templates.js", {console_templates_js, sizeof console_templates_js}},
    {"app.js", {console_app_js, sizeof console_app_js}},
    {"icon.svg", {console_icon_svg, sizeof console_icon_svg}},
    {"recorder.js", {console_recorder_js, sizeof console_recorder_js}},
    {"style.css", {console_style_css, sizeof console_style_css}},
    {"try.js", {console_try_js, sizeof console_try_js}},
    {"again.mustache", {console_again_mustache, sizeof console_again_mustache}},
    {"bench.mustache", {console_bench_mustache, sizeof console_bench_mustache}},
    {"connect.mustache", {console_connect_mustache, sizeof console_connect_mustache}},
    {"consultation.mustache", {console_consultation_mustache, sizeof console_consultation_mustache}},
    {"consultations.mustache", {console_consultations_mustache, sizeof console_consultations_mustache}},
    {"dropped.mustache", {console_dropped_mustache, sizeof console_dropped_mustache}},
    {"empty.mustache", {console_empty_mustache, sizeof console_empty_mustache}},
    {"frame.mustache", {console_frame_mustache, sizeof console_frame_mustache}},
    {"login.mustache", {console_login_mustache, sizeof console_login_mustache}},
    {"missing.mustache", {console_missing_mustache, sizeof console_missing_mustache}},
    {"request.mustache", {console_request_mustache, sizeof console_request_mustache}},
    {"requests.mustache", {console_requests_mustache, sizeof console_requests_mustache}},
    {"settings.mustache", {console_settings_mustache, sizeof console_settings_mustache}},
    {"state.mustache", {console_state_mustache, sizeof console_state_mustache}},
    {"try.mustache", {console_try_mustache, sizeof console_try_mustache}},
    {"webhooks.mustache", {console_webhooks_mustache, sizeof console_webhooks_mustache}},
};

size_t console_file_count(void) { return sizeof console_files / sizeof *console_files; }

struct named_document console_file(size_t index) { return console_files[index]; }
