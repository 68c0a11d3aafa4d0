import Storage
import Timelines
import WidgetModel

/// What ``Engine/prefetch(_:in:)`` has come upon and ``Engine/finishPrefetch()`` follows. No part of the state.
struct PrefetchedRows: Sendable {
    /// The hashes of the hosts that the records seem to be about.
    var hashes: [UInt64] = []
    /// Those hosts.
    var hosts: [HostNumber] = []
    /// An instance of each.
    var instances: [InstanceNumber] = []
}

extension Engine {
    /// How many instances of a host are fetched ahead; more lie next to them.
    private static let prefetchedInstances = 3

    /// Fetches the places in memory that a record will need, if it is a push to a token; changes nothing to be seen.
    ///
    /// A push needs a few rows at random places of large tables, and waits for each in turn. Fetched for some records
    /// before the first of them is applied, one table after the other, nobody waits: call this for each of them, and
    /// ``finishPrefetch()`` behind the last. Some tens of records are best: more do not stay in the nearest caches. O(1).
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: Where the record is in them.
    package mutating func prefetch(_ bytes: [UInt8], in range: Range<Int>) {
        let teamLength = range.lowerBound + PushHead.Offset.team
        guard teamLength < range.upperBound, bytes[range.lowerBound] == Record.Tag.push.rawValue,
            bytes[range.lowerBound + PushHead.Offset.flags] < 0x80,
            bytes[range.lowerBound + PushHead.Offset.target] != PushHead.Target.app.rawValue
        else { return }
        let id = PushID(
            high: ByteHash.word(bytes.span, at: range.lowerBound + PushHead.Offset.id),
            low: ByteHash.word(bytes.span, at: range.lowerBound + PushHead.Offset.id + 8)
        )
        self.ledger.prefetchPush(id)
        let hostLength = teamLength + 1 + Int(bytes[teamLength])
        guard hostLength < range.upperBound else { return }
        let host = hostLength + 1..<hostLength + 1 + Int(bytes[hostLength])
        guard host.upperBound <= range.upperBound else { return }
        self.prefetched.hashes.append(self.hosts.prefetch(bytes, in: host))
    }

    /// Follows what the records seem to be about to the rows of their hosts and instances. O(records).
    package mutating func finishPrefetch() {
        self.prefetched.hosts.removeAll(keepingCapacity: true)
        self.prefetched.instances.removeAll(keepingCapacity: true)
        for hash in self.prefetched.hashes {
            if let host = self.hosts.prefetch(hash: hash) { self.prefetched.hosts.append(host) }
        }
        self.prefetched.hashes.removeAll(keepingCapacity: true)
        for host in self.prefetched.hosts { self.hosts.prefetchID(of: host) }
        for host in self.prefetched.hosts {
            let instance = self.hosts[host].firstInstance
            guard !instance.isNone else { continue }
            self.instances.rows.prefetch(instance)
            self.prefetched.instances.append(instance)
        }
        for _ in 0..<Self.prefetchedInstances {
            for instance in self.prefetched.instances where !instance.isNone {
                self.instances.prefetchActive(of: instance)
            }
            for index in self.prefetched.instances.indices {
                let instance = self.prefetched.instances[index]
                guard !instance.isNone else { continue }
                let last = self.instances[active: instance].pending.tail
                if !last.isNone { self.reloads.prefetch(last) }
                let next = self.instances[instance].nextOfHost
                self.prefetched.instances[index] = next
                if !next.isNone { self.instances.rows.prefetch(next) }
            }
        }
    }
}

extension Engine {
    /// So many matches of a push are looked at ahead: enough that the processor waits for many at a time, and few enough
    /// that what they need is still in its first cache when they are decided.
    static let prefetchedMatches = 16

    /// Fetches the places in memory that deciding a push for some of its matches will need, one table after the other.
    /// O(matches).
    @inline(__always)
    mutating func prefetch(_ matches: Span<InstanceNumber>, _ range: Range<Int>, ofDigest hasDigest: Bool) {
        for place in range {
            let instance = matches[place]
            self.instances.rows.prefetch(instance)
            if hasDigest { self.instances.details.prefetch(instance) }
            self.instanceTimers.prefetch(instance)
        }
        for place in range {
            let instance = matches[place]
            self.hosts.rows.prefetch(self.instances[instance].host)
            self.instances.prefetchActive(of: instance)
            if hasDigest { self.instances.details.prefetchContent(of: instance) }
        }
        for place in range {
            let last = self.instances[active: matches[place]].pending.tail
            if !last.isNone { self.reloads.prefetch(last) }
        }
    }
}
