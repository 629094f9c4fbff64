import Testing

@testable import ScribeHTTP

struct NearestRouteTests {
    private let nearest = NearestRoute(
        [
            ("POST", "/voice/api/v2/transaction/init/{txn_id}"), ("GET", "/voice/api/v2/transaction/history"),
            ("PATCH", "/voice/api/v2/transaction/{txn_id}"), ("POST", "/connect-auth/v1/account/login"),
            ("GET", "/__admin/transactions/{txn_id}"), ("HEAD", "/livez"), ("GET", "/livez"), ("GET", "/v1/listen"),
            ("POST", "/v1/listen"),
        ].map { (method: $0.0, path: $0.1.split(separator: "/")) })

    @Test(
        "a wrong base path, a wrong letter and a wrong method lead to the operation that was meant",
        arguments: [
            ("POST", "/v2/transaction/init/t-1", "POST /voice/api/v2/transaction/init/{txn_id}"),
            ("POST", "/proxy/voice/api/v2/transaction/init/t-1", "POST /voice/api/v2/transaction/init/{txn_id}"),
            ("POST", "/voice/api/v2/transaction/inti/t-1", "POST /voice/api/v2/transaction/init/{txn_id}"),
            ("POST", "/account/login", "POST /connect-auth/v1/account/login"),
            ("GET", "/livezz", "GET /livez"), ("DELETE", "/v1/listen", "GET /v1/listen"),
            ("POST", "/v1/listens", "POST /v1/listen"),
        ])
    func found(method: String, path: String, expected: String) throws {
        let match = try #require(nearest.match(method, path.split(separator: "/")))
        #expect("\(match.method) \(match.path)" == expected)
    }

    @Test("a route of operators is near to paths of operators only")
    func operators() throws {
        #expect(nearest.match("GET", ["__admin", "transactionz", "t"])?.path == "/__admin/transactions/{txn_id}")
        #expect(nearest.match("GET", ["voice", "transactions", "t"])?.path == "/voice/api/v2/transaction/{txn_id}")
    }

    @Test("a path that equals a route is an exact match, whatever the method")
    func exact() throws {
        #expect(try #require(nearest.match("DELETE", ["voice", "api", "v2", "transaction", "init", "t"])).isExact)
        #expect(try !#require(nearest.match("POST", ["voice", "api", "v2", "transaction", "inti", "t"])).isExact)
    }

    @Test("a path that has nothing in common with any route has no nearest route", arguments: ["/", "/x", "/wp-admin"])
    func none(path: String) {
        #expect(nearest.match("GET", path.split(separator: "/")) == nil)
    }

    @Test(
        "a log may show a path's route words and one mistyped word, and no word that may be an id or a name",
        arguments: [
            ("/voice/api/v2/transactoin/init/asha", "/voice/api/v2/transactoin/init/…"),
            ("/voice/api/v2/transaction/inti/asha", "/voice/api/v2/transaction/…/…"),
            ("/voice/api/v2/transaction/init/t-1/asha", "/voice/api/v2/transaction/init/…/…"),
            ("/v2/transaction/init/t-1", "/v2/transaction/init/…"), ("/asha/rao/listen", "/asha/…/listen"),
        ])
    func showable(path: String, expected: String) {
        let words = path.split(separator: "/")
        let shown = zip(words, nearest.showable(words, mayHoldKey: false)).map { $1 ? String($0) : "…" }
        #expect("/" + shown.joined(separator: "/") == expected)
    }

    @Test("a log shows no mistyped word behind the first in a path that may hold an object's key")
    func keys() {
        #expect(nearest.showable(["v1", "asha", "listen"], mayHoldKey: true) == [true, false, true])
        #expect(nearest.showable(["asha", "v1"], mayHoldKey: true) == [true, true])
    }

    @Test("the search for the nearest route compares at most ten words of 24 bytes")
    func bounded() {
        let path = Array(repeating: String(repeating: "a", count: 5000)[...], count: 1000)
        #expect(nearest.match("GET", path) == nil)
        #expect(nearest.match("GET", ["livez"] + path)?.path == "/livez")
    }
}
