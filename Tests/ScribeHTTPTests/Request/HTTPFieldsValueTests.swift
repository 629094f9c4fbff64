import HTTPTypes
import ScribeHTTP
import Testing

struct HTTPFieldsValueTests {
    @Test("the value of a field is that of the subscript, whether the field is absent, single or repeated")
    func value() {
        var fields: HTTPFields = [.accept: "text/html", .cookie: "a=1"]
        fields.append(HTTPField(name: .accept, value: "image/png"))
        fields.append(HTTPField(name: .cookie, value: "b=2"))
        fields[.authorization] = "Bearer t"
        for name in [HTTPField.Name.accept, .cookie, .authorization, .age] {
            #expect(fields.value(of: name) == fields[name])
        }
        #expect(fields.value(of: .accept) == "text/html, image/png")
        #expect(fields.value(of: .age) == nil)
    }
}
