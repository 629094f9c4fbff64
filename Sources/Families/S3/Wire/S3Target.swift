import Hummingbird
import ScribeHTTP

/// Address and query of a request, parsed once: the journal asks for the operation before it is answered.
struct S3Target: Sendable {
    let address: S3Address
    let query: SigV4Query
    private let text: String

    /// Notes for the explanation of a refusal that the request is one of S3.
    /// - Throws: ``S3Error`` as ``S3Address/init(host:path:)``, and ``S3Error/invalidURI`` for a broken query.
    init(of request: Request, _ context: ScribeContext) throws(S3Error) {
        if let known = context.target as? S3Target, known.text == request.uri.string {
            self = known
            return
        }
        address = try S3Address(host: request.authority, path: request.uri.path)
        if address.isKnown || RequestAddress(request).isSigned { context.explanation?.noteKey() }
        guard let query = SigV4Query(request.uri.query ?? "") else { throw .invalidURI }
        (self.query, text) = (query, request.uri.string)
        context.target = self
    }
}
