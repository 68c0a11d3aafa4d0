/// A growing array of codes in as few bytes each as the highest code needs.
struct CodeColumn: Sendable {
    enum Width: Int {
        case one = 1
        case two = 2
        case four = 4
    }

    private(set) var width = Width.one
    // Only the array of the current width holds anything.
    private(set) var narrow: [UInt8] = []
    private(set) var medium: [UInt16] = []
    private(set) var wide: [UInt32] = []

    var count: Int {
        switch self.width {
        case .one: self.narrow.count
        case .two: self.medium.count
        case .four: self.wide.count
        }
    }

    /// Bytes of memory held.
    var byteCount: Int { self.narrow.capacity + 2 * self.medium.capacity + 4 * self.wide.capacity }

    subscript(index: Int) -> UInt32 {
        switch self.width {
        case .one: UInt32(self.narrow[index])
        case .two: UInt32(self.medium[index])
        case .four: self.wide[index]
        }
    }

    mutating func append(_ code: UInt32) {
        switch self.width {
        case .one where code <= UInt8.max: self.narrow.append(UInt8(truncatingIfNeeded: code))
        case .two where code <= UInt16.max: self.medium.append(UInt16(truncatingIfNeeded: code))
        case .four: self.wide.append(code)
        case .one, .two:
            self.widen(to: code)
            self.append(code)
        }
    }

    private mutating func widen(to code: UInt32) {
        let count = self.count
        if code <= UInt16.max {
            self.medium.reserveCapacity(count + count / 2 + 1)
            for code in self.narrow { self.medium.append(UInt16(code)) }
            self.width = .two
        } else {
            self.wide.reserveCapacity(count + count / 2 + 1)
            for index in 0..<count { self.wide.append(self[index]) }
            self.width = .four
            self.medium = []
        }
        self.narrow = []
    }
}
