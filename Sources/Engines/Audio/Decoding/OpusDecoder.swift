import Foundation
package import NIOCore

/// Decodes bare Opus packets with libopus. The library is looked up at run time, so that neither a
/// build nor a package depends on it.
///
/// It is not checked to be sendable: calls must not overlap, as those of a ``LiveSession`` do not.
package final class OpusDecoder: @unchecked Sendable {
    private typealias Create = @convention(c) (Int32, Int32, UnsafeMutablePointer<Int32>?) -> OpaquePointer?
    private typealias Decode =
        @convention(c) (OpaquePointer, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<Int16>, Int32, Int32) -> Int32
    private typealias Destroy = @convention(c) (OpaquePointer) -> Void

    private struct Library: Sendable {
        let create: Create
        let decode: Decode
        let destroy: Destroy

        init?() {
            guard let handle = dlopen("libopus.so.0", RTLD_NOW), let create = dlsym(handle, "opus_decoder_create"),
                let decode = dlsym(handle, "opus_decode"), let destroy = dlsym(handle, "opus_decoder_destroy")
            else { return nil }
            self.create = unsafeBitCast(create, to: Create.self)
            self.decode = unsafeBitCast(decode, to: Decode.self)
            self.destroy = unsafeBitCast(destroy, to: Destroy.self)
        }
    }

    private static let library = Library()
    /// Most samples of a packet's channel: 120 ms at 48 kHz.
    private static let maxSamples = 5760
    private static let longestPacket = 64 << 10

    package static var isAvailable: Bool { library != nil }

    private let library: Library
    private let state: OpaquePointer
    private let channels: Int

    /// Creates a decoder.
    /// - Parameters:
    ///   - sampleRate: 8000, 12000, 16000, 24000 or 48000.
    ///   - channels: 1 or 2.
    /// - Returns: nil without libopus, and for other numbers.
    package init?(sampleRate: Int, channels: Int = 1) {
        guard let library = Self.library, let state = library.create(Int32(sampleRate), Int32(channels), nil) else {
            return nil
        }
        self.library = library
        self.channels = channels
        self.state = state
    }

    deinit { library.destroy(state) }

    /// Decodes one packet to 16-bit samples; nil if the bytes are no Opus packet.
    package func decode(_ packet: ByteBuffer) -> ByteBuffer? {
        guard (1...Self.longestPacket).contains(packet.readableBytes) else { return nil }
        var samples = [Int16](repeating: 0, count: Self.maxSamples * channels)
        let count = packet.withUnsafeReadableBytes { bytes in
            library.decode(
                state, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count), &samples,
                Int32(Self.maxSamples), 0)
        }
        guard count > 0 else { return nil }
        var decoded = ByteBuffer()
        decoded.reserveCapacity(Int(count) * channels * 2)
        for sample in samples.prefix(Int(count) * channels) { decoded.writeInteger(sample, endianness: .little) }
        return decoded
    }
}
