import Engines
import ScribeDomain

extension ListenQuery {
    /// The format of a recording without a header; nil for a container, which describes itself.
    var samples: WaveHeader? {
        isContainer
            ? nil
            : WaveHeader(encoding.format, channels: options.channels, sampleRate: options.sampleRate)
    }
}
