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

// Word lists of the rules, by the file's name; those of English without their language.
static const unsigned char lexicon_en_allergens[] = {
#embed "../Engines/Language/lexicon/en/allergens.txt"
};

static const unsigned char lexicon_en_answers[] = {
#embed "../Engines/Language/lexicon/en/answers.txt"
};

static const unsigned char lexicon_en_blood_relatives[] = {
#embed "../Engines/Language/lexicon/en/blood-relatives.txt"
};

static const unsigned char lexicon_en_body_complaints[] = {
#embed "../Engines/Language/lexicon/en/body-complaints.txt"
};

static const unsigned char lexicon_en_body_parts[] = {
#embed "../Engines/Language/lexicon/en/body-parts.txt"
};

static const unsigned char lexicon_en_clauses[] = {
#embed "../Engines/Language/lexicon/en/clauses.txt"
};

static const unsigned char lexicon_en_clinician[] = {
#embed "../Engines/Language/lexicon/en/clinician.txt"
};

static const unsigned char lexicon_en_conditions[] = {
#embed "../Engines/Language/lexicon/en/conditions.txt"
};

static const unsigned char lexicon_en_dictation[] = {
#embed "../Engines/Language/lexicon/en/dictation.txt"
};

static const unsigned char lexicon_en_drug_groups[] = {
#embed "../Engines/Language/lexicon/en/drug-groups.txt"
};

static const unsigned char lexicon_en_drug_stems[] = {
#embed "../Engines/Language/lexicon/en/drug-stems.txt"
};

static const unsigned char lexicon_en_everyday_medications[] = {
#embed "../Engines/Language/lexicon/en/everyday-medications.txt"
};

static const unsigned char lexicon_en_examination[] = {
#embed "../Engines/Language/lexicon/en/examination.txt"
};

static const unsigned char lexicon_en_investigations[] = {
#embed "../Engines/Language/lexicon/en/investigations.txt"
};

static const unsigned char lexicon_en_medications[] = {
#embed "../Engines/Language/lexicon/en/medications.txt"
};

static const unsigned char lexicon_en_medicines[] = {
#embed "../Engines/Language/lexicon/en/medicines.txt"
};

static const unsigned char lexicon_en_patient[] = {
#embed "../Engines/Language/lexicon/en/patient.txt"
};

static const unsigned char lexicon_en_procedures[] = {
#embed "../Engines/Language/lexicon/en/procedures.txt"
};

static const unsigned char lexicon_en_qualifiers[] = {
#embed "../Engines/Language/lexicon/en/qualifiers.txt"
};

static const unsigned char lexicon_en_questions[] = {
#embed "../Engines/Language/lexicon/en/questions.txt"
};

static const unsigned char lexicon_en_relatives[] = {
#embed "../Engines/Language/lexicon/en/relatives.txt"
};

static const unsigned char lexicon_en_sentences[] = {
#embed "../Engines/Language/lexicon/en/sentences.txt"
};

static const unsigned char lexicon_en_social[] = {
#embed "../Engines/Language/lexicon/en/social.txt"
};

static const unsigned char lexicon_en_speakers[] = {
#embed "../Engines/Language/lexicon/en/speakers.txt"
};

static const unsigned char lexicon_en_specialties[] = {
#embed "../Engines/Language/lexicon/en/specialties.txt"
};

static const unsigned char lexicon_en_symptoms[] = {
#embed "../Engines/Language/lexicon/en/symptoms.txt"
};

static const unsigned char lexicon_en_vitals[] = {
#embed "../Engines/Language/lexicon/en/vitals.txt"
};

static const unsigned char lexicon_en_wording[] = {
#embed "../Engines/Language/lexicon/en/wording.txt"
};

static const unsigned char lexicon_en_words[] = {
#embed "../Engines/Language/lexicon/en/words.txt"
};

static const unsigned char lexicon_hi_grammar[] = {
#embed "../Engines/Language/lexicon/hi/grammar.txt"
};

static const unsigned char lexicon_hi_words[] = {
#embed "../Engines/Language/lexicon/hi/words.txt"
};

static const struct named_document lexicon_files[] = {
    {"allergens", {lexicon_en_allergens, sizeof lexicon_en_allergens}},
    {"answers", {lexicon_en_answers, sizeof lexicon_en_answers}},
    {"blood-relatives", {lexicon_en_blood_relatives, sizeof lexicon_en_blood_relatives}},
    {"body-complaints", {lexicon_en_body_complaints, sizeof lexicon_en_body_complaints}},
    {"body-parts", {lexicon_en_body_parts, sizeof lexicon_en_body_parts}},
    {"clauses", {lexicon_en_clauses, sizeof lexicon_en_clauses}},
    {"clinician", {lexicon_en_clinician, sizeof lexicon_en_clinician}},
    {"conditions", {lexicon_en_conditions, sizeof lexicon_en_conditions}},
    {"dictation", {lexicon_en_dictation, sizeof lexicon_en_dictation}},
    {"drug-groups", {lexicon_en_drug_groups, sizeof lexicon_en_drug_groups}},
    {"drug-stems", {lexicon_en_drug_stems, sizeof lexicon_en_drug_stems}},
    {"everyday-medications", {lexicon_en_everyday_medications, sizeof lexicon_en_everyday_medications}},
    {"examination", {lexicon_en_examination, sizeof lexicon_en_examination}},
    {"investigations", {lexicon_en_investigations, sizeof lexicon_en_investigations}},
    {"medications", {lexicon_en_medications, sizeof lexicon_en_medications}},
    {"medicines", {lexicon_en_medicines, sizeof lexicon_en_medicines}},
    {"patient", {lexicon_en_patient, sizeof lexicon_en_patient}},
    {"procedures", {lexicon_en_procedures, sizeof lexicon_en_procedures}},
    {"qualifiers", {lexicon_en_qualifiers, sizeof lexicon_en_qualifiers}},
    {"questions", {lexicon_en_questions, sizeof lexicon_en_questions}},
    {"relatives", {lexicon_en_relatives, sizeof lexicon_en_relatives}},
    {"sentences", {lexicon_en_sentences, sizeof lexicon_en_sentences}},
    {"social", {lexicon_en_social, sizeof lexicon_en_social}},
    {"speakers", {lexicon_en_speakers, sizeof lexicon_en_speakers}},
    {"specialties", {lexicon_en_specialties, sizeof lexicon_en_specialties}},
    {"symptoms", {lexicon_en_symptoms, sizeof lexicon_en_symptoms}},
    {"vitals", {lexicon_en_vitals, sizeof lexicon_en_vitals}},
    {"wording", {lexicon_en_wording, sizeof lexicon_en_wording}},
    {"words", {lexicon_en_words, sizeof lexicon_en_words}},
    {"hi/grammar", {lexicon_hi_grammar, sizeof lexicon_hi_grammar}},
    {"hi/words", {lexicon_hi_words, sizeof lexicon_hi_words}},
};

size_t lexicon_file_count(void) { return sizeof lexicon_files / sizeof *lexicon_files; }

struct named_document lexicon_file(size_t index) { return lexicon_files[index]; }

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
