/// Decides about the connections of hosts: which to make at which time, which to make again, and whether all are there.
///
/// An event goes in as a call; the resulting actions are appended to a list. It has no clock and no connection. A stream is known by its
/// index; the connection for questions, which has no stream, comes behind them.
struct HostStreamsMachine {
    /// A load had a stream drop and connect again, and meant it to at an instant.
    struct Again: Hashable, Sendable {
        let load: Int
        let intended: Int64
    }

    enum Action: Hashable {
        case connect(Int)
        /// Connect in a moment, by ``connectNow(_:_:)``.
        case connectSoon(Int)
        /// End the connection as a network does.
        case drop(Int)
        /// Every stream has begun.
        case allOpen
        /// They cannot be read, before all had begun.
        case giveUp(String)
        /// A connection was lost of itself.
        case countLost
        /// A stream that was to connect again has begun.
        case cameBack(Again)
        /// It did not.
        case stayedAway(Again, String)
    }

    private enum Phase: Hashable {
        /// So many have not begun; those from `next` on are not even asked to connect.
        case opening(left: Int, next: Int)
        case open
        case closing
    }

    private enum Stream: Hashable {
        case unconnected
        case connecting
        /// Its request is out.
        case asked
        case begun
        /// It connects in a moment.
        case waiting
    }

    /// Streams that connect at once.
    static let dialsMax = 64
    /// How many streams are looked at for one that is not connecting again already.
    static let againTries = 64

    private var phase: Phase
    private var streams: [Stream]
    private var again: [Int: Again] = [:]
    /// The index of the connection for questions, nil without one.
    private let inquirer: Int?

    /// - Parameters:
    ///   - count: How many streams there are.
    ///   - asksQuestions: Whether there is a connection for questions.
    init(count: Int, asksQuestions: Bool) {
        self.streams = Array(repeating: .unconnected, count: count + (asksQuestions ? 1 : 0))
        self.inquirer = asksQuestions ? count : nil
        self.phase = .opening(left: self.streams.count, next: 0)
    }

    /// Whether all have begun, or it was given up that they do.
    var isOpening: Bool {
        if case .opening = self.phase { true } else { false }
    }

    /// Whether no stream has to come back that a load had drop.
    var isQuiet: Bool { self.again.isEmpty }

    // MARK: Opening

    mutating func open(_ actions: inout [Action]) {
        guard case .opening(let left, _) = self.phase else { return }
        guard left > 0 else {
            self.phase = .open
            return actions.append(.allOpen)
        }
        let streams = self.inquirer ?? self.streams.count
        self.phase = .opening(left: left, next: min(Self.dialsMax, streams))
        if let inquirer { self.connect(inquirer, &actions) }
        for index in 0..<min(Self.dialsMax, streams) { self.connect(index, &actions) }
    }

    private mutating func connect(_ index: Int, _ actions: inout [Action]) {
        self.streams[index] = .connecting
        actions.append(.connect(index))
    }

    /// A connection is there.
    ///
    /// - Returns: Whether to ask for its stream.
    mutating func connected(_ index: Int, _ actions: inout [Action]) -> Bool {
        guard self.streams[index] == .connecting else { return false }
        guard index == self.inquirer else {
            self.streams[index] = .asked
            return true
        }
        self.streams[index] = .begun
        self.countBegun(&actions)
        return false
    }

    /// The first bytes of a stream have come.
    mutating func begun(_ index: Int, _ actions: inout [Action]) {
        guard self.streams[index] == .asked else { return }
        self.streams[index] = .begun
        if let again = self.again.removeValue(forKey: index) { return actions.append(.cameBack(again)) }
        guard case .opening(let left, let next) = self.phase else { return }
        if next < self.inquirer ?? self.streams.count {
            self.phase = .opening(left: left, next: next + 1)
            self.connect(next, &actions)
        }
        self.countBegun(&actions)
    }

    private mutating func countBegun(_ actions: inout [Action]) {
        guard case .opening(let left, let next) = self.phase else { return }
        self.phase = left > 1 ? .opening(left: left - 1, next: next) : .open
        if left == 1 { actions.append(.allOpen) }
    }

    /// Why not all streams can be read: one was refused.
    mutating func refused(_ reason: String, _ actions: inout [Action]) {
        guard self.isOpening else { return }
        self.phase = .open
        actions.append(.giveUp(reason))
    }

    // MARK: Connecting again

    /// A connection has gone, or did not come about. It comes again soon, as hosts do.
    mutating func lost(_ index: Int, _ reason: String, _ actions: inout [Action]) {
        switch self.phase {
        case .closing: return
        case .opening:
            self.streams[index] = .unconnected
            self.refused(reason, &actions)
        case .open:
            guard self.streams[index] != .waiting else { return }
            self.streams[index] = .waiting
            if index != self.inquirer, self.again[index] == nil { actions.append(.countLost) }
            actions.append(.connectSoon(index))
        }
    }

    /// The moment of a ``Action/connectSoon(_:)`` is over.
    mutating func connectNow(_ index: Int, _ actions: inout [Action]) {
        guard self.phase != .closing, self.streams[index] == .waiting else { return }
        self.connect(index, &actions)
    }

    /// Has a stream drop and connect again at once: one that is not connecting again from the last time, from `first` on, where
    /// there is one near.
    ///
    /// - Parameter count: How many streams are hosts' own.
    mutating func reconnect(_ first: Int, among count: Int, _ again: Again, _ actions: inout [Action]) {
        guard self.phase != .closing else { return }
        let near = (0..<min(count, Self.againTries)).lazy.map { (first + $0) % count }
        let index = near.first { self.again[$0] == nil } ?? first
        // Twice at once: the first attempt did not come to its end.
        if let before = self.again[index] { actions.append(.stayedAway(before, "dropped again")) }
        self.again[index] = again
        actions.append(.drop(index))
        self.connect(index, &actions)
    }

    /// The run is over.
    mutating func close(_ actions: inout [Action]) {
        self.phase = .closing
        for index in self.again.keys.sorted() {
            guard let again = self.again.removeValue(forKey: index) else { continue }
            actions.append(.stayedAway(again, "not back in time"))
        }
    }
}
