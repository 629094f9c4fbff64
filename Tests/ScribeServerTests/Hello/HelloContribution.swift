package import ScribeHTTP

/// Contribution of the greeting family to a server.
package struct HelloContribution: FamilyContribution {
    package let name = "Hello"
    package let hosts = [HostGroup(title: "Hello", names: ["api.hello.example"])]

    package init() {}

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(HelloFamily(environment))
    }
}
