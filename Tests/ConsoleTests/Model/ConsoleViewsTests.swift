import Testing

@testable import Console

struct ConsoleViewsTests {
    @Test("each template that another one includes is part of the program")
    func partials() throws {
        let files = ConsoleViews.files
        var included = 0
        for (name, bytes) in files where name.hasSuffix(".mustache") {
            for match in String(decoding: bytes, as: UTF8.self).matches(of: /\{\{>\s*([a-z]+)\}\}/) {
                included += 1
                #expect(files["\(match.1).mustache"] != nil, "\(name) includes \(match.1)")
            }
        }
        #expect(included > 5)
    }

    @Test("scripts and pictures that pages refer to are part of the program")
    func assets() {
        let files = ConsoleViews.files
        for (name, bytes) in files where name.hasSuffix(".mustache") {
            for match in String(decoding: bytes, as: UTF8.self).matches(
                of: /(?:root\}\}|__console)\/([a-z]+\.(?:js|css|svg))/)
            {
                #expect(files[String(match.1)] != nil, "\(name) refers to \(match.1)")
            }
        }
    }

    @Test("style sheet, scripts and templates stay below 160 KB")
    func size() {
        #expect(ConsoleViews.files.values.reduce(0) { $0 + $1.count } < 160_000)
    }
}
