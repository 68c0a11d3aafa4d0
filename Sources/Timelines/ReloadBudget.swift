package import WidgetModel

/// The used part of one instance's budget: 24 bytes, with no pointer in them.
///
/// The budget has three rules, and a reload conforms when all three allow it:
///
/// - **Count.** A window charges at most ``BudgetTerms/limit`` reloads, of them ``BudgetTerms/pushLimit`` for pushes.
///   The count starts again in a later window; no timer is needed.
/// - **Pace.** The generic cell rate algorithm: each charge moves the theoretical arrival time (TAT) to max(TAT, now) +
///   T. A paced reload conforms from TAT on, an urgent one from TAT - B * T on. TAT outlives windows.
/// - **Distance.** Two charged reloads are at least the minimum interval apart, also across windows.
///
/// Therefore any span t has at most B + t / T + 1 charged reloads.
///
/// Source of the pace: ITU-T I.371, "generic cell rate algorithm", virtual scheduling form.
///
/// Exempt reloads are remembered apart from charged ones, since they do not hold back the next charged one. Both share
/// one instant: the last reload of any kind is exact, and the last charge and TAT are kept as distances to it. A
/// distance that no longer fits 32 bits (49 days) cannot hold a reload back any more, because no interval is that long.
package struct ReloadBudget: ByteCoded, Hashable, Sendable {
    /// Milliseconds of the last reload, charged or exempt; ``never`` before the first.
    private var reloaded: Int64 = Self.never
    /// Milliseconds from the last charge to `reloaded`; `UInt32.max` if there was none or too long ago to matter.
    private var sinceCharge: UInt32 = .max
    /// Milliseconds from `reloaded` to TAT; zero if TAT is not after it, for the next reload cannot tell the two apart.
    private var arrivalAhead: UInt32 = 0
    /// The start of the window that the counts belong to, in minutes since the epoch.
    private(set) var windowMinute: UInt32 = 0
    private(set) var count: UInt16 = 0
    private var pushCount: UInt16 = 0

    private static let never = Int64.min
    /// The milliseconds that a reload can have happened at: to them every interval of a policy can be added.
    private static let instants = -(1 << 60)...(1 << 60) as ClosedRange<Int64>

    /// The budget of an instance that has never reloaded.
    package init() {}

    /// When the instance last reloaded, charged or exempt.
    package var lastReload: Instant? {
        self.reloaded == Self.never ? nil : Instant(milliseconds: self.reloaded)
    }

    /// When a reload was last charged; also nil if that was more than 49 days before the last reload.
    package var lastCharge: Instant? {
        self.sinceCharge == .max ? nil : Instant(milliseconds: self.reloaded - Int64(self.sinceCharge))
    }

    /// TAT: the instant from which a paced reload conforms. Nil if it lies in the past of the last reload.
    package var theoreticalArrival: Instant? {
        self.arrivalAhead == 0 ? nil : Instant(milliseconds: self.reloaded + Int64(self.arrivalAhead))
    }

    /// How many reloads are charged in a window.
    ///
    /// Counts of a *later* window than the asked one still stand: a window that moved back never gives anything away.
    package func charged(in window: BudgetWindow) -> Int {
        self.windowMinute >= Self.minute(of: window) ? Int(self.count) : 0
    }

    /// How many of the reloads charged in a window were for pushes.
    package func pushesCharged(in window: BudgetWindow) -> Int {
        self.windowMinute >= Self.minute(of: window) ? Int(self.pushCount) : 0
    }

    private static func minute(of window: BudgetWindow) -> UInt32 {
        UInt32(clamping: window.start.milliseconds / 60_000)
    }

    /// Whether the count lets no further reload into the window.
    package func isSpent(isPush: Bool, terms: BudgetTerms) -> Bool {
        guard self.windowMinute >= Self.minute(of: terms.window) else {
            return terms.limit < 1 || (isPush && terms.pushLimit < 1)
        }
        return Int(self.count) >= terms.limit || (isPush && Int(self.pushCount) >= terms.pushLimit)
    }

    /// The first instant that pace and distance let a reload of the class run.
    private func paced(_ reloadClass: ReloadClass, terms: BudgetTerms) -> Int64 {
        guard self.reloaded != Self.never else { return Self.never }
        var instant = Self.never
        if self.sinceCharge != .max {
            instant = self.reloaded - Int64(self.sinceCharge) + terms.minimumInterval.milliseconds
        }
        if self.arrivalAhead != 0 {
            let tolerance = reloadClass == .urgent ? terms.tolerance.milliseconds : 0
            instant = max(instant, self.reloaded + Int64(self.arrivalAhead) - tolerance)
        }
        return instant
    }

    /// Whether a reload of the class may be charged at this instant.
    ///
    /// - Precondition: The terms' window contains the instant, or the terms are unlimited.
    package func conforms(
        _ reloadClass: ReloadClass,
        isPush: Bool,
        at now: Instant,
        terms: BudgetTerms
    ) -> Bool {
        guard !terms.isUnlimited else { return true }
        precondition(terms.window.contains(now), "terms of another window")
        return !self.isSpent(isPush: isPush, terms: terms)
            && self.paced(reloadClass, terms: terms) <= now.milliseconds
    }

    /// The first instant, not before now, at which a reload of the class conforms. O(1).
    ///
    /// If the count is used up, that is an instant of the next window, spread over T by hash. The answer supposes that
    /// nothing else happens until then and that the next window's terms are no stricter: ask again on every event.
    ///
    /// - Parameters:
    ///   - reloadClass: How eagerly it may use the budget.
    ///   - isPush: Whether it counts against the pushes' share.
    ///   - now: An instant in the terms' window, unless the terms are unlimited.
    ///   - terms: The terms in force.
    ///   - spreadHash: A well-mixed hash of the instance; asked for only if the count is used up.
    package func earliest(
        _ reloadClass: ReloadClass,
        isPush: Bool,
        now: Instant,
        terms: BudgetTerms,
        spreadHash: @autoclosure () -> UInt64
    ) -> Instant {
        guard !terms.isUnlimited else { return now }
        precondition(terms.window.contains(now), "terms of another window")
        let paced = Instant(milliseconds: max(now.milliseconds, self.paced(reloadClass, terms: terms)))
        guard self.isSpent(isPush: isPush, terms: terms) else { return paced }
        return max(paced, terms.window.end + terms.spread(spreadHash()))
    }

    /// The first instant, not before now, at which an exempt reload may run. By the present policy, whatever the window's terms: nothing
    /// is charged.
    package func exemptEarliest(now: Instant, policy: BudgetPolicy) -> Instant {
        guard let last = self.lastReload else { return now }
        return max(now, last + policy.exemptInterval)
    }
}

