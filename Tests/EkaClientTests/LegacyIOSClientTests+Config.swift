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

extension LegacyIOSClient {
    func templates() async throws -> [LegacyIOS.Templates.Template] {
        try await session.send(.get, "/voice/api/v1/template").decoded(as: LegacyIOS.Templates.self, status: 200).items
    }

    /// With a slash at the end, which must not be redirected.
    func config() async throws -> LegacyIOS.Config.Payload {
        try await session.send(.get, "/voice/api/v2/config/").decoded(as: LegacyIOS.Config.self, status: 200).data
    }

    /// What was saved is acknowledged with a text, not with an object.
    func save(_ data: String) async throws -> String {
        let answer = try await session.send(
            .put, "/voice/api/v2/config/", #"{"request_type":"user","data":\#(data)}"#
        )
        return try answer.decoded(status: 200)
    }
}

extension LegacyIOSClientTests {
    @Test(
        "the older iOS SDK lists, adds, changes by PUT and deletes a template",
        .covers("C-45", "C-85", "C-87", "C-88", "C-89")
    )
    func templates() async throws {
        try await LegacyIOSClient.run { client in
            let shipped = try await client.templates()
            #expect(shipped.contains { $0.id == "clinical_notes_template" && $0.default })
            let created: LegacyIOS.TemplateChange = try await client.session.send(
                .post, "/voice/api/v1/template", #"{"title":"Mine","desc":"First","section_ids":[]}"#
            ).decoded(status: 201)
            #expect(!created.msg.isEmpty)
            let mine = try #require(try await client.templates().first { $0.id == created.templateId })
            #expect(mine.title == "Mine")
            #expect(!mine.default)
            let path = "/voice/api/v1/template/\(created.templateId)"
            let changed: LegacyIOS.TemplateChange = try await client.session.send(
                .put, path, #"{"title":"Still mine","desc":"Second","section_ids":[]}"#
            ).decoded(status: 200)
            #expect(changed.templateId == created.templateId)
            #expect(try await client.templates().first { $0.id == created.templateId }?.title == "Still mine")
            let deleted: String = try await client.session.send(.delete, path).decoded(status: 200)
            #expect(!deleted.isEmpty)
            #expect(try await client.templates().map(\.id) == shipped.map(\.id))
        }
    }

    @Test("the older iOS SDK decodes a flat configuration with every field that it requires", .covers("C-91", "C-95"))
    func config() async throws {
        try await LegacyIOSClient.run { client in
            let config = try await client.config()
            #expect(config.consultationModes.map(\.id) == ["consultation", "dictation"])
            #expect(config.supportedLanguages.contains { $0.id == "en-IN" })
            #expect(config.maxSelection["supported_languages"] == 2)
            #expect(config.userDetails?.uuid == "u-demo")
            #expect(config.userDetails?.oid == "o-demo")
            #expect(config.userDetails?.businessID == "b-demo")
            #expect(config.selectedPreferences?.modelType != nil)
        }
    }

    @Test(
        "the older iOS SDK saves favourites, reads a text as the answer, and keeps its preferences",
        .covers("C-45", "C-93", "C-96"), arguments: ["io", "ip", "iOS-scribe", "iPad-scribe", "mac-scribe"]
    )
    func favourites(flavour: String) async throws {
        try await LegacyIOSClient.run(flavour: flavour) { client in
            #expect(try await client.save(#"{"model_type":"lite"}"#).isEmpty == false)
            #expect(try await client.save(#"{"my_templates":["soap"]}"#).isEmpty == false)
            let favourites = try await client.session.send(.get, "/voice/api/v2/config/?my_template=true")
            let items = try favourites.decoded(as: LegacyIOS.Templates.self, status: 200).items
            #expect(items.map(\.id) == ["soap"])
            let config = try await client.config()
            #expect(config.myTemplates?.map(\.id) == ["soap"])
            #expect(config.selectedPreferences?.modelType == "lite")
            #expect(try await client.templates().filter { $0.isFavorite == true }.map(\.id) == ["soap"])
        }
    }

    @Test("the older iOS SDK decodes the answer to an edit, and reads the edited text back", .covers("C-102", "C-104"))
    func edit() async throws {
        try await LegacyIOSClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id)
            let acknowledged: LegacyIOS.Acknowledgement = try await client.session.send(
                .patch, "/voice/api/v3/status/\(id)",
                #"[{"template-id":"clinical_notes_template","data":"\#("# Edited".base64)"}]"#
            ).decoded(status: 200)
            #expect(acknowledged.status == "success")
            #expect(acknowledged.txnId == id)
            #expect(acknowledged.bId == "b-demo")
            let result: LegacyIOS.Result = try await client.status(id).decoded()
            #expect(result.items?.first?.value == "# Edited".base64)
        }
    }

    @Test(
        "the older iOS SDK reads a converted note from the first answer after the conversion", .covers("C-105", "C-106")
    )
    func convert() async throws {
        try await LegacyIOSClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id)
            let path = "/voice/api/v1/transaction/\(id)/convert-to-template/soap"
            let conversion: LegacyIOS.Conversion = try await client.session.send(.post, path).decoded()
            #expect(conversion.templateId == "soap")
            #expect(conversion.txnId == id)
            #expect(conversion.bId == "b-demo")
            let result: LegacyIOS.Result = try await client.status(id).decoded(status: 200)
            let note = try #require(result.items?.first { $0.templateId == "soap" })
            #expect(note.status == "success")
            #expect(note.value?.base64Text?.contains("fever") == true)
        }
    }

    @Test("the older iOS SDK decodes the history with its dates", .covers("C-98", "C-99", "C-100"))
    func history() async throws {
        try await LegacyIOSClient.run { client in
            let path = "/voice/api/v2/transaction/history?count=50"
            let none: LegacyIOS.History = try await client.session.send(.get, path).decoded(status: 200)
            #expect(none.data.isEmpty)
            _ = try await client.start(id)
            let history: LegacyIOS.History = try await client.session.send(.get, path).decoded(status: 200)
            #expect(history.status == .success)
            let row = try #require(history.data.first)
            #expect(row.txnId == id, "in upper case, as it was sent")
            #expect(row.flavour == "io")
            #expect(row.userStatus == "init")
            #expect(row.patientDetails?.age == 45)
            let date = try? Date(try #require(row.createdAt), strategy: .iso8601)
            #expect(date == client.session.clock.now, "without fractions of a second")
        }
    }
}
