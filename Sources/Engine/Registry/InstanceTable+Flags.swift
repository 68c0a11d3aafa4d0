extension InstanceTable {
    /// The yes-or-no properties of an instance, a bit each. Their places, and those of ``Schedule/Flags`` between them, are part of the
    /// snapshot's format.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        static let isLive = Flags(rawValue: 1 << 0)
        static let pushEnabled = Flags(rawValue: 1 << 1)
        static let isOrphaned = Flags(rawValue: 1 << 4)
        static let isControl = Flags(rawValue: 1 << 6)
        static let isConditional = Flags(rawValue: 1 << 7)
        static let isHostDriven = Flags(rawValue: 1 << 8)
        /// Of a number that no instance has, and so in no snapshot.
        static let isFree = Flags(rawValue: 1 << 15)
        /// All that a snapshot has.
        static let known: Flags = [.isLive, .pushEnabled, .isOrphaned, .isControl, .isConditional, .isHostDriven]
    }
}

extension InstanceTable.Row {
    @inline(__always) var isLive: Bool {
        get { self.flags[.isLive] }
        set { self.flags[.isLive] = newValue }
    }
    @inline(__always) var pushEnabled: Bool {
        get { self.flags[.pushEnabled] }
        set { self.flags[.pushEnabled] = newValue }
    }
    @inline(__always) var isOrphaned: Bool {
        get { self.flags[.isOrphaned] }
        set { self.flags[.isOrphaned] = newValue }
    }
    /// Whether it is an instance's, live or removed.
    @inline(__always) var isUsed: Bool { !self.flags[.isFree] }
    /// Whether it is a control, addressed by a token of its own.
    @inline(__always) var isControl: Bool {
        get { self.flags[.isControl] }
        set { self.flags[.isControl] = newValue }
    }
    /// Whether a push must fulfil ``InstanceDetails/ColdFields/when``.
    @inline(__always) var isConditional: Bool {
        get { self.flags[.isConditional] }
        set { self.flags[.isConditional] = newValue }
    }
    /// Whether its host runs its timelines by itself and is reached through a push token: delivery `apns`.
    @inline(__always) var isHostDriven: Bool {
        get { self.flags[.isHostDriven] }
        set { self.flags[.isHostDriven] = newValue }
    }
}
