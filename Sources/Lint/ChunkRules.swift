import Basics
import Eka
import Foundation
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// Rules about the audio that a recording consists of.
enum ChunkRules {
    static let missing = LintRule(
        "chunk-missing", .error, row: "C-24", "Commit lists a file that was never stored",
        why: "What was said in it is lost: the results have the warning audio_missing.",
        fix: "Commit after the last upload has succeeded, and list only files whose upload has succeeded.")
    static let gap = LintRule(
        "chunk-gap", .warning, row: "eka.md 4.2", "Time is missing between two chunks",
        why: "The results have the warning chunk_gap, and the words of that time are lost.",
        fix: "Begin each chunk half a second before the end of the one before it.")
    static let overlap = LintRule(
        "chunk-overlap", .warning, row: "eka.md 4.2", "Two chunks share more than a second",
        why: "The server keeps once what two chunks heard within half a second. More may be in the transcript twice.",
        fix: "Let chunks overlap by half a second, and send their true times in chunk_info.")
    static let duplicate = LintRule(
        "chunk-duplicate", .warning, row: "eka.md 3.1", "The same audio is in the recording more than once",
        why: "Its words may be in the transcript as often.",
        fix: "Give each chunk a number of its own, and list each file once.")
    static let order = LintRule(
        "chunk-order", .warning, row: "eka.md 2.2", "The files are listed in another order than they were spoken",
        why: "The transcript follows the list.",
        fix: "List the files in the order of their times.")
    static let fileExtension = LintRule(
        "chunk-extension", .warning, row: "C-77", "The extension of a file is not that of its format",
        why: "This server looks at the bytes. Another one may go by the name.",
        fix: "Name the file after what the encoder has written.")
    static let contentType = LintRule(
        "chunk-content-type", .warning, row: "C-77", "An upload's content type is not that of its bytes",
        why: "This server looks at the bytes. Whoever downloads the object gets the wrong type.",
        fix: "Send the content type of what the encoder has written.", shippedBy: [.ios, .legacyIOS])
    static let silent = LintRule(
        "recording-silent", .warning, row: "failures.md#silent-audio", "No chunk of the recording has a word in it",
        why: "The recording fails with no_speech. A muted microphone sounds like this.",
        fix: "Check the level of the microphone before the recording, and tell the user when it stays silent.")
    static let long = LintRule(
        "chunk-long", .warning, row: "eka.md 3.1", "A chunk is longer than 25 seconds",
        why: "More audio is lost with one failed upload, and the transcript comes later.",
        fix: "Cut at the first silence after 10 s, and after 25 s at the latest.")
    static let short = LintRule(
        "chunk-short", .note, row: "eka.md 3.1", "A chunk before the last one is shorter than five seconds",
        why: "Each chunk costs an upload and a recognition, and recognisers need context.",
        fix: "Cut at the first silence after 10 s.")

    static let rules = [
        missing, gap, overlap, duplicate, order, fileExtension, contentType, silent, long, short,
    ]

    private static let longest = 25.5
    private static let shortest = 5.0
    private static let containers = [
        "wav": "audio/wav", "mp3": "audio/mpeg", "m4a": "audio/mp4", "mp4": "audio/mp4", "webm": "audio/webm",
        "ogg": "audio/ogg", "opus": "audio/ogg", "flac": "audio/flac", "aac": "audio/aac",
    ]
    /// Other names of media types.
    private static let synonyms = [
        "audio/mp3": "audio/mpeg", "audio/m4a": "audio/mp4", "audio/x-m4a": "audio/mp4", "video/mp4": "audio/mp4",
        "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav",
        "video/webm": "audio/webm", "audio/opus": "audio/ogg", "application/ogg": "audio/ogg",
        "audio/x-flac": "audio/flac", "audio/aacp": "audio/aac",
    ]

    static func found(in recording: LintedRecording) -> [Found] {
        lists(recording) + formats(recording) + lengths(recording)
    }

    // MARK: Lists

    private static func lists(_ recording: LintedRecording) -> [Found] {
        var found: [Found] = []
        let transaction = recording.transaction
        let commits = recording.exchanges.of(["commitTransaction"]).filter(\.isDone)
        // A file that was deleted after its upload was stored all the same.
        let uploads = recording.exchanges.of(UploadRules.uploads).filter(\.isDone)
        let known = Set(recording.files.map(\.name) + uploads.map(\.file))
        let listed = transaction.committedFiles
        let isAudioKept = !recording.files.isEmpty || recording.isWhole
        // The job waits for files that are on their way.
        if recording.isChunked, transaction.processedAt != nil, isAudioKept {
            let gone = listed.filter { !known.contains($0) }
            if !gone.isEmpty {
                found.append(
                    Found(
                        missing, "\(names(gone)) of the commit \(gone.count == 1 ? "was" : "were") never stored",
                        commits))
            }
        }
        let stops = recording.exchanges.of(["stopTransaction"]).filter(\.isDone)
        // The store keeps each name once.
        let sent = (commits.last ?? stops.last)?.json?["audio_files"]?.arrayValue?.compactMap(\.stringValue)
        let files = sent ?? (listed.isEmpty ? transaction.stopped.files : listed)
        let twice = Dictionary(grouping: files, by: \.self).filter { $0.value.count > 1 }.keys
        if !twice.isEmpty {
            found.append(Found(duplicate, "\(names(twice.sorted())) is listed more than once", commits))
        }
        found += sameBytes(recording)
        let ordinals = files.compactMap(chunkOrdinal(ofFile:))
        if ordinals != ordinals.sorted() {
            found.append(Found(order, "The list is \(names(files))", stops + commits))
        }
        return found + seams(recording, files, stops)
    }

