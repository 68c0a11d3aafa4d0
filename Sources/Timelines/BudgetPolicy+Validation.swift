package import WidgetModel

extension BudgetPolicy {
    /// The largest allowance per window, so that counts fit 16 bits with room for learning and grants.
    package static let allowanceMax = 10_000
    /// The longest slot that timelines' reloads are spread over.
    package static let smoothingMax = Interval.hours(1)
    /// The most that low power slows timelines' reloads down.
    package static let lowPowerMax = 100

    /// Everything that is wrong with the policy, in the order of the fields.
    package func faults() -> [BudgetPolicyFault] {
        var check = Check()
        self.checkWindow(&check)
        self.checkPace(&check)
        self.checkScope(&check)
        return check.faults
    }

    /// The faults that were found so far.
    private struct Check {
        var faults: [BudgetPolicyFault] = []

        mutating func callAsFunction(_ holds: Bool, _ field: String, _ message: String) {
            if !holds { self.faults.append(BudgetPolicyFault(field: field, message: message)) }
        }
    }

    /// Checks the name, the window's length, and the allowances.
    private func checkWindow(_ check: inout Check) {
        check(!self.name.isEmpty, "name", "is empty")
        if case .fixed(let length, _) = self.window {
            check(
                length.milliseconds % 60_000 == 0 && length >= .minutes(1) && length <= .days(7),
                "window",
                "must be whole minutes, 1 minute to 7 days"
            )
        }
        if self.window != .none {
            check(
                (1...Self.allowanceMax).contains(self.rare),
                "rare",
                "must be 1 to \(Self.allowanceMax)"
            )
            check(
                self.rare <= self.typical && self.typical <= self.frequent,
                "typical",
                "must lie between rare and frequent"
            )
            check(
                self.frequent <= Self.allowanceMax,
                "frequent",
                "must be at most \(Self.allowanceMax)"
            )
        }
    }

    /// Checks how fast an allowance may be used, the pushes' share of it, and learning's factor.
    private func checkPace(_ check: inout Check) {
        check(
            (2...Self.allowanceMax).contains(self.burstDivisor),
            "burstDivisor",
            "must be 2 to \(Self.allowanceMax)"
        )
        check(
            self.minimumInterval >= .zero && self.minimumInterval <= .day,
            "minimumInterval",
            "must be 0 to 24 hours"
        )
        check(
            self.exemptInterval >= .zero && self.exemptInterval <= .day,
            "exemptInterval",
            "must be 0 to 24 hours"
        )
        check(
            self.pushShare.denominator >= 1 && self.pushShare.denominator <= 1_000_000
                && (1...max(1, self.pushShare.denominator)).contains(self.pushShare.numerator),
            "pushShare",
            "must be a fraction above 0, at most 1"
        )
        check(
            (1...1_000).contains(self.learning.factor.denominator)
                && self.learning.factor.numerator >= self.learning.factor.denominator
                && self.learning.factor.numerator <= self.learning.factor.denominator * 10,
            "learning.factor",
            "must be a fraction from 1 to 10"
        )
    }

    /// Checks the scope of an allowance, and learning, thinning, the rolling day, smoothing and low power.
    private func checkScope(_ check: inout Check) {
        check((0...365).contains(self.learning.days), "learning.days", "must be 0 to 365")
        check((0...100).contains(self.thinning), "thinning", "must be 0 to 100")
        check(
            self.scope == .instance || (self.rare == self.typical && self.typical == self.frequent),
            "scope",
            "host needs one allowance: give rare, typical and frequent the same number"
        )
        check(
            !self.isRolling
                || (self.scope == .instance && self.minimumInterval >= RollingDay.slot && !self.isUnlimited),
            "rolling",
            "needs scope instance, a window and a minimumInterval of at least 5 minutes"
        )
        check(self.smoothing >= .zero && self.smoothing <= Self.smoothingMax, "smoothing", "must be 0 to 1 hour")
        check(
            (1...1_000).contains(self.lowPower.denominator)
                && self.lowPower.numerator >= self.lowPower.denominator
                && self.lowPower.numerator <= self.lowPower.denominator * Self.lowPowerMax,
            "lowPower",
            "must be a number or a fraction from 1 to \(Self.lowPowerMax)"
        )
    }

