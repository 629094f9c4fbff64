package import Documents

extension document {
    /// A copy.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }
}
