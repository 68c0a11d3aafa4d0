import CNghttp2

/// Fetches the memory that the next request or answer will need while the one before is in work.
///
/// Streams take turns: the memory of one was last touched some milliseconds ago, and is in a farther cache.
enum Prefetch {
    /// Bytes that the processor fetches at once.
    private static let lineBytes = 64

    /// Fetches a piece of memory. Sound for any address: nothing is read or written, and no fault comes of it.
    @inline(__always)
    static func all(_ memory: UnsafeRawPointer, _ count: Int) {
        var offset = 0
        while offset < count {
            unsafe freshet_prefetch(memory + offset)
            offset &+= Self.lineBytes
        }
    }
}
