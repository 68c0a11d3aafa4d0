import WidgetModel

/// Makes ids for pushes whose sender gave none: version 4 UUIDs (RFC 9562) from a generator seeded by the system.
///
/// One per event loop. A generated id only has to be unlike every other: credentials give the right to ask about a
/// push, not its id.
struct PushIDGenerator {
    private var first: UInt64
    private var second: UInt64

    init() {
        var system = SystemRandomNumberGenerator()
        self.first = system.next()
        self.second = system.next()
    }

    mutating func next() -> PushID {
        self.first &+= 0x9E37_79B9_7F4A_7C15
        self.second &+= 0xD1B5_4A32_D192_ED03
        return PushID(version4: StableHash.mix(self.first), StableHash.mix(self.second))
    }
}
