import WidgetModel

extension Engine {
    /// Looks at the places in memory that a record will need, if it is a push to a token; changes nothing to be seen.
    ///
    /// A push needs a few rows at random places of large tables, and waits for each in turn. Looked at for all records of
    /// an entry before the first is applied, with nothing in between that depends on them, the processor waits for many
    /// at a time. O(1).
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: Where the record is in them.
    package mutating func approach(_ bytes: [UInt8], in range: Range<Int>) {
        // Tag, flags, target; id and content hash in eight bytes each; team and host, each behind its length.
        let teamLength = range.lowerBound + 27
        guard teamLength < range.upperBound, bytes[range.lowerBound] == Record.Tag.push.rawValue,
            bytes[range.lowerBound + 2] != PushHead.Target.app.rawValue
        else { return }
        let id = PushID(
            high: Self.word(bytes, at: range.lowerBound + 3),
            low: Self.word(bytes, at: range.lowerBound + 11)
        )
        self.approached &+= self.repeats.approach(id) &+ self.ledger.approach(id)
        let hostLength = teamLength + 1 + Int(bytes[teamLength])
        guard hostLength < range.upperBound else { return }
        let host = hostLength + 1..<hostLength + 1 + Int(bytes[hostLength])
        guard host.upperBound <= range.upperBound, let slot = self.hosts.find(bytes, in: host) else { return }
        let instance = self.hosts[slot].firstInstance
        guard instance != InstanceTable.none else { return }
        self.approached &+= UInt64(self.instances[instance].nextOfHost)
    }

    @inline(__always)
    private static func word(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<8 { word |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        return word
    }
}