    /// The allowance of a window that opens in a host's first days: floor(factor * A).
    package func learningAllowance(of allowance: Int) -> Int {
        min(Self.allowanceMax, self.learning.factor.roundedDown(of: allowance))
    }
}

extension BudgetPolicy {
    /// Of the byte of flags. Policies from before there was a slot of their own have the first bit or none.
    private static let (rollingFlag, smoothingFlag, lowPowerFlag): (UInt8, UInt8, UInt8) = (1, 2, 4)

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.name)
        writer.write(self.source)
        writer.write(self.date)
        switch self.window {
        case .fixed(let length, let anchor):
            writer.write(byte: 0)
            writer.write(length)
            writer.write(byte: anchor.rawValue)
        case .tuned: writer.write(byte: 1)
        case .none: writer.write(byte: 2)
        }
        for number in [self.rare, self.typical, self.frequent, self.burstDivisor] {
            writer.write(signed: Int64(number))
        }
        writer.write(self.minimumInterval)
        writer.write(self.exemptInterval)
        for share in [self.pushShare, self.learning.factor] {
            writer.write(signed: Int64(share.numerator))
            writer.write(signed: Int64(share.denominator))
        }
        writer.write(signed: Int64(self.learning.days))
        writer.write(byte: self.scope.rawValue)
        writer.write(signed: Int64(self.thinning))
        writer.write(byte: self.atEnd.rawValue)
        let hasSlot = self.smoothing != Self.usualSmoothing
        let hasFactor = self.lowPower != Self.usualLowPower
        var flags = self.isRolling ? Self.rollingFlag : 0
        if hasSlot { flags |= Self.smoothingFlag }
        if hasFactor { flags |= Self.lowPowerFlag }
        writer.write(byte: flags)
        if hasSlot { writer.write(self.smoothing) }
        if hasFactor {
            writer.write(signed: Int64(self.lowPower.numerator))
            writer.write(signed: Int64(self.lowPower.denominator))
        }
    }

    /// Reads a policy back; one with ``faults()`` counts as damaged.
    package init(from reader: inout ByteReader) throws(ByteFault) {
        let start = reader.offset
        self.name = try reader.readString()
        self.source = try reader.readString()
        self.date = try reader.readString()
        switch try reader.readByte() {
        case 0:
            let length = try reader.readInterval()
            guard let anchor = Anchor(rawValue: try reader.readByte()) else {
                throw .invalid(offset: reader.offset - 1)
            }
            self.window = .fixed(length: length, anchor: anchor)
        case 1: self.window = .tuned
        case 2: self.window = .none
        default: throw .invalid(offset: reader.offset - 1)
        }
        self.rare = Int(try reader.readSigned())
        self.typical = Int(try reader.readSigned())
        self.frequent = Int(try reader.readSigned())
        self.burstDivisor = Int(try reader.readSigned())
        self.minimumInterval = try reader.readInterval()
        self.exemptInterval = try reader.readInterval()
        self.pushShare = Share(Int(try reader.readSigned()), of: Int(try reader.readSigned()))
        self.learning = Learning(
            factor: Share(Int(try reader.readSigned()), of: Int(try reader.readSigned()))
        )
        self.learning.days = Int(try reader.readSigned())
        guard let scope = Scope(rawValue: try reader.readByte()) else {
            throw .invalid(offset: reader.offset - 1)
        }
        self.scope = scope
        self.thinning = Int(try reader.readSigned())
        guard let atEnd = AtEndReading(rawValue: try reader.readByte()) else {
            throw .invalid(offset: reader.offset - 1)
        }
        self.atEnd = atEnd
        let flags = try reader.readByte()
        guard flags & ~(Self.rollingFlag | Self.smoothingFlag | Self.lowPowerFlag) == 0 else {
            throw .invalid(offset: reader.offset - 1)
        }
        self.isRolling = flags & Self.rollingFlag != 0
        if flags & Self.smoothingFlag != 0 { self.smoothing = try reader.readInterval() }
        if flags & Self.lowPowerFlag != 0 {
            self.lowPower = Share(Int(try reader.readSigned()), of: Int(try reader.readSigned()))
        }
        guard self.faults().isEmpty else { throw .invalid(offset: start) }
    }
}
