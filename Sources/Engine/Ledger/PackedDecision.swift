import WidgetModel

/// A decision in the log, in 48 bytes: there are as many as are kept, and each is written once and seldom read.
struct PackedDecision: Sendable {
    private let push: PushID
    private let position: LogPosition
    private let instance: InstanceNumber
    /// The lower half of the previous decision's number.
    private let previous: UInt32
    private let at: ShortInstant
    /// ``ShortInstant/last`` for no date.
    private let until: ShortInstant
    private let cause: ReloadCause
    /// The outcome and, in the bits above it, which fields there are.
    private let outcome: UInt8
    private let reason: DecisionReason
    private let exemption: Exemption?

    private static let hasPush: UInt8 = 1 << 7
    private static let hasPrevious: UInt8 = 1 << 6

    /// Precondition: the previous decision is not four billion decisions ago.
    init(_ entry: DecisionLog.Entry) {
        self.push = entry.push
        self.position = entry.position
        self.instance = entry.instance
        self.previous = UInt32(truncatingIfNeeded: entry.previous)
        self.at = ShortInstant(entry.at)
        self.until = ShortInstant(entry.until)
        self.cause = entry.cause
        self.outcome =
            entry.outcome.rawValue | (entry.hasPush ? Self.hasPush : 0)
            | (entry.previous == DecisionLog.none ? 0 : Self.hasPrevious)
        self.reason = entry.reason
        self.exemption = entry.exemption
    }

    /// The decision.
    ///
    /// - Parameter number: Its number.
    func entry(numbered number: UInt64) -> DecisionLog.Entry {
        let outcome = PushOutcome(rawValue: self.outcome & ~(Self.hasPush | Self.hasPrevious))
        guard let outcome else { preconditionFailure("a decision is written without its outcome") }
        let distance = UInt64(UInt32(truncatingIfNeeded: number) &- self.previous)
        let until = self.until.instant
        return DecisionLog.Entry(
            at: self.at.instant,
            position: self.position,
            push: self.push,
            previous: self.outcome & Self.hasPrevious == 0 ? DecisionLog.none : number &- distance,
            until: until == ShortInstant.last ? .distantFuture : until,
            instance: self.instance,
            cause: self.cause,
            outcome: outcome,
            reason: self.reason,
            exemption: self.exemption,
            hasPush: self.outcome & Self.hasPush != 0
        )
    }
}
