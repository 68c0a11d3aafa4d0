import WidgetModel

/// Matches of pushes that are decided and counted, but not yet in the rows of their instances.
///
/// A push that matches a million instances mostly finds them within their minimum interval: each match waits, whatever else
/// is known of the instance. That is seen from the four bytes of its ``SureWait``. What has to be written for it, at a dozen
/// places of their own, is written later and in slices, or when the instance is next touched: see ``Engine/settle()``.
struct PostponedMatches: Sendable {
    /// From how many matches at a time on they are postponed; nil if they never are.
    var batchMin: Int?
    /// At most so many matches are postponed at a time (4 bytes each); those beyond are written at once.
    var countMax = 0
    /// Matches of at most so many pushes: an instance is looked for among those of each, and each may take of its room.
    static let runsMax = SureWait.roomMax
    /// Marks an instance whose match has been written. Instances' numbers are below: no memory has room for as many.
    private static let done = UInt32(1) << 31

    /// Matches of one push, in the order of their decisions.
    struct Run: Sendable {
        let push: IncomingPush
        /// When they were decided.
        let time: Instant
        let position: LogPosition
        /// From which place on decisions have successive numbers, and the number of the first: others were written at once in
        /// between.
        private var parts: [(place: Int, decision: UInt64)]
        /// Before the first instant at which one of them could have a part in something, in milliseconds.
        fileprivate(set) var due: Int64
        /// Ascending; with ``done`` if it was written.
        fileprivate(set) var instances = RowChunks<UInt32>()
        /// Everything before has been written.
        fileprivate(set) var next = 0
        /// How many have not been written.
        fileprivate(set) var left = 0

        fileprivate init(_ matches: Matches) {
            self.push = matches.push
            self.time = matches.time
            self.position = matches.position
            self.parts = [(0, matches.firstDecision)]
            self.due = matches.due
        }

        /// The number of the decision of a match. O(log parts).
        func decision(_ place: Int) -> UInt64 {
            var (low, high) = (0, self.parts.count - 1)
            while low < high {
                let middle = low + (high - low + 1) / 2
                if self.parts[middle].place <= place { low = middle } else { high = middle - 1 }
            }
            return self.parts[low].decision + UInt64(place - self.parts[low].place)
        }

        /// Whether matches come behind these.
        fileprivate func isFollowed(by instances: Span<UInt32>, _ matches: Matches) -> Bool {
            let last = self.instances.last.map { $0 & ~PostponedMatches.done } ?? 0
            return self.push.row == matches.push.row && self.position == matches.position && last < instances[0]
        }

        fileprivate mutating func append(_ instances: Span<UInt32>, _ matches: Matches) {
            let count = self.instances.count
            if count > 0, self.decision(count) != matches.firstDecision {
                self.parts.append((count, matches.firstDecision))
            }
            self.due = min(self.due, matches.due)
            self.left += instances.count
            self.instances.append(copying: instances)
        }
    }

    /// What is alike for matches that are postponed together, whose decisions have successive numbers.
    struct Matches {
        let push: IncomingPush
        let time: Instant
        let position: LogPosition
        let firstDecision: UInt64
        /// Right for all of them; see ``Run/due``.
        let due: Int64
    }

    /// See ``forgetWaits(quiet:at:)``.
    private(set) var quiet: [Int64] = []
    /// How ``waits`` count time.
    private(set) var steps = SureWait.Steps(from: 0)
    /// Of each instance by number, as far as they are known.
    private var waits = RowChunks<SureWait>()
    /// A bit for each instance for which matches were postponed since there were none, or since all of its were written.
    private var marks: [UInt64] = []
    /// In the order of their decisions.
    private(set) var runs: [Run] = []
    /// How many matches are postponed.
    private(set) var count = 0
    /// How many have been postponed in all.
    private(set) var total = 0
    /// The first ``Run/due``.
    private(set) var due = Int64.max
    /// The number of the decision that is being written; `.max` if none is. What was decided later is written later.
    var written = UInt64.max

    /// Whether nothing is postponed.
    @inline(__always)
    var isEmpty: Bool { self.count == 0 }

    /// From how many matches in a row on those of one more push may be postponed.
    var batchMinNow: Int { self.runs.count < Self.runsMax ? self.batchMin ?? .max : .max }

    /// Notes for how long pushes are sure to wait for an instance.
    @inline(__always)
    mutating func note(_ wait: SureWait, of instance: UInt32) {
        self.makeRoom(above: instance)
        self.waits[Int(instance)] = wait
    }

    /// Nothing is sure any more of any instance. Precondition: nothing is postponed. O(instances).
    ///
    /// - Parameters:
    ///   - quiet: For each kind by number, for how long after a charge its instances are sure not to reload for a push, in
    ///     milliseconds.
    ///   - now: Milliseconds.
    mutating func forgetWaits(quiet: [Int64], at now: Int64) {
        precondition(self.isEmpty, "matches are still to be settled")
        self.waits = RowChunks()
        self.quiet = quiet
        self.steps = SureWait.Steps(from: now)
    }

