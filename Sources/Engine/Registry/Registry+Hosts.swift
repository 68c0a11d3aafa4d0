import Storage
import WidgetModel

/// Hosts: by their keys, and by number.
extension Registry {
    /// The fields that decisions read of a host.
    @inline(__always)
    subscript(host: HostNumber) -> Host {
        _read { yield self.hosts.rows[host] }
        _modify { yield &self.hosts.rows[host] }
    }

    /// The number of a host; nil if it was never registered, or is forgotten.
    @inline(__always)
    func findHost(_ key: HostKey) -> HostNumber? { self.hosts.find(key) }

    /// The number of the host whose key these bytes are, see ``HostKey/text``.
    @inline(__always)
    func findHost(_ bytes: [UInt8], in range: Range<Int>) -> HostNumber? { self.hosts.find(bytes, in: range) }

    /// The id of a host; empty for a number that is free. O(bytes).
    func id(of host: HostNumber) -> HostID { self.hosts.id(of: host) }

    /// Lends the bytes of a host's id, in UTF-8.
    @inline(__always)
    func withID(of host: HostNumber, _ body: (Span<UInt8>) -> Void) { self.hosts.withID(of: host, body) }

    /// How many bytes a host's key takes.
    func keyByteCount(of host: HostNumber) -> Int { self.hosts.keyByteCount(of: host) }

    /// A host's context, in its own words.
    func context(of host: HostNumber) -> HostContext { self.hosts.context(of: host) }

    /// Notes a host's context from now on. O(bytes).
    mutating func setContext(of host: HostNumber, _ context: HostContext) { self.hosts.setContext(of: host, context) }

    /// Takes in a host that has no number.
    mutating func insertHost(_ row: consuming Host, named key: HostKey, saying context: HostContext) -> HostNumber {
        self.hosts.insert(row, named: key, saying: context)
    }

    /// Leaves nothing of a host. Precondition: it is not registered, and has neither tokens nor instances.
    mutating func releaseHost(_ host: HostNumber) { self.hosts.release(host) }

    /// All numbers of hosts are below this; some of them may be free.
    var hostEnd: Int { self.hosts.rows.end }
    /// All numbers that hosts ever had; of one that is free, the row is not registered.
    var hostNumbers: Range<HostNumber> { self.hosts.rows.numbers }

    /// Some of them, see `Table.numbers(from:atMost:)`.
    func hostNumbers(from start: HostNumber, atMost count: Int) -> Range<HostNumber> {
        self.hosts.rows.numbers(from: start, atMost: count)
    }

    /// Every host, in the order of its number. O(hosts).
    func usedHosts() -> [HostNumber] { self.hosts.rows.usedNumbers() }

    // MARK: Fetching ahead

    /// Fetches where a look-up of a key begins.
    ///
    /// - Returns: Its hash, for ``prefetchHost(hash:)``.
    @inline(__always)
    func prefetchHost(_ bytes: [UInt8], in range: Range<Int>) -> UInt64 { self.hosts.prefetch(bytes, in: range) }

    /// Fetches the row, and where the id is, of the host that a look-up compares first.
    @inline(__always)
    func prefetchHost(hash: UInt64) -> HostNumber? { self.hosts.prefetch(hash: hash) }

    /// Fetches the beginning of a host's id.
    @inline(__always)
    func prefetchID(of host: HostNumber) { self.hosts.prefetchID(of: host) }

    /// Fetches the row of a host, and where its id is.
    @inline(__always)
    func prefetchKey(of host: HostNumber) { self.hosts.prefetch(host) }

    /// Fetches the row of a host.
    @inline(__always)
    func prefetch(_ host: HostNumber) { self.hosts.rows.prefetch(host) }
}
