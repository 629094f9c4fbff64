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

extension AndroidClient {
    func config() async throws -> Android.Config.Payload {
        let answer = try await session.send(.get, "/voice/api/v2/config")
        return try #require(answer.decoded(as: Android.Config.self, status: 200).data)
    }

    func templates() async throws -> [Android.Templates.Template] {
        try await session.send(.get, "/voice/api/v1/template").decoded(as: Android.Templates.self, status: 200).shown
    }

    func save(_ data: String) async throws -> Android.ConfigUpdate {
        try await session.send(.put, "/voice/api/v2/config", #"{"data":\#(data),"request_type":"user"}"#)
            .decoded(status: 200)
    }
}

extension AndroidClientTests {
    @Test("the Android SDK reads templates from a list of items", .covers("C-85"))
    func templates() async throws {
        try await AndroidClient.run { client in
            let templates = try await client.templates()
            #expect(templates.contains { $0.id == "clinical_notes_template" && $0.title == "Clinical Notes" })
        }
    }

    @Test(
        "the Android SDK reads a flat configuration with preferences as words and the favourites",
        .covers("C-91", "C-92", "C-95"))
    func config() async throws {
        try await AndroidClient.run { client in
            let config = try await client.config()
            #expect(config.consultationModes?.map(\.id) == ["consultation", "dictation"])
            #expect(config.supportedLanguages?.contains { $0.id == "en-IN" } == true)
            #expect(config.supportedOutputFormats?.isEmpty == false)
            #expect(config.maxSelection?.supportedLanguages == 2)
            #expect(config.maxSelection?.supportedOutputFormats == 2)
            #expect(config.maxSelection?.consultationModes == 1)
            #expect(config.myTemplates?.isEmpty == false, "or no output template is offered")
            #expect(config.myTemplates?.allSatisfy { $0.id != nil && $0.name != nil } == true)
            let mode = try #require(config.selectedPreferences?.consultationMode)
            #expect(config.consultationModes?.contains { $0.id == mode } == true)
        }
    }

