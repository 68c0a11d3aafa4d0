/// A growing array of numbers in as few bytes each as the highest needs: one, two or four.
@frozen public struct PackedIntegers: ~Copyable, Sendable {
    /// The bytes of each number.
    @frozen public enum Width: Int, Sendable {
        case one = 1
        case two = 2
        case four = 4
    }

    @usableFromInline var bytes = Width.one
    /// The numbers if they have one byte each; otherwise empty. Only this type changes it, as the others.
    public var narrow = Column<UInt8>()
    /// The same of two bytes.
    public var medium = Column<UInt16>()
    /// The same of four bytes.
    public var wide = Column<UInt32>()

    /// An empty array.
    @inlinable
    public init() {}

    /// The bytes of each number.
    @inlinable @inline(__always)
    public var width: Width { self.bytes }

    /// How many numbers there are.
    @inlinable @inline(__always)
    public var count: Int {
        switch self.bytes {
        case .one: self.narrow.count
        case .two: self.medium.count
        case .four: self.wide.count
        }
    }

    /// Bytes of memory held.
    public var byteCount: Int { self.narrow.byteCount + self.medium.byteCount + self.wide.byteCount }

    /// A number. Precondition: it is there.
    @inlinable
    public subscript(index: Int) -> UInt32 {
        @inline(__always) get {
            switch self.bytes {
            case .one: UInt32(self.narrow[index])
            case .two: UInt32(self.medium[index])
            case .four: self.wide[index]
            }
        }
        @inline(__always) set {
            self.makeRoom(for: newValue)
            switch self.bytes {
            case .one: self.narrow[index] = UInt8(truncatingIfNeeded: newValue)
            case .two: self.medium[index] = UInt16(truncatingIfNeeded: newValue)
            case .four: self.wide[index] = newValue
            }
        }
    }

    /// Fetches a number that is about to be read, if it is there.
    @inlinable @inline(__always)
    public func prefetch(_ index: Int) {
        switch self.bytes {
        case .one: self.narrow.prefetch(index)
        case .two: self.medium.prefetch(index)
        case .four: self.wide.prefetch(index)
        }
    }

    /// The same for several.
    public func prefetch(_ indices: Span<UInt32>) {
        switch self.bytes {
        case .one: self.narrow.prefetch(indices)
        case .two: self.medium.prefetch(indices)
        case .four: self.wide.prefetch(indices)
        }
    }

    /// Adds a number at the end.
    @inlinable @inline(__always)
    public mutating func append(_ number: UInt32) {
        self.makeRoom(for: number)
        switch self.bytes {
        case .one: self.narrow.append(UInt8(truncatingIfNeeded: number))
        case .two: self.medium.append(UInt16(truncatingIfNeeded: number))
        case .four: self.wide.append(number)
        }
    }

    /// Adds equal numbers at the end.
    public mutating func append(repeating number: UInt32, count: Int) {
        self.makeRoom(for: number)
        switch self.bytes {
        case .one: self.narrow.append(repeating: UInt8(truncatingIfNeeded: number), count: count)
        case .two: self.medium.append(repeating: UInt16(truncatingIfNeeded: number), count: count)
        case .four: self.wide.append(repeating: number, count: count)
        }
    }

    /// Adds numbers at the end; none is above `highest`.
    public mutating func append(_ numbers: Span<UInt32>, highest: UInt32) {
        self.makeRoom(for: highest)
        switch self.bytes {
        case .one: Self.append(numbers, to: &self.narrow)
        case .two: Self.append(numbers, to: &self.medium)
        case .four: self.wide.append(numbers)
        }
    }

    @inline(__always)
    private static func append<Code: FixedWidthInteger & BitwiseCopyable>(
        _ numbers: Span<UInt32>,
        to column: inout Column<Code>
    ) {
        let start = column.count
        column.append(undefined: numbers.count)
        var target = column.mutableSpan
        for index in numbers.indices { target[start + index] = Code(truncatingIfNeeded: numbers[index]) }
    }

    /// Calls `body` with each number and its place.
    @inlinable @inline(__always)
    public func forEach(_ body: (UInt32, UInt32) -> Void) {
        switch self.bytes {
        case .one: Self.forEach(self.narrow.span, body)
        case .two: Self.forEach(self.medium.span, body)
        case .four: Self.forEach(self.wide.span, body)
        }
    }

    @inlinable @inline(__always)
    static func forEach(_ numbers: Span<some FixedWidthInteger>, _ body: (UInt32, UInt32) -> Void) {
        for index in numbers.indices { body(UInt32(truncatingIfNeeded: numbers[index]), UInt32(index)) }
    }

    /// Removes the last number. Precondition: there is one.
    public mutating func removeLast() {
        switch self.bytes {
        case .one: self.narrow.removeLast()
        case .two: self.medium.removeLast()
        case .four: self.wide.removeLast()
        }
    }

    @inlinable @inline(__always)
    mutating func makeRoom(for number: UInt32) {
        switch self.bytes {
        case .one where number > UInt8.max: self.widen(for: number)
        case .two where number > UInt16.max: self.widen(for: number)
        case .one, .two, .four: break
        }
    }

    /// Copies everything, twice in an array's life: O(numbers).
    @usableFromInline @inline(never)
    mutating func widen(for number: UInt32) {
        let count = self.count
        if number <= UInt16.max {
            self.medium.reserve(count + 1)
            for index in 0..<count { self.medium.append(UInt16(self.narrow[index])) }
            self.bytes = .two
        } else {
            self.wide.reserve(count + 1)
            for index in 0..<count {
                let number = self[index]
                self.wide.append(number)
            }
            self.bytes = .four
            self.medium.removeAll()
        }
        self.narrow.removeAll()
    }
}
