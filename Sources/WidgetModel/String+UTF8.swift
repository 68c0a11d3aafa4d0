extension String {
    /// The text whose UTF-8 these bytes are; nil if they are not UTF-8.
    ///
    /// The library's `String(validating:as:)` is a generic function that Swift 6.3 does not specialise: it takes ten times as long.
    ///
    /// Public for the reason that ``ByteWriter`` has.
    @inlinable
    public init?(utf8 bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }
}
