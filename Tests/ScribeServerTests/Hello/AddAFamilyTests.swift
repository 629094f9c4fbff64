import Foundation
import TestSupport
import Testing

/// The page that walks through a family: its code stands in this folder, so that it compiles.
struct AddAFamilyTests {
    @Test(
        "docs/add-a-family.md has the code of the Hello family",
        arguments: ["HelloFamily", "HelloErrors", "HelloContribution"])
    func page(file: String) throws {
        let page = try String(contentsOf: projectFile("docs/add-a-family.md"), encoding: .utf8)
        let code = try String(
            contentsOf: projectFile("Tests/ScribeServerTests/Hello/\(file).swift"), encoding: .utf8)
        #expect(page.contains("```swift\n\(code)```"), "docs/add-a-family.md differs from \(file).swift")
    }
}
