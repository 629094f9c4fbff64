/// A transcriber around another one. It answers for the other one what it does not declare itself.
package protocol WrappingTranscriber: Transcriber {
    var base: any Transcriber { get }
}

extension WrappingTranscriber {
    package var name: String { base.name }
    package var condition: EngineCondition { base.condition }
    package var hasFailedLast: Bool { base.hasFailedLast }
    package func probe() async -> FailedProbe? { await base.probe() }
}
