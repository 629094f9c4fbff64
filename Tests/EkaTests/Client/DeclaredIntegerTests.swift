import Basics
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

struct DeclaredIntegerTests {
    @Test(
        "Android's answers leave out an integer beyond 32 bits in each field that its SDK declares as Int",
        .covers("C-121"), arguments: ClientProfile.named)
    func canDecode(profile: ClientProfile) {
        for value in [Int64(Int32.max) + 1, Int64(Int32.min) - 1, .max, .min] {
            #expect(profile.canDecode(value) == (profile != .android), "\(profile.name): \(value)")
        }
        for value in [0, 45, Int64(Int32.max), Int64(Int32.min)] {
            #expect(profile.canDecode(value), "\(profile.name): \(value)")
        }
    }

    @Test(
        "an age beyond 32 bits is in every client's history but Android's, and hides no other transaction",
        .covers("C-121"))
    func history() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let wide = #","patient_details":{"username":"Asha","age":3000000000}"#
            #expect(try await client.initialise("wide", wide, headers: [.flavour: "android"]).status == 201)
            _ = try await client.initialise("usual", #","patient_details":{"age":45}"#)
            for (flavour, age) in [
                ("android", nil), ("scribe-android", nil), ("ScribeIOS", 3_000_000_000), ("io", 3_000_000_000),
                ("web", 3_000_000_000),
            ] as [(String, Int64?)] {
                let answer = try await client.get(
                    "/voice/api/v2/transaction/history", headers: [.flavour: flavour])
                guard case .array(let rows)? = answer.json["data"] else {
                    Issue.record("no rows")
                    return
                }
                let ages = Dictionary(
                    uniqueKeysWithValues: rows.map {
                        ($0["txn_id"]?.stringValue ?? "", $0["patient_details"]?["age"])
                    })
                #expect(ages == ["usual": .integer(45), "wide": age.map(JSONValue.integer)], "\(flavour)")
            }
        }
    }
}
