import APNSWire
import Engine
import Partitions
import Serving
import Storage
import WidgetModel

/// The tokens of one shard of a ``HostDirectory``: a row for one partition's word on one token.
///
/// Rows and the bytes of their tokens and ids lie in two arrays: a look-up reads three places, and refers to nothing
/// that would have to be counted.
struct HostDirectoryShard: ~Copyable, Sendable {
    struct Row: Sendable {
        /// Later words have higher numbers.
        fileprivate var number: UInt64 = 0
        /// When the token was removed, nil while it is bound.
        let removedAt: Instant?
        fileprivate(set) var app: UInt32
        /// Where in the text its own begins: the token's bytes, the host's id in UTF-8, the instance's.
        fileprivate(set) var start: Int
        let tokenCount: UInt32
        let hostCount: UInt32
        let instanceCount: UInt32
        let isOfControl: Bool
        /// Why the token was removed; of no meaning while it is bound.
        let reason: TokenRemoval
        let partition: PartitionID

        /// - Parameter instanceCount: nil unless it is the token of a control.
        init(
            _ partition: PartitionID,
            app: UInt32,
            removed: (at: Instant, reason: TokenRemoval)? = nil,
            start: Int,
            tokenCount: Int,
            hostCount: Int = 0,
            instanceCount: Int? = nil
        ) {
            self.removedAt = removed?.at
            self.app = app
            self.start = start
            self.tokenCount = UInt32(tokenCount)
            self.hostCount = UInt32(hostCount)
            self.instanceCount = UInt32(instanceCount ?? 0)
            self.isOfControl = instanceCount != nil
            self.reason = removed?.reason ?? .unregistered
            self.partition = partition
        }

        var token: Range<Int> { self.start..<self.start + Int(self.tokenCount) }
        var host: Range<Int> { self.token.upperBound..<self.token.upperBound + Int(self.hostCount) }
        var instance: Range<Int> { self.host.upperBound..<self.host.upperBound + Int(self.instanceCount) }
        var ids: Range<Int> { self.token.upperBound..<self.instance.upperBound }
        var text: Range<Int> { self.start..<self.instance.upperBound }
    }

    /// The numbers of apps that take no pushes.
    private static let othersStart: UInt32 = 1 << 31
    /// The text is written anew when half of it, and more than this, is of rows that are gone.
    private static let unusedTextMin = 4096
    /// How long a row's text is about, to make room for many: a token of 32 bytes and an id.
    private static let usualTextBytes = 48

    /// How many tokens ahead the memory of their look-ups is fetched.
    private static let prefetchedAhead = 16

    private var rows: [Row] = []
    private var free: [UInt32] = []
    private var index = SlotIndex()
    private var text: [UInt8] = []
    private var unusedText = 0
    /// The apps that pushes may be to, by number: few.
    private var apps: [BundleID]
    /// The other apps that rows name, by number from ``othersStart``.
    private var others: [BundleID] = []
    private var number: UInt64 = 0

    /// - Parameter apps: The apps that have a number from the start.
    init(apps: [BundleID]) {
        self.apps = apps
    }

    /// How many rows there are.
    var count: Int { self.rows.count - self.free.count }

    /// The bytes of text that are held, those of rows that are gone included.
    var textBytes: Int { self.text.count }
}

// MARK: - Looking up

extension HostDirectoryShard {
    /// The standing of a token and, if it is bound, its host.
    func find(
        _ token: borrowing TokenWords,
        _ hash: UInt64,
        of app: Int,
        into place: inout HostPlace
    ) -> TokenStanding {
        guard let slot = self.newest(token, hash) else { return .unknown }
        let row = self.rows[Int(slot)]
        if let at = row.removedAt { return .removed(isOfApp: Int(row.app) == app, row.reason, at: at) }
        place.become(
            row.partition,
            self.text.span.extracting(row.ids),
            hostCount: Int(row.hostCount),
            isOfControl: row.isOfControl
        )
        return .bound(isOfApp: Int(row.app) == app)
    }

    /// Fetches the cell where a look-up of this hash begins.
    func prefetchCell(_ hash: UInt64) { self.index.prefetch(hash) }

    /// Fetches the row that a look-up of this hash compares first: nearly always the right one.
    func prefetchRow(_ hash: UInt64) {
        if let slot = self.index.find(hash, where: { _ in true }) { self.rows.span.prefetch(Int(slot)) }
    }