extension ReloadBudget {
    /// Charges a reload that conforms: count and TAT advance, and the distances start again.
    ///
    /// - Precondition: It conforms as an urgent one, and so TAT stays within now + (B + 1) * T.
    package mutating func charge(at now: Instant, isPush: Bool, terms: BudgetTerms) {
        precondition(
            self.conforms(.urgent, isPush: isPush, at: now, terms: terms),
            "a reload is charged that does not conform"
        )
        self.book(at: now, isPush: isPush, terms: terms)
    }

    /// Counts a reload that happened whether or not it conformed: one observed on a host that drives its own
    /// timelines, or the collateral of a push to another instance.
    ///
    /// The count saturates at the limit, and TAT at now + (B + 1) * T unless it was later already.
    package mutating func book(at now: Instant, isPush: Bool, terms: BudgetTerms) {
        self.move(to: now)
        self.sinceCharge = 0
        let minute = Self.minute(of: terms.window)
        if self.windowMinute < minute {
            self.windowMinute = minute
            self.count = 0
            self.pushCount = 0
        }
        if Int(self.count) < (terms.isUnlimited ? Int(UInt16.max) : terms.limit) {
            self.count += 1
            if isPush, terms.isUnlimited || Int(self.pushCount) < terms.pushLimit { self.pushCount += 1 }
        }
        guard !terms.isUnlimited else { return }
        self.carryOver(from: terms.measure, to: terms.interval, at: now)
        let ceiling = (terms.interval * Int64(terms.burst + 1)).milliseconds
        let advanced = min(Int64(self.arrivalAhead) + terms.interval.milliseconds, ceiling)
        self.arrivalAhead = max(self.arrivalAhead, UInt32(clamping: advanced))
    }

    /// Gives a charge back to the count of its window, if that is still the present one. Never touches TAT or the
    /// distances: a refusal costs nothing, but it does not speed anything up.
    ///
    /// - Parameters:
    ///   - window: The window in which the reload was charged.
    ///   - isPush: As it was charged. The caller gives each charge back at most once.
    /// - Returns: Whether a charge was given back. When budgets were merged, the larger count represents both: charges
    ///   beyond it are not given back.
    @discardableResult
    package mutating func refund(in window: BudgetWindow, isPush: Bool) -> Bool {
        guard self.windowMinute == Self.minute(of: window), self.count > (isPush ? 0 : self.pushCount) else {
            return false
        }
        self.count -= 1
        if isPush, self.pushCount > 0 { self.pushCount -= 1 }
        return true
    }

