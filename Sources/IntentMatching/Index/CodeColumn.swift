/// A growing array of codes in as few bytes each as the highest code needs.
struct CodeColumn: Sendable {
    enum Width: Int {
        case one = 1
        case two = 2
        case four = 4
    }

    private(set) var width = Width.one
    // Only the column of the current width holds anything.
    private(set) var narrow = Column<UInt8>()
    private(set) var medium = Column<UInt16>()
    private(set) var wide = Column<UInt32>()

    var count: Int {
        switch self.width {
        case .one: self.narrow.count
        case .two: self.medium.count
        case .four: self.wide.count
        }
    }

    /// Bytes of memory held.
    var byteCount: Int { self.narrow.byteCount + self.medium.byteCount + self.wide.byteCount }

    subscript(index: Int) -> UInt32 {
        @inline(__always) get {
            switch self.width {
            case .one: UInt32(self.narrow[index])
            case .two: UInt32(self.medium[index])
            case .four: self.wide[index]
            }
        }
        @inline(__always) set {
            self.widen(for: newValue)
            switch self.width {
            case .one: self.narrow[index] = UInt8(truncatingIfNeeded: newValue)
            case .two: self.medium[index] = UInt16(truncatingIfNeeded: newValue)
            case .four: self.wide[index] = newValue
            }
        }
    }

    @inline(__always)
    func prefetch(_ index: Int) {
        switch self.width {
        case .one: self.narrow.prefetch(index)
        case .two: self.medium.prefetch(index)
        case .four: self.wide.prefetch(index)
        }
    }

    mutating func prefetch(_ indices: Span<UInt32>) {
        switch self.width {
        case .one: self.narrow.prefetch(indices)
        case .two: self.medium.prefetch(indices)
        case .four: self.wide.prefetch(indices)
        }
    }

    @inline(__always)
    mutating func append(_ code: UInt32) {
        self.widen(for: code)
        switch self.width {
        case .one: self.narrow.append(UInt8(truncatingIfNeeded: code))
        case .two: self.medium.append(UInt16(truncatingIfNeeded: code))
        case .four: self.wide.append(code)
        }
    }

    mutating func append(repeating code: UInt32, count: Int) {
        self.widen(for: code)
        switch self.width {
        case .one: self.narrow.append(repeating: UInt8(truncatingIfNeeded: code), count: count)
        case .two: self.medium.append(repeating: UInt16(truncatingIfNeeded: code), count: count)
        case .four: self.wide.append(repeating: code, count: count)
        }
    }

    /// Appends codes of which none is above `highest`.
    mutating func append(_ codes: Span<UInt32>, highest: UInt32) {
        self.widen(for: highest)
        switch self.width {
        case .one: Self.append(codes, to: &self.narrow)
        case .two: Self.append(codes, to: &self.medium)
        case .four: Self.append(codes, to: &self.wide)
        }
    }

    @inline(__always)
    private static func append<Code>(_ codes: Span<UInt32>, to column: inout Column<Code>)
    where Code: FixedWidthInteger & BitwiseCopyable & Sendable {
        let start = column.count
        column.append(undefined: codes.count)
        column.withMutableSpan { target in
            for index in codes.indices { target[start + index] = Code(truncatingIfNeeded: codes[index]) }
        }
    }

    /// Calls `body` with each code and its place.
    @inline(__always)
    func forEach(_ body: (UInt32, UInt32) -> Void) {
        switch self.width {
        case .one: self.narrow.withSpan { for index in $0.indices { body(UInt32($0[index]), UInt32(index)) } }
        case .two: self.medium.withSpan { for index in $0.indices { body(UInt32($0[index]), UInt32(index)) } }
        case .four: self.wide.withSpan { for index in $0.indices { body($0[index], UInt32(index)) } }
        }
    }

    mutating func removeLast() {
        switch self.width {
        case .one: self.narrow.removeLast()
        case .two: self.medium.removeLast()
        case .four: self.wide.removeLast()
        }
    }

    @inline(__always)
    private mutating func widen(for code: UInt32) {
        switch self.width {
        case .one where code > UInt8.max: self.widen(to: code)
        case .two where code > UInt16.max: self.widen(to: code)
        case .one, .two, .four: break
        }
    }

    /// Copies everything, twice in a column's life: O(rows).
    @inline(never)
    private mutating func widen(to code: UInt32) {
        let count = self.count
        if code <= UInt16.max {
            var medium = Column<UInt16>()
            medium.reserve(count + 1)
            for index in 0..<count { medium.append(UInt16(self.narrow[index])) }
            self.medium = medium
            self.width = .two
        } else {
            var wide = Column<UInt32>()
            wide.reserve(count + 1)
            for index in 0..<count { wide.append(self[index]) }
            self.wide = wide
            self.width = .four
            self.medium.removeAll()
        }
        self.narrow.removeAll()
    }
}
