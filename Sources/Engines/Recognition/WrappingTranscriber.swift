/// Transcriber around another one. The other one answers all requirements that the wrapper does not declare.
package protocol WrappingTranscriber: Transcriber {
    var base: any Transcriber { get }
}

extension WrappingTranscriber {
    package var name: String { base.name }
    package var condition: EngineCondition { base.condition }
    package var hasFailedLast: Bool { base.hasFailedLast }
    package func probe() async -> FailedProbe? { await base.probe() }
}
