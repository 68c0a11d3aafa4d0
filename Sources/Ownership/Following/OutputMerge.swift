package import Journaling

/// An action that an ``OutputMerge`` wants done.
package enum OutputMergeAction: Hashable, Sendable {
    /// Hand on an output: the one that comes next.
    case publish(CommittedEffects)
    /// The next published output is at this position. Outputs before it are not known here, or were let go of before they were read.
    case begin(at: OutputPosition)
    /// Read outputs from a position on, nil for the newest ones, and tell ``OutputMerge/outputRead(_:in:)``, for as long as
    /// ``OutputMerge/isReading(in:)``.
    case read(from: OutputPosition?, session: Int)
}

/// The outputs of one partition in their order, each once, wherever its owner is: as the owner tells them while it is here, and as the
/// log has them otherwise.
///
/// ```
///              ownerBegins, or it tells the next output
///       ┌────────────────────────────────────────────────┐
///    reading ──ownerBegins, ahead──▶ catchingUp ──read──▶ told
///       ▲                                │                 │
///       └───────────ownerEnds────────────┴─────────────────┘
/// ```
///
/// An output is known by its position. One that comes again is left out. One that is ahead of the next output is left out, too: then the
/// log is read up to it.
package struct OutputMerge: Sendable {
    private enum Source: Hashable, Sendable {
        /// No owner tells anything, and nothing is read yet.
        case none
        case reading(session: Int)
        /// The owner is here. The output that it told last is ahead of those that were read.
        case catchingUp(session: Int, through: OutputPosition)
        case told
    }

    /// The output that is published next; nil while no place in the log is known.
    package private(set) var next: OutputPosition?
    private var source = Source.none
    private var sessions = 0
    private var actions: [OutputMergeAction] = []

    package init() {}

    /// The actions to take, in order.
    package mutating func takeActions() -> [OutputMergeAction] {
        defer { self.actions = [] }
        return self.actions
    }

    /// Whether the outputs of a session of reading are still wanted.
    package func isReading(in session: Int) -> Bool {
        switch self.source {
        case .none, .told: false
        case .reading(let own), .catchingUp(let own, _): own == session
        }
    }

    // MARK: The owner

    /// The log has outputs of others, and no owner is here.
    package mutating func follow() {
        if case .none = self.source { self.read() }
    }

    package mutating func takeNews(_ news: OwnerNews) {
        switch news {
        case .begins(let newest): self.ownerBegins(behind: newest)
        case .committed(let output): self.ownerTold(output)
        case .ends: self.ownerEnds()
        }
    }

    private mutating func ownerBegins(behind newest: OutputPosition?) {
        let first = newest?.next ?? .first
        if let newest, let next = self.next, next < first { return self.catchUp(through: newest) }
        if self.next == nil { self.begin(at: first) }
        self.source = .told
    }

    private mutating func ownerTold(_ output: CommittedEffects) {
        let next = self.next ?? output.position
        if output.position > next { return self.catchUp(through: output.position) }
        guard output.position == next else { return }
        self.publish(output)
        self.source = .told
    }

    private mutating func ownerEnds() {
        switch self.source {
        case .none, .reading: break
        case .catchingUp(let session, _): self.source = .reading(session: session)
        case .told: self.read()
        }
    }

    private mutating func catchUp(through position: OutputPosition) {
        switch self.source {
        case .none, .told:
            self.read()
            self.source = .catchingUp(session: self.sessions, through: position)
        case .reading(let session): self.source = .catchingUp(session: session, through: position)
        case .catchingUp(let session, let through):
            self.source = .catchingUp(session: session, through: max(through, position))
        }
    }

    // MARK: The log

    /// The log has nothing before a position any more, or reading begins there.
    package mutating func readingBegins(at position: OutputPosition, in session: Int) {
        guard self.isReading(in: session), position > self.next ?? OutputPosition(0) else { return }
        self.begin(at: position)
        self.stopIfCaughtUp()
    }

    package mutating func outputRead(_ output: CommittedEffects, in session: Int) {
        guard self.isReading(in: session), output.position >= self.next ?? output.position else { return }
        if output.position > self.next ?? OutputPosition(0) { self.readingBegins(at: output.position, in: session) }
        // The output that was ahead may have been lost together with those before it: then the owner tells the next
        // one.
        guard self.isReading(in: session) else { return }
        self.publish(output)
        self.stopIfCaughtUp()
    }

    private mutating func stopIfCaughtUp() {
        guard case .catchingUp(_, let through) = self.source, let next = self.next, next > through else { return }
        self.source = .told
    }

    private mutating func read() {
        self.sessions += 1
        self.source = .reading(session: self.sessions)
        self.actions.append(.read(from: self.next, session: self.sessions))
    }

    private mutating func begin(at position: OutputPosition) {
        self.next = position
        self.actions.append(.begin(at: position))
    }

    private mutating func publish(_ output: CommittedEffects) {
        self.next = output.position.next
        self.actions.append(.publish(output))
    }
}
