import HTTPTypes
package import Hummingbird
package import Journal
package import NIOCore
import ScribeRuntime

extension RepeatedAnswer {
    /// An answer of encoded JSON.
    package convenience init(_ status: HTTPResponse.Status, json body: ByteBuffer) {
        // `CrossOrigin` and `RequestLog` add the two.
        self.init(status, Response.json(status, body).headers, added: [.vary: "Origin", .requestID: ""], body)
    }

    /// The answer as its handler gives it.
    package var response: Response {
        Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
    }
}