    /// Fetches the text of that row.
    func prefetchText(_ hash: UInt64) {
        guard let slot = self.index.find(hash, where: { _ in true }) else { return }
        let text = self.rows[Int(slot)].text
        self.text.span.prefetch(text.lowerBound)
        self.text.span.prefetch(text.upperBound - 1)
    }

    /// The same as a ``TokenLookup``, for callers that are in no hurry.
    func lookup(_ token: borrowing TokenWords, _ hash: UInt64) -> TokenLookup {
        guard let slot = self.newest(token, hash) else { return .unknown }
        let row = self.rows[Int(slot)]
        let app = self.app(row.app)
        if let at = row.removedAt { return .removed(app: app, row.reason, at: at) }
        return .bound(
            TokenBinding(
                host: HostKey(app: app, id: HostID(String(decoding: self.text[row.host], as: UTF8.self))),
                instance: row.isOfControl ? InstanceID(String(decoding: self.text[row.instance], as: UTF8.self)) : nil,
                partition: row.partition
            )
        )
    }

    /// The row of the newest binding, else of the newest removal.
    @inline(__always)
    private func newest(_ token: borrowing TokenWords, _ hash: UInt64) -> UInt32? {
        var found: UInt32?
        _ = self.index.find(hash) { slot in
            guard self.isOf(token, slot) else { return false }
            if found.map({ self.outweighs(slot, $0) }) ?? true { found = slot }
            return false
        }
        return found
    }

    @inline(__always)
    private func isOf(_ token: borrowing TokenWords, _ slot: UInt32) -> Bool {
        token.isSpelled(by: self.text.span.extracting(self.rows[Int(slot)].token))
    }

    private func outweighs(_ slot: UInt32, _ other: UInt32) -> Bool {
        let (row, other) = (self.rows[Int(slot)], self.rows[Int(other)])
        return switch (row.removedAt, other.removedAt) {
        case (nil, nil): row.number > other.number
        case (nil, _?): true
        case (_?, nil): false
        case (let at?, let otherAt?): (at, row.number) > (otherAt, other.number)
        }
    }
}

// MARK: - Taking note

extension HostDirectoryShard {
    /// Makes room for about so many rows in all, and an eighth more: shards differ, and so do the partitions' words
    /// about them.
    mutating func reserve(_ count: Int) {
        guard self.rows.capacity < count else { return }
        let count = count + count / 8
        self.rows.reserveCapacity(count)
        self.index.reserve(count)
        self.text.reserveCapacity(count * Self.usualTextBytes)
    }

    /// A partition's newest word on a token, in place of the one before: the token's binding.
    mutating func bind(_ token: DeviceToken, _ hash: UInt64, to entry: TokenBinding) {
        let app = self.number(of: entry.app)
        self.noteToken(
            token,
            hash,
            entry.partition,
            app: app,
            removed: nil,
            host: entry.host.id,
            instance: entry.instance
        )
    }

    /// A partition's newest word on a token, in place of the one before: that it is no more.
    mutating func markRemoved(
        _ token: DeviceToken,
        _ hash: UInt64,
        app: BundleID,
        _ reason: TokenRemoval,
        at instant: Instant,
        in partition: PartitionID
    ) {
        let app = self.number(of: app)
        self.noteToken(token, hash, partition, app: app, removed: (instant, reason), host: nil, instance: nil)
    }

    private mutating func noteToken(
        _ token: DeviceToken,
        _ hash: UInt64,
        _ partition: PartitionID,
        app: UInt32,
        removed: (at: Instant, reason: TokenRemoval)?,
        host: HostID?,
        instance: InstanceID?
    ) {
        self.forget(token, hash, in: partition)
        let row = Row(
            partition,
            app: app,
            removed: removed,
            start: self.text.count,
            tokenCount: token.bytes.count,
            hostCount: host?.rawValue.utf8.count ?? 0,
            instanceCount: instance?.rawValue.utf8.count
        )
        self.text.append(contentsOf: token.bytes)
        if let host { self.text.append(contentsOf: host.rawValue.utf8) }
        if let instance { self.text.append(contentsOf: instance.rawValue.utf8) }
        self.insert(row, hash)
    }