    private static func seams(_ recording: LintedRecording, _ files: [String], _ stops: [LintedExchange]) -> [Found] {
        var found: [Found] = []
        // Another order in the list is a finding of its own.
        let timed = Set(files).compactMap { name in recording.transaction.stopped.times[name].map { (name, $0) } }
            .filter { $0.1.start <= $0.1.end }
            .sorted { ($0.1.start, $0.0) < ($1.1.start, $1.0) }
        for (one, next) in zip(timed, timed.dropFirst()) {
            switch one.1.seam(before: next.1) {
            case .adjacent, .repeating: continue
            case .gap:
                let seconds = next.1.start - one.1.end
                found.append(Found(gap, "\(shown(seconds)) s are missing between \(one.0) and \(next.0)", stops))
            case .overlapping:
                let seconds = one.1.end - next.1.start
                found.append(Found(overlap, "\(one.0) and \(next.0) share \(shown(seconds)) s", stops))
            }
        }
        return found
    }

    /// Uploads of the same bytes under different names.
    private static func sameBytes(_ recording: LintedRecording) -> [Found] {
        let uploads = recording.exchanges.of(UploadRules.uploads).filter {
            $0.isDone && !LintedRecording.isArchive($0.file) && !$0.file.hasSuffix(".json")
                && $0.shown.requestBody?.size ?? 0 > 0
        }
        let byDigest = Dictionary(grouping: uploads) { $0.shown.requestBody?.md5 ?? "" }
        return byDigest.sorted { $0.value[0].number < $1.value[0].number }.compactMap { digest, uploads in
            let files = Set(uploads.map(\.file)).sorted()
            // Silence of the same length has the same bytes.
            guard !digest.isEmpty, files.count > 1, !files.allSatisfy({ recording.silence[$0] == true }) else {
                return nil
            }
            return Found(duplicate, "\(names(files)) have the same bytes", uploads)
        }
    }

    // MARK: Formats

    private static func formats(_ recording: LintedRecording) -> [Found] {
        var found: [Found] = []
        let sniffed = recording.files.compactMap { file in recording.contentTypes[file.name].map { (file, $0) } }
        let misnamed = sniffed.filter { file, type in
            let wanted = file.name.split(separator: ".").last.map { $0.lowercased().trimmingSuffix { $0 == "_" } }
            return wanted.flatMap { containers[$0] }.map { $0 != type } ?? false
        }
        if let (file, type) = misnamed.first {
            found.append(
                Found(
                    fileExtension, "\(file.name) is \(type)\(more(misnamed.count))",
                    recording.uploads(of: misnamed.map(\.0.name))))
        }
        let mistyped = sniffed.filter { file, type in
            guard let sent = file.contentType?.lowercased().prefix(while: { $0 != ";" }),
                sent.hasPrefix("audio/") || sent.hasPrefix("video/")
            else { return false }
            return synonyms[String(sent)] ?? String(sent) != type
        }
        if let (file, type) = mistyped.first {
            found.append(
                Found(
                    contentType, "\(file.name) is \(type), and was sent as another type\(more(mistyped.count))",
                    recording.uploads(of: mistyped.map(\.0.name))))
        }
        return found
    }

    // MARK: Lengths

    private static func lengths(_ recording: LintedRecording) -> [Found] {
        var found: [Found] = []
        let heard = recording.chunks.compactMap { recording.silence[$0.name] }
        if !heard.isEmpty, heard.count == recording.chunks.count, heard.allSatisfy(\.self) {
            found.append(Found(silent, "\(heard.count.counted("file")) without a word"))
        }
        guard recording.isChunked else { return found }
        let times = recording.transaction.stopped.times
        let lengths = recording.chunks.compactMap { file -> (name: String, seconds: Double)? in
            let seconds = file.recognition?.duration ?? times[file.name].map { $0.end - $0.start }
            return seconds.map { (file.name, $0) }
        }
        let tooLong = lengths.filter { $0.seconds > longest }
        if let first = tooLong.first {
            let message = "\(first.name) lasts \(shown(first.seconds)) s\(more(tooLong.count))"
            found.append(Found(long, message, recording.uploads(of: tooLong.map(\.name))))
        }
        let tooShort = lengths.dropLast().filter { $0.seconds < shortest }
        if let first = tooShort.first {
            let message = "\(first.name) lasts \(shown(first.seconds)) s\(more(tooShort.count))"
            found.append(Found(short, message, recording.uploads(of: tooShort.map(\.name))))
        }
        return found
    }

    // MARK: Words

    private static func shown(_ seconds: Double) -> String { String((seconds * 10).rounded() / 10) }

    private static func more(_ count: Int) -> String { count > 1 ? ", and \((count - 1).counted("other")) alike" : "" }

    /// Names of files, the first five of them.
    static func names(_ files: [String]) -> String {
        let shown = files.prefix(5).map { String($0.prefix(64)) }.joined(separator: ", ")
        return files.count > 5 ? "\(shown) and \(files.count - 5) more" : shown
    }
}

extension String {
    fileprivate func trimmingSuffix(while isOver: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, isOver(last) { text.removeLast() }
        return String(text)
    }
}
