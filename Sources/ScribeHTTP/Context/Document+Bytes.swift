package import Documents

extension document {
    /// A copy of the document's bytes.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }
}