    private mutating func makeRoom(above instance: UInt32) {
        guard Int(instance) >= self.waits.count else { return }
        self.waits.append(repeating: SureWait(), count: Int(instance) + 1 - self.waits.count)
    }

    /// Fetches what is known of an instance.
    @inline(__always)
    func approach(_ instance: UInt32) { if Int(instance) < self.waits.count { self.waits.prefetch(Int(instance)) } }

    /// Whether pushes may wait for an instance that are not in its row.
    @inline(__always)
    func isMarked(_ instance: UInt32) -> Bool {
        Int(instance / 64) < self.marks.count && self.marks[Int(instance / 64)] & Self.mark(instance) != 0
    }

    /// Notes that no push waits for an instance that is not in its row.
    mutating func unmark(_ instance: UInt32) { self.marks[Int(instance / 64)] &= ~Self.mark(instance) }

    private static func mark(_ instance: UInt32) -> UInt64 { 1 &<< UInt64(instance % 64) }

    /// The end of the time in which pushes are sure to wait for an instance, in milliseconds.
    func sureUntil(_ instance: UInt32) -> Int64 { self.steps.beginning(of: self.waits[Int(instance)].until) }

    /// Looks for the first match that is not sure to wait, or that is one more than may be postponed.
    ///
    /// - Parameters:
    ///   - instances: Ascending.
    ///   - first: The place of the first that is looked at.
    ///   - test: What is asked of each.
    /// - Returns: Its place.
    mutating func endOfSure(_ instances: Span<UInt32>, from first: Int, _ test: inout SureWait.Test) -> Int {
        let end = first + min(instances.count - first, max(0, self.countMax - self.count))
        guard first < end else { return first }
        self.makeRoom(above: instances[end - 1])
        return self.waits.end(of: instances.extracting(0..<end), from: first) { test.passes($0) }
    }

    /// Postpones matches of a push that are sure to wait.
    ///
    /// - Parameters:
    ///   - instances: Ascending.
    ///   - matches: What is alike for them.
    mutating func append(_ instances: Span<UInt32>, _ matches: Matches) {
        self.count += instances.count
        self.total += instances.count
        self.due = min(self.due, matches.due)
        if !(self.runs.last?.isFollowed(by: instances, matches) ?? false) { self.runs.append(Run(matches)) }
        self.runs[self.runs.count - 1].append(instances, matches)
        let words = (self.waits.count + 63) / 64
        if self.marks.count < words { self.marks += repeatElement(0, count: words - self.marks.count) }
        var marks = self.marks.mutableSpan
        for place in instances.indices { marks[Int(instances[place] / 64)] |= Self.mark(instances[place]) }
    }

    /// Takes the match at a place in a run out, if it has not been written yet.
    mutating func take(_ run: Int, _ place: Int) -> UInt32? {
        let instance = self.runs[run].instances[place]
        guard instance & Self.done == 0 else { return nil }
        self.runs[run].instances[place] = instance | Self.done
        self.runs[run].left -= 1
        self.count -= 1
        if self.isEmpty { (self.due, self.marks) = (.max, []) }
        return instance
    }

    /// Where an instance is in a run. O(log matches).
    func place(of instance: UInt32, in run: Int) -> Int? {
        let places = self.places(of: run)
        var (low, high) = (places.lowerBound, places.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if self.instance(run, middle) < instance { low = middle + 1 } else { high = middle }
        }
        return low < places.upperBound && self.instance(run, low) == instance ? low : nil
    }

    /// Where a run has matches that may not be written yet.
    func places(of run: Int) -> Range<Int> { self.runs[run].next..<self.runs[run].instances.count }

    /// Notes that everything before a place in a run has been written.
    mutating func advance(_ run: Int, to place: Int) { self.runs[run].next = place }

    func isWritten(_ run: Int, _ place: Int) -> Bool { self.runs[run].instances[place] & Self.done != 0 }

    func instance(_ run: Int, _ place: Int) -> UInt32 { self.runs[run].instances[place] & ~Self.done }

    /// Notes that nothing of a run can have a part in anything before an instant.
    mutating func setDue(_ due: Int64, of run: Int) {
        self.runs[run].due = due
        self.findDue()
    }

    private mutating func findDue() {
        self.due = self.runs.reduce(.max) { $1.left == 0 ? $0 : min($0, $1.due) }
    }

    /// Forgets the runs of which everything has been written.
    mutating func tidy() {
        guard self.runs.contains(where: { $0.left == 0 }) else { return }
        self.runs.removeAll { $0.left == 0 }
        self.findDue()
    }
}
