// swift-format-ignore-file
// Declarations of EkaScribe's iOS SDK, as its README names them.
public protocol EkaScribeTokenStorage: AnyObject {
    func getAccessToken() -> String?
    func getRefreshToken() -> String?
    func saveTokens(accessToken: String, refreshToken: String)
    func onSessionExpired()
}

public protocol EkaScribeDelegate: AnyObject {
    func scribe(_ scribe: EkaScribe, didStartSession sessionId: String)
    func scribe(_ scribe: EkaScribe, didPauseSession sessionId: String)
    func scribe(_ scribe: EkaScribe, didResumeSession sessionId: String)
    func scribe(_ scribe: EkaScribe, didStopSession sessionId: String, chunkCount: Int)
    func scribe(_ scribe: EkaScribe, didFailWithError error: ScribeError)
    func scribe(_ scribe: EkaScribe, didCompleteSession sessionId: String, result: SessionResult)
}

public struct ScribeError: Error {
    public let code: String
    public let message: String
}
public struct SessionResult { public let templates: [TemplateResult] }
public struct TemplateResult {
    public let title: String?
    public let sections: [SectionResult]
}
public struct SectionResult {
    public let title: String?
    public let value: String?
}
public enum EkaScribeEnvironment { case production, staging, dev }
public struct ScribeClientInfo { public init(clientId: String, flavour: String = "ScribeIOS") {} }
public struct OutputTemplate {
    public init(templateId: String, templateType: String = "custom", templateName: String? = nil) {}
}
public struct PatientDetail {
    public init(
        age: Int? = nil, biologicalSex: String? = nil, name: String? = nil, patientId: String? = nil,
        visitId: String? = nil
    ) {}
}
public struct EkaScribeConfig {
    public init(
        environment: EkaScribeEnvironment = .production, clientInfo: ScribeClientInfo,
        tokenStorage: any EkaScribeTokenStorage, enableAnalyser: Bool = true, debugMode: Bool = false,
        fullAudioOutput: Bool = false
    ) {}
}
public struct SessionConfig {
    public init(
        languages: [String], mode: String, modelType: String, outputTemplates: [OutputTemplate]? = nil,
        patientDetails: PatientDetail? = nil, section: String? = nil, speciality: String? = nil
    ) {}
}
public final class EkaScribe: Sendable {
    public static let shared = EkaScribe()
    public func initialize(config: EkaScribeConfig, delegate: any EkaScribeDelegate) throws {}
    public func startSession(
        config: SessionConfig, onStart: @escaping (String) -> Void, onError: @escaping (ScribeError) -> Void
    ) async throws {}
    public func stopSession() {}
}
