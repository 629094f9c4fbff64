import Testing

@testable import S3

@Suite("The XML of S3's requests")
struct XMLNodeTests {
    private func parse(_ text: String) throws -> XMLNode { try XMLNode(Array(text.utf8), root: "Delete") }

    @Test("elements, references, comments, character data and prefixes are read")
    func document() throws {
        let node = try parse(
            """
            <?xml version="1.0" encoding="UTF-8"?><!-- all -->
            <s3:Delete xmlns:s3='http://s3.amazonaws.com/doc/2006-03-01/'>
              <Object><Key>a &lt;b&gt; &amp;&#32;&#x1F600;&quot;&apos;</Key><!-- one --></Object>
              <Object><Key><![CDATA[<&]]></Key></Object><Quiet/></s3:Delete>
            """)
        #expect(node.children(named: "Object").map { $0["Key"] } == ["a <b> & \u{1F600}\"'", "<&"])
        #expect(node["Quiet"] == "")
        #expect(node["Nothing"] == nil)
    }

    @Test(
        "what is not well-formed is refused",
        arguments: [
            "", "Delete", "<Delete>", "<Delete></Deleted>", "<Other/>", "<Delete/><Delete/>",
            "<Delete>&unknown;</Delete>",
            "<Delete>&#0;</Delete>", "<Delete>&#xD800;</Delete>", "<Delete a></Delete>", "<Delete a=b/>",
            "<!DOCTYPE x [<!ENTITY y 'z'>]><Delete/>", "<Delete><![CDATA[</Delete>", "<Delete>&amp</Delete>",
            String(repeating: "<Delete>", count: 9) + String(repeating: "</Delete>", count: 9),
        ])
    func malformed(_ text: String) { #expect(throws: S3Error.malformedXML) { try parse(text) } }

    @Test("more elements than a request has are refused")
    func elements() throws {
        let list = { (count: Int) in "<Delete>" + String(repeating: "<a/>", count: count) + "</Delete>" }
        #expect(try parse(list(59_999)).children.count == 59_999)
        #expect(throws: S3Error.malformedXML) { try parse(list(60_000)) }
    }
}