    /// Notes a reload that is not charged: only the distance to the next exempt one starts again.
    package mutating func noteExempt(at now: Instant) {
        self.move(to: now)
    }

    /// Carries TAT over to terms with another pace: used budget, measured in intervals, stays used.
    ///
    /// Keeping TAT as an instant would be wrong. Two reloads at once under A = 9 leave TAT a quarter of the window
    /// ahead, which is exactly what A = 5 tolerates, so a third could follow at once although neither policy has a
    /// burst of three. Rounded up; distances beyond 49 days are cut.
    package mutating func carryOver(from old: BudgetTerms, to new: BudgetTerms, at now: Instant) {
        guard !old.isUnlimited, !new.isUnlimited else { return }
        self.carryOver(from: old.measure, to: new.measure, at: now)
    }

    private mutating func carryOver(from old: Interval, to new: Interval, at now: Instant) {
        guard old != new, let arrival = self.theoreticalArrival, arrival > now else { return }
        // TAT is less than 2^33 ahead of a time that does not go back; a forged budget may be of any time. Times a week at most: fits.
        let product = min((arrival - now).milliseconds, 1 << 33) * new.milliseconds
        let scaled = (product + old.milliseconds - 1) / old.milliseconds
        self.arrivalAhead = UInt32(clamping: now.milliseconds - self.reloaded + scaled)
    }

    /// Takes over another budget's use if it is more: later reloads, charges and TAT, larger counts. For instances that
    /// begin or cease to share a budget.
    package mutating func tighten(to other: ReloadBudget) {
        guard other.reloaded != Self.never else { return }
        guard self.reloaded != Self.never else {
            self = other
            return
        }
        let charge = [self.lastCharge, other.lastCharge].compactMap(\.self).max()
        let arrival = [self.theoreticalArrival, other.theoreticalArrival].compactMap(\.self).max()
        if other.windowMinute > self.windowMinute {
            (self.windowMinute, self.count, self.pushCount) = (other.windowMinute, other.count, other.pushCount)
        } else if other.windowMinute == self.windowMinute {
            self.count = max(self.count, other.count)
            self.pushCount = max(self.pushCount, other.pushCount)
        }
        self.reloaded = max(self.reloaded, other.reloaded)
        self.sinceCharge = charge.map { UInt32(clamping: self.reloaded - $0.milliseconds) } ?? .max
        self.arrivalAhead = arrival.map { UInt32(clamping: max(0, $0.milliseconds - self.reloaded)) } ?? 0
    }

    /// Makes `now` the last reload and keeps the last charge and TAT where they are. The log's time never goes back;
    /// should it, the later instant stays.
    private mutating func move(to now: Instant) {
        guard self.reloaded != Self.never else {
            self.reloaded = now.milliseconds
            return
        }
        let step = max(0, now.milliseconds - self.reloaded)
        self.reloaded += step
        if self.sinceCharge != .max {
            self.sinceCharge = UInt32(clamping: Int64(self.sinceCharge) + step)
        }
        self.arrivalAhead = UInt32(max(0, Int64(self.arrivalAhead) - step))
    }
}

extension ReloadBudget {
    package func encode(into writer: inout ByteWriter) {
        writer.write(signed: self.reloaded)
        writer.write(fixed32: self.sinceCharge)
        writer.write(varint: UInt64(self.arrivalAhead))
        writer.write(fixed32: self.windowMinute)
        writer.write(varint: UInt64(self.count))
        writer.write(varint: UInt64(self.pushCount))
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self.reloaded = try reader.readSigned()
        guard self.reloaded == Self.never || Self.instants.contains(self.reloaded) else {
            throw .invalid(offset: start)
        }
        self.sinceCharge = try reader.readFixed32()
        guard let arrivalAhead = UInt32(exactly: try reader.readVarint()) else {
            throw .invalid(offset: start)
        }
        self.windowMinute = try reader.readFixed32()
        guard let count = UInt16(exactly: try reader.readVarint()),
            let pushCount = UInt16(exactly: try reader.readVarint()),
            pushCount <= count,
            self.reloaded != Self.never || (arrivalAhead == 0 && self.sinceCharge == .max)
        else { throw .invalid(offset: start) }
        self.arrivalAhead = arrivalAhead
        self.count = count
        self.pushCount = pushCount
    }
}
