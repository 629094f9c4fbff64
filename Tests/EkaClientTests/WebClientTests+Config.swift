import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

extension WebClientTests {
    @Test("the web SDK lists, adds, changes by PATCH and deletes a template", .covers("C-85", "C-88", "C-89"))
    func templates() async throws {
        try await WebClient.run { client in
            let path = "/voice/api/v1/template"
            let shipped = try await client.session.send(.get, path).texts("id", of: "items")
            #expect(shipped.contains("clinical_notes_template"))
            let created = try await client.session.send(
                .post, path, #"{"title":"Mine","desc":"First","section_ids":[],"type":"custom"}"#
            )
            #expect(created.isSuccess, "\(created.text)")
            #expect(try created["msg"].isEmpty == false)
            let id = try created["template_id"]
            let changed = try await client.session.send(.patch, "\(path)/\(id)", #"{"title":"Still mine"}"#)
            #expect(changed.status == 200, "\(changed.text)")
            #expect(try changed["template_id"] == id)
            let list = try await client.session.send(.get, path)
            #expect(list.texts("title", of: "items").contains("Still mine"))
            #expect(list.texts("desc", of: "items").contains("First"), "what PATCH does not name stays")
            let deleted = try await client.session.send(.delete, "\(path)/\(id)")
            #expect(deleted.status == 200)
            #expect(try deleted["msg"].isEmpty == false, "an object, for this SDK")
            #expect(try await client.session.send(.get, path).texts("id", of: "items") == shipped)
        }
    }

    @Test("a template that the web SDK has added shapes the note")
    func ownTemplate() async throws {
        try await WebClient.run { client in
            let section = try await client.session.send(
                .post, "/voice/api/v1/template/section",
                #"{"title":"What hurts","desc":"Complaints of the patient","format":"B"}"#
            )
            #expect(section.status == 201, "\(section.text)")
            let sectionID = try section["section_id"]
            let created = try await client.session.send(
                .post, "/voice/api/v1/template", #"{"title":"Mine","section_ids":["\#(sectionID)"]}"#
            )
            let templateID = try created["template_id"]
            try await client.record(id, templates: [templateID])
            let result = try #require(try await client.poll(id).success)
            #expect(try result["data.output.0.template_id"] == templateID)
            #expect(try result["data.output.0.status"] == "success")
            #expect(try result["data.output.0.value"].base64Text?.isEmpty == false)
        }
    }

    @Test("the web SDK lists, adds, changes and deletes sections, and changing a default section copies it")
    func sections() async throws {
        try await WebClient.run { client in
            let path = "/voice/api/v1/template/section"
            let created = try await client.session.send(.post, path, #"{"title":"Mine","desc":"d","format":"P"}"#)
            #expect(created.status == 201, "\(created.text)")
            #expect(try created["msg"].isEmpty == false)
            let mine = try created["section_id"]
            let changed = try await client.session.send(.patch, "\(path)/\(mine)", #"{"title":"Still mine"}"#)
            #expect(changed.status == 200)
            #expect(try changed["section_id"] == mine)
            #expect(try changed["action"] == "updated")
            let list = try await client.session.send(.get, path)
            #expect(list.status == 200)
            #expect(list.texts("title", of: "items").contains("Still mine"))
            let deleted = try await client.session.send(.delete, "\(path)/\(mine)")
            #expect(deleted.status == 200)
            #expect(try deleted["msg"].isEmpty == false)
            let shipped = try #require(list.list("items").first { $0["default"] == .bool(true) }?["id"]?.stringValue)
            let forked = try await client.session.send(.patch, "\(path)/\(shipped)", #"{"title":"Forked"}"#)
            #expect(try forked["action"] == "created_custom", "\(forked.text)")
            #expect(try forked["section_id"] != shipped)
        }
    }

    @Test("the web SDK reads a flat configuration, at the path with a slash", .covers("C-91", "C-95"))
    func config() async throws {
        try await WebClient.run { client in
            let config = try await client.session.send(.get, "/voice/api/v2/config/")
            #expect(config.status == 200)
            #expect(config.texts("id", of: "data", "consultation_modes") == ["consultation", "dictation"])
            #expect(config.texts("id", of: "data", "supported_languages").contains("en-IN"))
            #expect(try config["data.selected_preferences.model_type"].isEmpty == false)
            #expect(try config["data.selected_preferences.consultation_mode"].isEmpty == false)
            #expect(try config["data.user_details.uuid"] == "u-demo")
        }
    }

    @Test(
        "the web SDK lists favourites in the plural, and saving favourites keeps every other setting",
        .covers("C-93", "C-97"))
    func favourites() async throws {
        try await WebClient.run { client in
            let path = "/voice/api/v2/config/"
            for data in [#"{"auto_download":true,"clinic_name":"Demo"}"#, #"{"my_templates":["soap"]}"#] {
                let saved = try await client.session.send(.put, path, #"{"request_type":"user","data":\#(data)}"#)
                #expect(saved.status == 200, "\(saved.text)")
                #expect(try saved["message"].isEmpty == false)
            }
            let favourites = try await client.session.send(.get, "\(path)?my_templates=true")
            #expect(favourites.texts("id", of: "data", "my_templates") == ["soap"])
            #expect(try favourites["data.my_templates.0.name"] == "SOAP Note")
            let config = try await client.session.send(.get, path)
            #expect(config.json["data"]?["selected_preferences"]?["auto_download"] == .bool(true))
            #expect(config.texts("id", of: "data", "my_templates") == ["soap"])
        }
    }

    @Test("the web SDK stores a picture of 3 MB in the configuration, and null removes it")
    func picture() async throws {
        try await WebClient.run { client in
            let path = "/voice/api/v2/config/"
            let picture = String(repeating: "A", count: 3 << 20)
            let kept = try await client.session.send(.put, path, #"{"data":{"header":{"image":"\#(picture)"}}}"#)
            #expect(kept.isSuccess)
            #expect(try await client.session.send(.get, path)["data.header.image"] == picture)
            let more = String(repeating: "A", count: 6 << 20)
            let full = try await client.session.send(.put, path, #"{"data":{"footer":{"image":"\#(more)"}}}"#)
            #expect(full.status == 413, "together they are too large")
            _ = try await client.session.send(.put, path, #"{"data":{"header":null,"consultation_mode":null}}"#)
            #expect(try await !client.session.send(.get, path).has("data.header.image"))
        }
    }

    @Test(
        "the configuration route tells the web SDK the time of a zone, by either of the zone's names",
        arguments: ["Asia/Kolkata", "Asia/Calcutta", "Japan", "EST5EDT"])
    func timeZone(zone: String) async throws {
        try await WebClient.run { client in
            let answer = try await client.session.send(.get, "/voice/api/v2/config/?timezone=\(zone)")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer["timezone"] == zone)
            #expect(answer.json["current_time_utc"] != nil)
            #expect(answer.json["timestamp"] != nil)
            for unknown in ["Mars/Olympus", "GMT%2B0530", "x"] {
                let answer = try await client.session.send(.get, "/voice/api/v2/config/?timezone=\(unknown)")
                #expect(answer.status == 400, "\(unknown)")
            }
        }
    }

    @Test(
        "a preflight allows every method and header that the web SDK sends from another origin", .covers("C-110"),
        arguments: [
            ("GET", "/voice/api/v3/status/t"), ("POST", "/voice/api/v2/transaction/init/t"),
            ("PATCH", "/voice/api/v3/status/t"), ("PUT", "/voice/api/v2/config/"),
            ("DELETE", "/voice/api/v2/transaction/t"), ("POST", "/v1/file-upload"), ("GET", "/voice/api/v1/s3-token/"),
        ]
    )
    func preflight(method: String, path: String) async throws {
        try await WebClient.run { client in
            let answer = try await client.session.server.send(
                .options, path, host: "api.eka.care",
                headers: HTTPFields([
                    ("Origin", WebClient.origin), ("Access-Control-Request-Method", method),
                    ("Access-Control-Request-Headers", "auth,authorization,client-id,content-type,flavour"),
                ])
            )
            #expect(answer.isSuccess)
            #expect(answer.cors("allow-origin") == WebClient.origin)
            #expect(answer.cors("allow-credentials") == "true")
            #expect(answer.cors("allow-methods")?.contains(method) == true)
            let allowed = answer.cors("allow-headers")?.lowercased().split { ", ".contains($0) } ?? []
            #expect(
                Set<Substring>(["auth", "authorization", "client-id", "content-type", "flavour"]).isSubset(of: allowed))
        }
    }

    @Test("every answer to the web SDK allows its page to read it, refusals included", .covers("C-110"))
    func readable() async throws {
        try await WebClient.run { client in
            for path in ["/voice/api/v2/transaction/history", "/voice/api/v3/status/unknown", "/voice/api/v9"] {
                let answer = try await client.session.send(.get, path)
                #expect(answer.cors("allow-origin") == WebClient.origin)
                #expect(answer.cors("allow-credentials") == "true")
            }
            client.session.clock.advance(by: .seconds(86_401))
            let answer = try await client.session.send(.get, "/voice/api/v2/transaction/history")
            #expect(answer.status == 401)
            #expect(answer.cors("allow-origin") == WebClient.origin)
        }
    }

    @Test("a browser may upload to the bucket, and read the ETag", .covers("C-110"))
    func uploadFromBrowser() async throws {
        try await WebClient.run { client in
            let signer = try await client.signer()
            let preflight = try await client.session.server.send(
                .options, "/260510/t/1.mp3", host: signer.host,
                headers: HTTPFields([
                    ("Origin", WebClient.origin), ("Access-Control-Request-Method", "PUT"),
                    (
                        "Access-Control-Request-Headers",
                        "authorization,content-type,x-amz-content-sha256,x-amz-date,x-amz-meta-bid,x-amz-security-token"
                    ),
                ])
            )
            #expect(preflight.isSuccess, "\(preflight.status)")
            #expect(["*", WebClient.origin].contains(preflight.cors("allow-origin")))
            #expect(preflight.cors("allow-methods")?.contains("PUT") == true)
            let allowed = preflight.cors("allow-headers")?.lowercased() ?? ""
            let sent = ["authorization", "content-type", "x-amz-date", "x-amz-security-token", "x-amz-meta-bid"]
            #expect(sent.filter { !allowed.contains($0) }.isEmpty, "\(allowed)")
            let stored = try await client.upload("1.mp3", of: "t", with: signer)
            #expect(["*", WebClient.origin].contains(stored.cors("allow-origin")))
            #expect(stored.cors("expose-headers")?.lowercased().contains("etag") == true)
        }
    }
}

extension TestAnswer {
    /// The header `Access-Control-…` of that name.
    fileprivate func cors(_ name: String) -> String? {
        HTTPField.Name("access-control-\(name)").flatMap { headers[$0] }
    }
}
