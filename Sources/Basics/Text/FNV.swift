/// The hash FNV-1a of 64 bits, which is the same in every process. Not fit for secrets.
package enum FNV {
    /// Hash of the bytes.
    package static func hash(of bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
