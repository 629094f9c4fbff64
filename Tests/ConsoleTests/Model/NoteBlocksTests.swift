import FoundationEssentials
import Testing

@testable import Console

/// Notes in Markdown, as the console shows them.
struct NoteBlocksTests {
    @Test("a note is split into headings, paragraphs and lists, and no text is lost")
    func blocks() {
        let models = NoteBlocks.models(of: "# Note\n\n## Plan\n- rest\n* water\nCome back.\n#hashtag\n- last")
        #expect(models.map { $0["heading"] as? String } == ["Note", "Plan", "", "", "", ""])
        #expect(models.map { $0["text"] as? String } == ["", "", "", "Come back.", "#hashtag", ""])
        #expect(models[2]["items"] as? [String] == ["rest", "water"])
        #expect(models[5]["items"] as? [String] == ["last"])
        #expect(NoteBlocks.models(of: "").isEmpty)
    }

    @Test("the console's chunk picture has a tick for each file, up to its width", arguments: [0, 1, 9, 36, 5000])
    func strip(count: Int) {
        let picture = FileTicks.svg(count)
        #expect(picture.isEmpty == (count == 0))
        #expect(picture.components(separatedBy: "v12h-").count - 1 == min(count, 36))
    }
}
