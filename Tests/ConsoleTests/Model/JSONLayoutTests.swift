import Basics
import Foundation
import Testing

@testable import Console

struct JSONLayoutTests {
    /// The text of markup, by scalars: a mark may join its neighbours.
    private static func plain(_ markup: String) -> String {
        let entities = [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
        let tags = ["k", "s", "w"].map { ("<span class=\"\($0)\">", "") } + [("</span>", "")]
        return (tags + entities).reduce(markup) {
            $0.replacingOccurrences(of: $1.0, with: $1.1, options: .literal)
        }
    }

    @Test("JSON is laid out with a line for each member, in the order and spelling in which it was sent")
    func order() throws {
        let text = #"{"b":1.50,"a":[true,null,{"x":"y, z"}],"b":{},"c":[ ] , "d":-2e3}"#
        let markup = try #require(JSONLayout.markup(of: text)).renderText
        let lines = """
            {
              "b": 1.50,
              "a": [
                true,
                null,
                {
                  "x": "y, z"
                }
              ],
              "b": {},
              "c": [],
              "d": -2e3
            }
            """
        #expect(Self.plain(markup) == lines)
        #expect(markup.contains(#"<span class="k">&quot;b&quot;</span>: <span class="w">1.50</span>"#))
        #expect(markup.contains(#"<span class="s">&quot;y, z&quot;</span>"#))
    }

    @Test("what a client sent stays text, with quotes, backslashes, brackets and joining marks")
    func escaping() throws {
        let text = #"{"<script>\"\\":"\"}<b>","ü\#u{301}<i>":"\#u{600}<img src=x>"}"#
        let markup = try #require(JSONLayout.markup(of: text)).renderText
        #expect(!markup.contains("<script") && !markup.contains("<img") && !markup.contains("<i>"))
        let shown = try JSONDecoder().decode([String: String].self, from: Data(Self.plain(markup).utf8))
        #expect(try shown == JSONDecoder().decode([String: String].self, from: Data(text.utf8)))
    }

    @Test(
        "a text that is no object or array in JSON is left as it is",
        arguments: ["", "  ", "{", "words", "\"text\"", "12", "{} {}", "[\"\\", "{\"a\":}"])
    func other(text: String) {
        #expect(JSONLayout.markup(of: text) == nil)
    }

    @Test("deep and wide bodies grow no faster than their size, and long ones are left as they are")
    func size() throws {
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(try #require(JSONLayout.markup(of: deep)).renderText.utf8.count < 60 * 100)
        let wide = "[" + String(repeating: "1,", count: 10_000) + "1]"
        #expect(try #require(JSONLayout.markup(of: wide)).renderText.utf8.count < 20 * wide.utf8.count)
        #expect(JSONLayout.markup(of: "[" + String(repeating: "1,", count: 20_000) + "1]") == nil)
    }
}
