import ScribeDomain

/// Maps Whisper's language names to tags.
enum WhisperLanguage {
    /// Tags of Whisper's best languages and of India's languages, by Whisper's English names.
    private static let tags = [
        "arabic": "ar", "assamese": "as", "bengali": "bn", "catalan": "ca", "chinese": "zh", "czech": "cs",
        "danish": "da", "dutch": "nl", "english": "en", "finnish": "fi", "french": "fr", "german": "de", "greek": "el",
        "gujarati": "gu", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "italian": "it",
        "japanese": "ja", "kannada": "kn", "korean": "ko", "malay": "ms", "malayalam": "ml", "marathi": "mr",
        "nepali": "ne", "norwegian": "no", "persian": "fa", "polish": "pl", "portuguese": "pt", "punjabi": "pa",
        "romanian": "ro", "russian": "ru", "sindhi": "sd", "spanish": "es", "swahili": "sw", "swedish": "sv",
        "tamil": "ta", "telugu": "te", "thai": "th", "turkish": "tr", "ukrainian": "uk", "urdu": "ur",
        "vietnamese": "vi",
    ]

    /// Language tag for a name or a tag: `en` for `english` and for `en`; nil for any other text.
    static func tag(for name: String) -> String? {
        if let tag = tags[name.lowercased()] { return tag }
        return name.utf8.count <= 3 && TransactionRequest.isLanguage(name) ? name.lowercased() : nil
    }
}
