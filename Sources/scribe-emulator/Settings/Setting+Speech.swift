import Eka
import Engines
import Foundation
import Listen
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Who transcribes.
    static let speech: [Setting] = [
        Setting(
            "transcriber",
            "fake, openai:URL, deepgram:URL, or command:PROGRAM ARGUMENTS with {file}, {wav} and {language}.",
            .transcriber,
            default: "fake",
            page: """
                or `openai:URL`, `deepgram:URL`, `command:PROGRAM ARGUMENTS`: \
                [recipes](recipes.md#put-a-recogniser-behind-it)
                """,
            to: \.configuration.transcriber),
        Setting(
            "transcriber-time-limit",
            "How long one recognition may take beyond the audio's own length, for example 120s.",
            .duration,
            default: "120s",
            valueName: "time",
            page: "for one recognition, beyond the audio's own length",
            to: \.configuration.recognition.timeLimit),
        Setting(
            "transcriber-concurrency",
            "How many recognitions run at the same time.",
            .integer(1...256),
            default: "4",
            page: "recognitions at the same time"
        ) { count, run in
            run.configuration.recognition.concurrency = count
            run.configuration.jobs.transcriptions = count
            run.configuration.jobs.assemblies = count
        },
        Setting(
            "fallback-transcriber",
            "A transcriber for what the first one fails at.",
            .transcriber,
            page: "transcribes a file when the first one has failed for good, or is left alone",
            to: \.configuration.fallbackTranscriber),
        Setting(
            "stt-model",
            "The speech service's model.",
            .text,
            default: "",
            pageDefault: "`whisper-1`; `nova-3-medical`",
            page: "the service's model"
        ) { model, run in run.configuration.speechService.model = model.isEmpty ? nil : model },
        Setting(
            "stt-model-lite",
            "The speech service's model for transactions that ask for lite.",
            .text,
            pageDefault: "as `stt-model`",
            page: "the model for transactions with `model_type: lite`",
            to: \.configuration.speechService.liteModel),
        Setting(
            "stt-prompt",
            "Words that the speech service is to expect.",
            .words,
            page: """
                what the service is to expect: words with commas between; for OpenAI a sentence will do. The names \
                of medicines and diseases come by themselves, for templates that have room for them
                """,
            to: \.configuration.speechService.prompt),
        Setting(
            "stt-longest",
            "The longest recording that is sent to a speech service in one piece, for example 10m.",
            .duration(atLeast: .seconds(1)),
            default: "10m",
            valueName: "time",
            page: "longer recordings are cut in their pauses before they are sent, where ffmpeg is installed",
            to: \.configuration.speechService.longest),
        Setting(
            "stt-key-file",
            "A file with the speech service's key.",
            .file,
            default: "",
            valueName: "path",
            page: "a file with the service's key. `SCRIBE_STT_KEY` holds the key itself and wins"
        ) { key, run in run.configuration.speechService.key = String(decoding: key, as: UTF8.self) },
    ]
}
