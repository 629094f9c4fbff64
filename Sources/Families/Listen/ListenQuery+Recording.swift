import Engines
import ScribeDomain

extension ListenQuery {
    /// The format of a recording without a header; nil for a container, which describes itself.
    var samples: WaveHeader? {
        guard !isContainer else { return nil }
        let written: WaveHeader.Encoding =
            switch encoding {
            case .linear16: .linear(bits: 16)
            case .linear32: .linear(bits: 32)
            case .mulaw: .mulaw
            case .alaw: .alaw
            }
        return WaveHeader(written, channels: options.channels, sampleRate: options.sampleRate)
    }
}
