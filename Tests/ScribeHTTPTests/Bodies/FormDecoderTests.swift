import NIOCore
import ServerTestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct FormDecoderTests {
    static let standard = """
        --b\r\nContent-Disposition: form-data; name="key"\r\n\r\na/b\r\n\
        --b\r\nContent-Disposition: form-data; name="file"; filename="x.wav"\r\nContent-Type: audio/wav\r\n\r\n\
        \r\n--x\r\n-\r\n--b--\r\n
        """

    /// Names and contents of all parts; nil for what is no form.
    func parts(
        _ body: String, cutEvery size: Int = .max, contentType: String = "multipart/form-data; boundary=b"
    ) -> [String]? {
        guard var decoder = FormDecoder(contentType: contentType) else { return nil }
        var parts: [String] = []
        var rest = Array(body.utf8)[...]
        do {
            while !rest.isEmpty {
                for event in try decoder.decode(ByteBuffer(bytes: rest.prefix(size))) {
                    switch event {
                    case .part(let part): parts.append("\(part.name)|\(part.fileName ?? "-")|")
                    case .data(let data): parts[parts.count - 1] += String(buffer: data)
                    case .endOfPart: parts[parts.count - 1] += "|"
                    }
                }
                rest = rest.dropFirst(size)
            }
            try decoder.finish()
        } catch {
            return nil
        }
        return parts
    }

    @Test("a form is decoded the same however its bytes are split", arguments: [1, 2, 3, 5, 7, 16, 64, 1000])
    func pieces(size: Int) {
        #expect(parts(Self.standard, cutEvery: size) == ["key|-|a/b|", "file|x.wav|\r\n--x\r\n-|"])
    }

    @Test(
        "a .NET form is decoded: unquoted names, types on texts, a quoted boundary, both file names",
        .covers("C-65")
    )
    func dotNet() {
        let body = """
            --b-1\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=key\r\n\r\nk\r\n\
            --b-1\r\nContent-Disposition: form-data; name=file; filename="?.wav"; filename*=utf-8''%E0%A4%86.wav\r\n\r\n\
            x\r\n--b-1--
            """
        #expect(
            parts(body, contentType: "multipart/form-data; boundary=\"b-1\"") == ["key|-|k|", "file|आ.wav|x|"])
    }

    @Test("text before and after a form is ignored")
    func surroundings() {
        #expect(parts("preamble\r\n" + Self.standard + "epilogue\r\n--b\r\n")?.count == 2)
    }

    @Test("a form with an empty part, or with no part, is decoded")
    func empty() {
        #expect(parts("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--b--\r\n") == ["a|-||"])
        #expect(parts("--b--\r\n") == [])
    }

    @Test(
        "a form that is cut off or malformed is refused",
        arguments: [
            "", "--b", "--b\r\n", "--bx\r\n", "nothing", "--b\r\n\r\nx\r\n--b--", "--b\r\nno colon\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--",
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--b\r\n",
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx",
            "--b\r\n" + String(repeating: "X: y\r\n", count: 5000),
        ]
    )
    func malformed(body: String) {
        #expect(parts(body) == nil)
    }

    @Test(
        "only multipart/form-data with a boundary is decoded as a form",
        arguments: [
            "application/json", "multipart/form-data", "multipart/mixed; boundary=b", "multipart/form-data; boundary=",
        ])
    func contentTypes(value: String) {
        #expect(FormDecoder(contentType: value) == nil)
    }

    @Test(
        "a form's file name is read without its folders",
        arguments: [("a/b.wav", "b.wav"), (#"C:\x\b.wav"#, "b.wav"), ("b.wav", "b.wav"), ("..", "..")]
    )
    func baseNames(name: String, base: String) {
        #expect(FormPart(headers: #"Content-Disposition: form-data; name=a; filename="\#(name)""#)?.baseName == base)
    }

    @Test("a quoted value in a form may hold quotes, semicolons and nothing")
    func quoting() {
        let value = ParameterisedValue(#"form-data; name="a;\"b"; x=""; y = z ; filename=plain"#)
        #expect(value["name"] == #"a;"b"#)
        #expect(value["x"] == "")
        #expect(value["filename"] == "plain")
    }
}
