import Engines
import Foundation
import Listen
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Settings of the recogniser.
    static let speech: [Setting] = [
        Setting(
            "transcriber",
            "The recogniser: fake, openai:URL, deepgram:URL, or command:PROGRAM with {file}, {wav} and {language}.",
            .transcriber,
            default: "fake",
            page: """
                the recogniser: `fake`, `openai:URL`, `deepgram:URL` or `command:PROGRAM ARGUMENTS`: \
                [recognisers](recognisers.md)
                """,
            to: \.configuration.transcriber),
        Setting(
            "transcriber-time-limit",
            "Time limit for one recognition, beyond the length of its audio.",
            .duration,
            default: "120s",
            to: \.configuration.recognition.timeLimit),
        Setting(
            "transcriber-concurrency",
            "The maximum number of recognitions at the same time.",
            .integer(1...256),
            default: "4"
        ) { count, run in
            run.configuration.recognition.concurrency = count
            run.configuration.jobs.transcriptions = count
            run.configuration.jobs.assemblies = count
        },
        Setting(
            "fallback-transcriber",
            "A second recogniser, for recordings at which the first one fails.",
            .transcriber,
            page:
                "a second recogniser, for recordings at which the first one has failed for good, or while it is not used after failures",
            to: \.configuration.fallbackTranscriber),
        Setting(
            "stt-model",
            "The model of the speech service.",
            .text,
            pageDefault: "`whisper-1`; `nova-3-medical`",
            to: \.configuration.speechService.model),
        Setting(
            "stt-model-lite",
            "The model of the speech service for transactions with model_type lite.",
            .text,
            pageDefault: "as `stt-model`",
            page: "the model of the speech service for transactions with `model_type: lite`",
            to: \.configuration.speechService.liteModel),
        Setting(
            "stt-prompt",
            "Words that the speech service should expect, separated by commas.",
            .words,
            page: """
                words that the speech service should expect, separated by commas; OpenAI also takes a sentence. The server \
                adds the names of medicines and diseases itself, for templates with sections for them
                """,
            to: \.configuration.speechService.prompt),
        Setting(
            "stt-longest",
            "The longest recording that the server sends to a speech service in one piece.",
            .duration(atLeast: .seconds(1)),
            default: "10m",
            page: "the longest recording that the server sends in one piece; with ffmpeg it cuts longer ones at pauses",
            to: \.configuration.speechService.longest),
        Setting(
            "stt-key-file",
            "A file with the key of the speech service.",
            .fileContents,
            page: "a file with the key of the speech service. `SCRIBE_STT_KEY` holds the key itself and wins"
        ) { key, run in run.configuration.speechService.key = String(decoding: key, as: UTF8.self) },
    ]
}
