import Engines
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Settings of the note writer.
    static let notes: [Setting] = [
        Setting(
            "note-writer",
            "The note writer: rules, or openai:URL for a language model.",
            .noteWriter,
            default: "rules",
            page: """
                the note writer: `rules`, or `openai:URL` for a language model with OpenAI's chat API, such as \
                `openai:http://127.0.0.1:11434/v1`: [notes](notes.md#notes-by-a-language-model)
                """,
            to: \.configuration.noteWriter),
        Setting(
            "note-model",
            "The name of the language model.",
            .text,
            default: "default",
            page: "the name of the language model; services with one model, such as llama.cpp, take any name",
            to: \.configuration.noteModel.model),
        Setting(
            "note-key-file",
            "A file with the key of the language model's service.",
            .fileContents,
            page: "a file with the key of the language model's service. `SCRIBE_NOTE_KEY` holds the key itself and wins"
        ) { key, run in run.configuration.noteModel.key = String(decoding: key, as: UTF8.self) },
        Setting(
            "note-unsaid",
            "Treatment of numbers, medicines, doses, sides and denials that were not said: leave-out or keep.",
            .choice(),
            default: "leave-out",
            page: """
                what becomes of a model's statement with numbers, medicines, doses, sides or denials that were not said: \
                `leave-out`, or `keep` with a warning
                """,
            to: \.configuration.noteModel.unsaid),
        Setting(
            "note-rules-templates",
            "Ids of templates whose notes the rules write, though there is a language model.",
            .templateIDs,
            page: "ids of templates whose notes the rules write, though there is a language model",
            to: \.configuration.noteModel.byRules),
        Setting(
            "note-longest",
            "The most characters of a transcript in one request to the language model.",
            .integer(1000...1_000_000),
            default: "24000",
            page: "the most characters of a transcript in one request to the language model; longer ones go in parts",
            to: \.configuration.noteModel.longest),
        Setting(
            "note-time-limit",
            "Time limit for one request to the language model.",
            .duration,
            default: "120s",
            to: \.configuration.noteLimits.timeLimit),
        Setting(
            "note-concurrency",
            "The maximum number of notes that the language model writes at the same time.",
            .integer(1...256),
            default: "4"
        ) { count, run in
            run.configuration.noteLimits.concurrency = count
            run.configuration.jobs.notes = count
        },
    ]
}
