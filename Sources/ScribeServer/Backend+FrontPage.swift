import ScribeDomain
import ScribeHTTP
import Status

extension Backend {
    /// What a browser sees first.
    /// - Parameter tlsPort: the port for TLS, once it is open.
    static func frontPage(
        _ configuration: Configuration, origin: LinkOrigin, _ tlsPort: LockedValue<Int?>
    ) -> FrontPage.Settings {
        let demo = DemoCredentials.shown(for: configuration)
            .map { FrontPage.Demo(id: $0.clientID, secret: $0.clientSecret) }
        return FrontPage.Settings(
            version: ScribeVersion.current, isStrict: configuration.authMode == .strict, origin: origin,
            tlsPort: { tlsPort.withLock { $0 } },
            demo: { demo },
            openAPI: { OpenAPIJSON.bytes })
    }
}
