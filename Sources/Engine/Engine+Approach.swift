import Storage
import Timelines
import WidgetModel

/// What ``Engine/approach(_:in:)`` has come upon and ``Engine/finishApproach()`` follows. No part of the state.
struct Approach: Sendable {
    /// The hashes of the hosts that the records seem to be about.
    var hashes: [UInt64] = []
    /// Those hosts.
    var hosts: [HostNumber] = []
    /// An instance of each.
    var instances: [InstanceNumber] = []
}

extension Engine {
    /// How many instances of a host are fetched ahead; more lie next to them.
    private static let approachedInstances = 3

    /// Fetches the places in memory that a record will need, if it is a push to a token; changes nothing to be seen.
    ///
    /// A push needs a few rows at random places of large tables, and waits for each in turn. Fetched for some records
    /// before the first of them is applied, one table after the other, nobody waits: call this for each of them, and
    /// ``finishApproach()`` behind the last. Some tens of records are best: more do not stay in the nearest caches. O(1).
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: Where the record is in them.
    package mutating func approach(_ bytes: [UInt8], in range: Range<Int>) {
        let teamLength = range.lowerBound + PushHead.Offset.team
        guard teamLength < range.upperBound, bytes[range.lowerBound] == Record.Tag.push.rawValue,
            bytes[range.lowerBound + PushHead.Offset.flags] < 0x80,
            bytes[range.lowerBound + PushHead.Offset.target] != PushHead.Target.app.rawValue
        else { return }
        let id = PushID(
            high: ByteHash.word(bytes.span, at: range.lowerBound + PushHead.Offset.id),
            low: ByteHash.word(bytes.span, at: range.lowerBound + PushHead.Offset.id + 8)
        )
        self.repeats.approach(id)
        self.ledger.approach(id)
        let hostLength = teamLength + 1 + Int(bytes[teamLength])
        guard hostLength < range.upperBound else { return }
        let host = hostLength + 1..<hostLength + 1 + Int(bytes[hostLength])
        guard host.upperBound <= range.upperBound else { return }
        self.approached.hashes.append(self.hosts.approach(bytes, in: host))
    }

    /// Follows what the records seem to be about to the rows of their hosts and instances. O(records).
    package mutating func finishApproach() {
        self.approached.hosts.removeAll(keepingCapacity: true)
        self.approached.instances.removeAll(keepingCapacity: true)
        for hash in self.approached.hashes {
            if let host = self.hosts.approach(hash: hash) { self.approached.hosts.append(host) }
        }
        self.approached.hashes.removeAll(keepingCapacity: true)
        for host in self.approached.hosts { self.hosts.prefetchID(of: host) }
        for host in self.approached.hosts {
            let instance = self.hosts[host].firstInstance
            guard !instance.isNone else { continue }
            self.instances.rows.prefetch(instance)
            self.approached.instances.append(instance)
        }
        for _ in 0..<Self.approachedInstances {
            for index in self.approached.instances.indices {
                let instance = self.approached.instances[index]
                guard !instance.isNone else { continue }
                let last = self.instances[instance].pending.tail
                if !last.isNone { self.causes.nodes.prefetch(last) }
                let next = self.instances[instance].nextOfHost
                self.approached.instances[index] = next
                if !next.isNone { self.instances.rows.prefetch(next) }
            }
        }
    }
}

extension Engine {
    /// So many matches of a push are looked at ahead: enough that the processor waits for many at a time, and few enough
    /// that what they need is still in its first cache when they are decided.
    static let approachedMatches = 16

    /// Fetches the places in memory that deciding a push for some of its matches will need, one table after the other.
    /// O(matches).
    @inline(__always)
    mutating func approach(_ matches: Span<InstanceNumber>, _ range: Range<Int>, ofDigest hasDigest: Bool) {
        for place in range {
            let instance = matches[place]
            self.instances.rows.prefetch(instance)
            if hasDigest { self.instances.details.prefetch(instance) }
            self.instanceTimers.prefetch(instance)
        }
        for place in range {
            let instance = matches[place]
            self.hosts.rows.prefetch(self.instances[instance].host)
            let last = self.instances[instance].pending.tail
            if !last.isNone { self.causes.nodes.prefetch(last) }
            if hasDigest { self.instances.details.prefetchContent(of: instance) }
        }
    }
}
