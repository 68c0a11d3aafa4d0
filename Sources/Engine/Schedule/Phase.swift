/// The phase of an instance, see the picture in docs/engine.md.
///
/// The phase follows from the instance's rows and is not kept a second time: an instance at rest has no ``ActiveRow``; any other has one
/// with its waiting causes and outstanding reloads. The bookkeeping of transitions is in `Schedule+Phases.swift`.
enum Phase: Hashable, Sendable {
    /// Nothing waits, and no reload is outstanding.
    case atRest
    /// A cause waits to be decided, or for its time.
    case waiting
    /// A reload was issued and has not ended.
    case outstanding
    /// A reload was issued and has not ended, and another cause may not reload yet.
    case waitingAndOutstanding

    @inline(__always)
    init(isWaiting: Bool, isOutstanding: Bool) {
        self =
            isWaiting
            ? isOutstanding ? .waitingAndOutstanding : .waiting : isOutstanding ? .outstanding : .atRest
    }

    /// Whether a cause waits.
    @inline(__always)
    var isWaiting: Bool { self == .waiting || self == .waitingAndOutstanding }

    /// Whether a reload is outstanding.
    @inline(__always)
    var isOutstanding: Bool { self == .outstanding || self == .waitingAndOutstanding }
}