    @Test(
        "the Android SDK saves favourites and preferences one by one, and reads an object as the answer",
        .covers("C-93", "C-94"))
    func preferences() async throws {
        try await AndroidClient.run { client in
            let favourites = try await client.save(#"{"my_templates":["soap","eka_emr_template"]}"#)
            #expect(favourites.result?.action == "updated")
            #expect(favourites.result?.bId == "b-demo")
            #expect(favourites.message?.isEmpty == false)
            let preferences = try await client.save(
                #"""
                {"consultation_mode":"dictation","input_languages":[{"id":"hi","name":"Hindi"}],"model_type":"lite",
                 "output_format_template":[{"id":"soap","name":"SOAP Note","template_type":"custom"}]}
                """#
            )
            #expect(preferences.result != nil)
            let config = try await client.config()
            #expect(config.myTemplates?.compactMap(\.id).sorted() == ["eka_emr_template", "soap"])
            #expect(config.selectedPreferences?.consultationMode == "dictation")
            #expect(config.selectedPreferences?.modelType == "lite")
            #expect(config.selectedPreferences?.languages?.map(\.id) == ["hi"])
            #expect(config.selectedPreferences?.outputFormats?.map(\.id) == ["soap"])
            let templates = try await client.templates()
            #expect(Set(templates.filter { $0.isFavorite == true }.compactMap(\.id)) == ["soap", "eka_emr_template"])
        }
    }

    @Test("the Android SDK reads an edited document back as it was sent", .covers("C-102", "C-103"))
    func edit() async throws {
        try await AndroidClient.run { client in
            try await client.record(id)
            let result = try #require(try await client.poll(id, "").ready)
            let document = try #require(result.notes.first?.documentID)
            let answer = try await client.session.send(
                .patch, "/voice/api/v3/status/\(id)",
                #"[{"data":"\#("# Edited".base64)","document-id":"\#(document)"}]"#
            )
            #expect(try answer.decoded(as: Android.Acknowledgement.self, status: 200).status == "success")
            let edited = try #require(try await client.poll(id, "").ready)
            #expect(edited.notes.first?.documentID == document)
            #expect(edited.notes.first?.sections.first?.value == "# Edited")
        }
    }

    @Test(
        "the Android SDK converts without a body, and its next poll has the converted document",
        .covers("C-36", "C-103", "C-107"))
    func convert() async throws {
        try await AndroidClient.run { client in
            try await client.record(id)
            _ = try await client.poll(id, "")
            let path = "/voice/api/v1/transaction/\(id)/convert-to-template/eka_emr_template"
            let answer = try await client.session.send(.post, path)
            let conversion = try answer.decoded(as: Android.Conversion.self)
            #expect(answer.isSuccess)
            #expect(conversion.status == "success")
            let result = try #require(try await client.poll(id, "?template_id=eka_emr_template").ready, "no note")
            #expect(result.notes.map(\.documentID) == [conversion.documentId])
        }
    }

    @Test("a refused conversion has its reason where the Android SDK reads it")
    func refusedConversion() async throws {
        try await AndroidClient.run { client in
            let path = "/voice/api/v1/transaction/a-unknown/convert-to-template/soap"
            let answer = try await client.session.send(.post, path)
            #expect(!answer.isSuccess)
            #expect(try answer.decoded(as: Android.Refusal.self).error?.displayMessage?.isEmpty == false)
        }
    }

    @Test("the Android SDK decodes the history, with integer ages", .covers("C-99", "C-101"))
    func history() async throws {
        try await AndroidClient.run { client in
            _ = try await client.start(id)
            for query in ["", "?count=5"] {
                let answer = try await client.session.send(.get, "/voice/api/v2/transaction/history\(query)")
                let history = try answer.decoded(as: Android.History.self, status: 200)
                #expect(history.data?.first?.patientDetails?.age == 45)
                #expect(history.data?.first?.flavour == "android")
            }
        }
    }

    @Test(
        "the Android SDK decodes a history in which an age needs more than 32 bits, without that age", .covers("C-121"))
    func wideAge() async throws {
        try await AndroidClient.run { client in
            _ = try await client.start(id)
            _ = try await client.start("a-2", age: 1 << 31)
            let answer = try await client.session.send(.get, "/voice/api/v2/transaction/history")
            let history = try answer.decoded(as: Android.History.self, status: 200)
            #expect(Set(history.data?.map(\.patientDetails?.age) ?? []) == [45, nil])
            #expect(history.data?.allSatisfy { $0.patientDetails?.username == "Asha" } == true)
        }
    }

    @Test("the Android SDK sends no token to a host outside eka.care, and only open mode accepts that", .covers("C-80"))
    func otherHost() async throws {
        for (mode, status) in [(AuthMode.lenient, 401), (.open, 201)] {
            var server = try TestServer()
            server.configuration.authMode = mode
            let clock = server.manual
            try await server.run(.socket) { anonymous in
                let client = try await AndroidClient(anonymous, clock, host: "10.0.2.2:8080")
                let answer = try await client.start(id)
                #expect(answer.status == status)
                #expect(answer.optional("b_id") == (status == 201 ? "b-demo" : nil))
            }
        }
    }

    @Test(
        "the Android SDK refreshes an expired access token once and repeats the request",
        .covers("C-81", "C-82", "C-83"))
    func refresh() async throws {
        try await AndroidClient.run { client in
            client.session.clock.advance(by: .seconds(86_401))
            let answer = try await client.start(id)
            #expect(answer.isSuccess)
            #expect(client.session.refreshCount.value == 1)
        }
    }

    @Test("the Android SDK repeats an upload with new credentials after the old ones have expired", .covers("C-75"))
    func expiredCredentials() async throws {
        try await AndroidClient.run { client in
            _ = try await client.start(id)
            let keys = try await client.credentials()
            client.session.clock.advance(by: .seconds(43_201))
            let refused = try await client.upload("1.mp3", of: id, with: keys)
            #expect(refused.status == 400)
            #expect(refused.xml("Code") == "ExpiredToken")
            let stored = try await client.upload("1.mp3", of: id, with: client.credentials())
            #expect(stored.status == 200)
        }
    }
}
