import Basics

/// Models of Deepgram and their languages, as its pages and SDKs list them.
///
/// A pair that the table does not know is taken and told: the vendor adds some every month. Its date is ``date``.
enum ListenModelTable {
    static let date = "9 October 2026"

    /// Languages of models whose names share a row.
    private struct Row {
        let models: [String]
        let languages: Set<String>

        init(_ models: String, _ languages: String) {
            self.models = models.split(separator: " ").map(String.init)
            self.languages = Set(languages.split(separator: " ").map { $0.lowercased() })
        }

        var isEnglishOnly: Bool { languages.allSatisfy { $0 == "multi" || ListenModelTable.base($0) == "en" } }
    }

    private static let rows = [
        Row(
            "nova-3 nova-3-general",
            """
            multi af af-ZA ar ar-AE ar-SA ar-QA ar-KW ar-SY ar-LB ar-PS ar-JO ar-EG ar-SD ar-TD ar-MA ar-DZ ar-TN \
            ar-IQ ar-IR hy as as-IN be bn bs bg ca zh-HK zh zh-CN zh-Hans zh-TW zh-Hant hr cs cs-CZ da da-DK nl en \
            en-US en-AU en-GB en-IN en-NZ et fi nl-BE fr fr-CA ka ka-GE de de-CH el gu gu-IN he hi hu id it ja kn kk \
            kk-KZ ko ko-KR lv lt mk ms mr mn ne no ps ps-AF fa pl pt pt-BR pt-PT pa pa-IN ro ru sr sk sl es es-419 sv \
            sv-SE sw tl ta te th th-TH tr tr-TR uk ur vi
            """),
        Row("nova-3-medical", "multi en en-US en-AU en-CA en-GB en-IE en-IN en-NZ"),
        Row("nova-3-pharma", "en en-US en-AU en-CA en-GB en-IE en-IN en-NZ"),
        Row(
            "nova-2 nova-2-general 2-general 2-ea",
            """
            multi bg ca zh zh-CN zh-Hans zh-TW zh-Hant zh-HK cs da da-DK nl en en-US en-AU en-GB en-NZ en-IN et fi \
            nl-BE fr fr-CA de de-CH el hi hi-Latn hu id it ja ko ko-KR lv lt ms no pl pt pt-BR pt-PT ro ru sk es \
            es-419 sv sv-SE th th-TH tr uk vi
            """),
        Row(
            """
            nova-2-meeting nova-2-phonecall nova-2-finance nova-2-conversationalai nova-2-voicemail nova-2-video \
            nova-2-medical nova-2-drivethru nova-2-automotive nova-2-atc
            """, "en en-US"),
        Row("nova nova-general", "en en-US en-AU en-GB en-NZ en-IN es es-419 hi-Latn"),
        Row("nova-phonecall nova-medical", "en en-US"),
        Row(
            "enhanced enhanced-general",
            "da nl en en-US fr de hi it ja ko no pl pt pt-BR pt-PT es es-419 es-LATAM sv taq ta"),
        Row("enhanced-meeting enhanced-phonecall enhanced-finance", "en en-US"),
        Row(
            "base base-general general",
            """
            zh zh-CN zh-TW da nl en en-US fr fr-CA de hi hi-Latn id it ja ko no pl pt pt-BR pt-PT ru es es-419 \
            es-LATAM sv taq tr uk
            """),
        Row(
            """
            base-meeting base-phonecall base-finance base-conversationalai base-voicemail base-video meeting phonecall \
            finance conversationalai voicemail video
            """, "en en-US"),
        Row(
            "whisper whisper-tiny whisper-base whisper-small whisper-medium whisper-large",
            """
            af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu \
            hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt \
            ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh
            """),
    ]
    private static let byModel = Dictionary(
        rows.flatMap { row in row.models.map { ($0, row) } }, uniquingKeysWith: { first, _ in first })
    private static let bases = Set(rows.flatMap(\.languages).map(base) + ["xh", "zu"])

    /// Names of all models with their languages, in the order of the pages.
    static let models = rows.flatMap { row in row.models.map { (name: $0, languages: row.languages.sorted()) } }

    private static func base(_ language: String) -> String { String(language.prefix { $0 != "-" }) }

    /// Whether a name is one of the vendor's, the placeholder `custom`, or the id of a custom model.
    static func has(_ model: String) -> Bool {
        byModel[model] != nil || model == "custom" || isUUID(model)
    }

    private static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    static func isNova3(_ model: String?) -> Bool {
        model.map { $0 == "nova-3" || $0.hasPrefix("nova-3-") } ?? false
    }

    /// Whether the vendor offers a language with a model.
    enum Verdict: Hashable, Sendable {
        case offered
        /// The table has no such pair.
        case unknown
        case refused
    }

    /// - Parameter model: nil, or a name without a row, for a model that may have every language.
    static func verdict(on language: String, of model: String?) -> Verdict {
        let language = language.lowercased()
        let row = model.flatMap { byModel[$0] }
        guard row?.languages.contains(language) != true else { return .offered }
        guard language == "multi" || bases.contains(base(language)) else { return .refused }
        guard let row else { return .offered }
        return row.isEnglishOnly && base(language) != "en" ? .refused : .unknown
    }
}
