package import WidgetModel

extension BudgetPolicy {
    /// The largest allowance per window, so that counts fit 16 bits with room for learning and grants.
    package static let allowanceMax = 10_000
    /// The longest slot that timelines' reloads are spread over.
    package static let smoothingMax = Interval.hours(1)
    /// The most that low power slows timelines' reloads down.
    package static let lowPowerMax = 100

    /// Everything that is wrong with the policy, in the order of the fields.
    package func faults() -> [BudgetPolicyError] {
        var check = Check()
        self.checkWindow(&check)
        self.checkPace(&check)
        self.checkScope(&check)
        return check.faults
    }

    /// The faults that were found so far.
    private struct Check {
        var faults: [BudgetPolicyError] = []

        mutating func callAsFunction(_ holds: Bool, _ field: String, _ message: String) {
            if !holds { self.faults.append(BudgetPolicyError(field: field, message: message)) }
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
        self.window.encode(into: &writer)
        for number in [self.rare, self.typical, self.frequent, self.burstDivisor] { number.encode(into: &writer) }
        writer.write(self.minimumInterval)
        writer.write(self.exemptInterval)
        self.pushShare.encode(into: &writer)
        self.learning.encode(into: &writer)
        self.scope.encode(into: &writer)
        self.thinning.encode(into: &writer)
        self.atEnd.encode(into: &writer)
        let hasSlot = self.smoothing != Self.usualSmoothing
        let hasFactor = self.lowPower != Self.usualLowPower
        var flags = self.isRolling ? Self.rollingFlag : 0
        if hasSlot { flags |= Self.smoothingFlag }
        if hasFactor { flags |= Self.lowPowerFlag }
        writer.write(byte: flags)
        if hasSlot { writer.write(self.smoothing) }
        if hasFactor { self.lowPower.encode(into: &writer) }
    }

    /// Reads a policy back; one with ``faults()`` counts as damaged.
    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self.name = try reader.readString()
        self.source = try reader.readString()
        self.date = try reader.readString()
        self.window = try Window(from: &reader)
        self.rare = try Int(from: &reader)
        self.typical = try Int(from: &reader)
        self.frequent = try Int(from: &reader)
        self.burstDivisor = try Int(from: &reader)
        self.minimumInterval = try reader.readInterval()
        self.exemptInterval = try reader.readInterval()
        self.pushShare = try Share(from: &reader)
        self.learning = try Learning(from: &reader)
        self.scope = try Scope(from: &reader)
        self.thinning = try Int(from: &reader)
        self.atEnd = try AtEndReading(from: &reader)
        let flags = try reader.readByte()
        guard flags & ~(Self.rollingFlag | Self.smoothingFlag | Self.lowPowerFlag) == 0 else {
            throw .invalid(offset: reader.offset - 1)
        }
        self.isRolling = flags & Self.rollingFlag != 0
        if flags & Self.smoothingFlag != 0 { self.smoothing = try reader.readInterval() }
        if flags & Self.lowPowerFlag != 0 { self.lowPower = try Share(from: &reader) }
        guard self.faults().isEmpty else { throw .invalid(offset: start) }
    }
}

extension BudgetPolicy.Window: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .fixed(let length, let anchor):
            writer.write(tag: 0, length)
            anchor.encode(into: &writer)
        case .tuned: writer.write(byte: 1)
        case .none: writer.write(byte: 2)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .fixed(length: try reader.readInterval(), anchor: try BudgetPolicy.Anchor(from: &reader))
        case 1: self = .tuned
        case 2: self = .none
        default: throw .invalid(offset: start)
        }
    }
}
