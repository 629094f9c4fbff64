import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

extension IOSClient {
    func templates() async throws -> [IOS.Templates.Template] {
        let answer = try await session.send(.get, "/voice/api/v1/template")
        return try Self.decode(answer, as: IOS.Templates.self).shown
    }

    func config() async throws -> IOS.Config.Payload {
        let answer = try await session.send(.get, "/voice/api/v2/config")
        return try #require(Self.decode(answer, as: IOS.Config.self).data, "Invalid user config payload")
    }

    func saveFavourites(_ ids: [String]) async throws {
        let list = ids.map { "\"\($0)\"" }.joined(separator: ",")
        try await save(#"{"my_templates":[\#(list)]}"#)
    }

    func savePreferences() async throws {
        try await save(
            #"""
            {"consultation_mode":"dictation","input_languages":[{"id":"hi","name":"Hindi"}],"model_type":"lite",
             "output_format_template":[{"id":"soap","name":"SOAP Note"}]}
            """#
        )
    }

    private func save(_ data: String) async throws {
        let answer = try await session.send(
            .put, "/voice/api/v2/config", #"{"request_type":"user","data":\#(data)}"#
        )
        _ = try Self.decode(answer, as: IOS.ConfigUpdate.self)
    }
}

extension IOSClientTests {
    @Test("the iOS SDK reads templates from the fields that it expects", .covers("C-86", "C-87"))
    func templates() async throws {
        try await IOSClient.run { client in
            let templates = try await client.templates()
            let ids = templates.compactMap(\.id)
            #expect(ids.contains("clinical_notes_template"))
            #expect(ids.contains("eka_emr_template"))
            #expect(ids.contains("transcript_template"))
            #expect(templates.allSatisfy { $0.default }, "all that are shipped")
        }
    }

    @Test("the iOS SDK reads a nested configuration, at the path without a slash", .covers("C-90", "C-95"))
    func config() async throws {
        try await IOSClient.run { client in
            let config = try await client.config()
            #expect(config.consultationModes.items.map(\.id) == ["consultation", "dictation"])
            #expect(config.consultationModes.items.allSatisfy { $0.name != nil && $0.desc != nil })
            #expect(config.consultationModes.maxSelection == 1)
            #expect(config.supportedLanguages.items.contains { $0.id == "en-IN" && $0.name != nil })
            #expect(config.supportedLanguages.maxSelection == 2)
            #expect(config.supportedOutputFormats.items.contains { $0.id == "clinical_notes_template" })
            #expect(config.supportedOutputFormats.maxSelection == 2)
            #expect(Set(config.modelConfigs.items.compactMap(\.id)) == ["pro", "lite"])
            #expect(config.selectedPreferences != nil)
        }
    }

    @Test(
        "the iOS SDK saves favourites and preferences one by one, and neither overwrites the other",
        .covers("C-90", "C-93"))
    func preferences() async throws {
        try await IOSClient.run { client in
            try await client.saveFavourites(["soap", "clinical_notes_template"])
            try await client.savePreferences()
            func check() async throws {
                let favourites = try await client.templates().filter { $0.isFavorite == true }.compactMap(\.id)
                #expect(Set(favourites) == ["soap", "clinical_notes_template"])
                let chosen = try #require(try await client.config().selectedPreferences)
                #expect(chosen.consultationMode?.id == "dictation")
                #expect(chosen.consultationMode?.name?.isEmpty == false)
                #expect(chosen.modelType?.id == "lite")
                #expect(chosen.languages?.map(\.id) == ["hi"])
                #expect(chosen.outputFormats?.map(\.id) == ["soap"])
            }
            try await check()
            try await client.saveFavourites(["soap", "clinical_notes_template"])
            try await check()
            try await client.saveFavourites([])
            #expect(try await client.templates().contains { $0.isFavorite == true } == false)
            #expect(try await client.config().selectedPreferences?.modelType?.id == "lite")
        }
    }
}
