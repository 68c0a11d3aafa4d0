import Storage
import WidgetModel

/// Short runs of bytes, each under a number: the keys of hosts, the ids and configurations of instances.
///
/// A run lies in whole words, so that it is compared eight bytes at a time.
struct TextStore: ~Copyable, Sendable {
    private var words = BlockStore<UInt64>()
    /// How many numbers are in use.
    private(set) var count = 0

    /// Nothing.
    init() {}

    /// Bytes of memory held.
    var byteCount: Int { self.words.byteCount }

    /// Keeps bytes.
    ///
    /// - Returns: Their number; none of no bytes, which take no place.
    mutating func insert(_ bytes: Span<UInt8>) -> TextNumber {
        guard bytes.count > 0 else { return .none }
        self.count += 1
        let start = self.words.allocate((bytes.count + 7) / 8)
        self.words.elements.write(bytes: bytes, at: Int(start))
        return TextNumber(raw: start)
    }

    /// Lends the bytes of a number to `body`.
    ///
    /// - Parameters:
    ///   - number: The number, or none.
    ///   - count: How many they are.
    ///   - body: Reads them.
    @inline(__always)
    func withBytes<Result>(_ number: TextNumber, count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        if number.isNone { return body(Span()) }
        return self.words.elements.withBytes(at: number.index * 8, count: count, body)
    }

    /// Fetches bytes that are about to be read.
    @inline(__always)
    func prefetch(_ number: TextNumber) {
        if !number.isNone { self.words.elements.prefetch(number.index) }
    }

    /// Gives a number back. Does nothing for none.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - count: How many bytes it has.
    mutating func release(_ number: TextNumber, count: Int) {
        guard !number.isNone else { return }
        self.count -= 1
        self.words.release(number.raw, (count + 7) / 8)
    }
}