    /// A partition's newest words on many tokens, each in place of the one before. O(rows).
    ///
    /// - Parameter apps: The apps by the numbers that the rows have.
    mutating func takeBatch(_ batch: Batch, of apps: [BundleID]) {
        for hash in batch.hashes.prefix(Self.prefetchedAhead) { self.prefetchCell(hash) }
        let start = self.text.count
        self.text.append(contentsOf: batch.text)
        var app: (given: UInt32, number: UInt32)?
        for index in batch.rows.indices {
            var row = batch.rows[index]
            let hash = batch.hashes[index]
            let ahead = index + Self.prefetchedAhead
            if ahead < batch.hashes.count { self.prefetchCell(batch.hashes[ahead]) }
            self.drop(batch.text.span.extracting(row.token), hash, in: row.partition)
            if app?.given != row.app { app = (row.app, self.number(of: apps[Int(row.app)])) }
            row.app = app?.number ?? row.app
            row.start += start
            self.insert(row, hash)
        }
        self.tidyText()
    }

    private mutating func insert(_ row: consuming Row, _ hash: UInt64) {
        self.number += 1
        row.number = self.number
        if let slot = self.free.popLast() {
            self.rows[Int(slot)] = row
            self.index.insert(slot, hash)
        } else {
            self.rows.append(row)
            self.index.insert(UInt32(self.rows.count - 1), hash)
        }
    }

    /// Forgets a partition's word on a token, if there is one.
    mutating func forget(_ token: DeviceToken, _ hash: UInt64, in partition: PartitionID) {
        self.drop(token.bytes.span, hash, in: partition)
        self.tidyText()
    }

    /// The same, but for the text, which stays for now.
    private mutating func drop(_ token: Span<UInt8>, _ hash: UInt64, in partition: PartitionID) {
        let found = self.index.find(hash) { slot in
            let row = self.rows[Int(slot)]
            return row.partition == partition && self.text.span.extracting(row.token).equals(token)
        }
        guard let found else { return }
        self.index.remove(found, hash)
        self.unusedText += self.rows[Int(found)].text.count
        self.free.append(found)
    }

    /// Forgets all that a partition said. O(rows).
    mutating func forget(_ partition: PartitionID, _ hash: (Span<UInt8>) -> UInt64) {
        var isFree = Array(repeating: false, count: self.rows.count)
        for slot in self.free { isFree[Int(slot)] = true }
        for slot in self.rows.indices where !isFree[slot] && self.rows[slot].partition == partition {
            self.index.remove(UInt32(slot), hash(self.text.span.extracting(self.rows[slot].token)))
            self.unusedText += self.rows[slot].text.count
            self.free.append(UInt32(slot))
        }
        self.tidyText()
    }

    private mutating func tidyText() {
        if self.unusedText > Self.unusedTextMin, self.unusedText > self.text.count / 2 { self.rewriteText() }
    }

    /// Leaves out the text of rows that are gone. O(rows), at most once for as many bytes written as it moves.
    private mutating func rewriteText() {
        var isFree = Array(repeating: false, count: self.rows.count)
        for slot in self.free { isFree[Int(slot)] = true }
        var text: [UInt8] = []
        text.reserveCapacity(self.text.count - self.unusedText)
        for slot in self.rows.indices where !isFree[slot] {
            let range = self.rows[slot].text
            self.rows[slot].start = text.count
            text.append(contentsOf: self.text[range])
        }
        self.text = text
        self.unusedText = 0
    }

    private mutating func number(of app: BundleID) -> UInt32 {
        if let index = self.apps.firstIndex(of: app) { return UInt32(index) }
        if let index = self.others.firstIndex(of: app) { return Self.othersStart + UInt32(index) }
        self.others.append(app)
        return Self.othersStart + UInt32(self.others.count - 1)
    }

    private func app(_ number: UInt32) -> BundleID {
        number < Self.othersStart ? self.apps[Int(number)] : self.others[Int(number - Self.othersStart)]
    }

    /// Numbers further apps that pushes may be to, behind those before. O(rows).
    mutating func serve(_ apps: [BundleID]) {
        guard apps != self.apps else { return }
        self.apps = apps
        for slot in self.rows.indices where self.rows[slot].app >= Self.othersStart {
            let app = self.app(self.rows[slot].app)
            if let number = apps.firstIndex(of: app) { self.rows[slot].app = UInt32(number) }
        }
    }
}
