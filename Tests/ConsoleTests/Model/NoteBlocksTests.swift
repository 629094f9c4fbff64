import FoundationEssentials
import ScribeDomain
import Testing

@testable import Console
@testable import Engines

/// Notes of each format, as the console shows them.
struct NoteBlocksTests {
    private typealias Block = NoteBlocks.Block

    private static func list(_ items: String...) -> Block { Block(items: items.map { .init(text: $0) }) }

    @Test("a note is split into headings, paragraphs and lists, and no text is lost")
    func markdown() {
        let blocks = NoteBlocks.blocks(of: "# Note\n\n## Plan\n- rest\n* water\nCome back.\n#hashtag\n- last")
        #expect(
            blocks == [
                Block(heading: "Note"), Block(heading: "Plan"), Self.list("rest", "water"), Block(text: "Come back."),
                Block(text: "#hashtag"), Self.list("last"),
            ])
        #expect(NoteBlocks.blocks(of: "").isEmpty)
    }

    @Test("sections in JSON are shown as sections, with lists and paragraphs in them")
    func sections() {
        let note = #"[{"title":"Plan","value":"- rest\n- water"},{"title":"History","value":"None."},"loose"]"#
        #expect(
            NoteBlocks.blocks(of: note, .json) == [
                Block(heading: "Plan"), Self.list("rest", "water"), Block(heading: "History"), Block(text: "None."),
                Self.list("loose"),
            ])
    }

    @Test("a medical record is shown in the order of its template, with the details of each entry")
    func record() {
        let note = """
            {"prescription":{"plan":[{"name":"Rest"}],"medications":[
            {"name":"Paracetamol","dose":"650 mg","frequency":"three times a day"}],"vitalSigns":{"pulse":72,"note":null}}}
            """
        #expect(
            NoteBlocks.blocks(of: note, .ekaEMR, order: ["medications", "plan"]) == [
                Block(heading: "Medications"),
                Block(items: [.init(text: "Paracetamol", detail: "dose 650 mg, frequency three times a day")]),
                Block(heading: "Plan"), Self.list("Rest"), Block(heading: "Vital signs"),
                Block(subheading: "Pulse"), Block(text: "72"),
            ])
    }

    @Test("a FHIR document is shown by its sections, and a transcript or broken JSON has no form")
    func others() async throws {
        let div = #"<div xmlns=\"http://www.w3.org/1999/xhtml\"><ul><li>a &lt;b&gt; &amp;amp;</li></ul><p>c</p></div>"#
        let bundle = """
            {"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Composition","section":[
            {"title":"Plan","text":{"div":"\(div)"}}]}}]}
            """
        #expect(
            NoteBlocks.blocks(of: bundle, .fhir) == [
                Block(heading: "Plan"), Self.list("a <b> &amp;"), Block(text: "c"),
            ])
        #expect(NoteBlocks.blocks(of: "Doctor: - hello", .transcript) == nil)
        for text in ["", "{", "7", "no JSON", "[]", "{}"] { #expect(NoteBlocks.blocks(of: text, .json) == nil) }
    }

    @Test("hostile JSON costs bounded work and blocks")
    func hostile() throws {
        let deep = String(repeating: #"{"a":{"b":"#, count: 200) + "1" + String(repeating: "}}", count: 200)
        #expect((NoteBlocks.blocks(of: deep, .json) ?? []).count < 20)
        let long = "[" + (0..<5000).map { #"{"title":"\#($0)","value":"x"}"# }.joined(separator: ",") + "]"
        #expect(try #require(NoteBlocks.blocks(of: long, .json)).count == 1001)
        let huge = #"["\#(String(repeating: "x", count: 300_000))"]"#
        #expect(NoteBlocks.blocks(of: huge, .json) == nil)
    }

    @Test("the console's chunk picture has a tick for each file, up to its width", arguments: [0, 1, 9, 36, 5000])
    func strip(count: Int) {
        let picture = FileTicks.svg(count)
        #expect(picture.isEmpty == (count == 0))
        #expect(picture.components(separatedBy: "v12h-").count - 1 == min(count, 36))
    }
}
