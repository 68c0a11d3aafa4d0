import Storage
import Timelines
import WidgetModel

/// The hashes and rows that ``Engine/prefetch(_:in:)`` has come upon and ``Engine/finishPrefetch()`` follows. No part
/// of the state.
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

    /// Prefetches the memory of a record, if it is a push to a token; changes nothing visible.
    ///
    /// A push needs a few rows at random places of large tables, and waits for each in turn. If the places of several
    /// records are prefetched before the first of them is applied, one table after the other, no record waits: call
    /// this for each of them, and ``finishPrefetch()`` after the last. Some tens of records are best: more do not stay
    /// in the nearest caches. O(1).
    ///
    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: The place of the record in them.
    package mutating func prefetch(_ bytes: [UInt8], in range: Range<Int>) {
        let teamLength = range.lowerBound + PushHead.Offset.team
        guard teamLength < range.upperBound, bytes[range.lowerBound] == Record.Tag.push.rawValue,
            bytes[range.lowerBound + PushHead.Offset.flags] < 0x80,
            bytes[range.lowerBound + PushHead.Offset.target] != PushHead.Target.app.rawValue
        else { return }
        let id = PushID(
            high: bytes.span.word(at: range.lowerBound + PushHead.Offset.id),
            low: bytes.span.word(at: range.lowerBound + PushHead.Offset.id + 8)
        )
        self.ledger.prefetchPush(id)
        let hostLength = teamLength + 1 + Int(bytes[teamLength])
        guard hostLength < range.upperBound else { return }
        let host = hostLength + 1..<hostLength + 1 + Int(bytes[hostLength])
        guard host.upperBound <= range.upperBound else { return }
        self.prefetched.hashes.append(self.registry.prefetchHost(bytes, in: host))
    }

    /// Prefetches the rows of the hosts and instances that the records are likely about. O(records).
    package mutating func finishPrefetch() {
        self.prefetched.hosts.removeAll(keepingCapacity: true)
        self.prefetched.instances.removeAll(keepingCapacity: true)
        for hash in self.prefetched.hashes {
            if let host = self.registry.prefetchHost(hash: hash) { self.prefetched.hosts.append(host) }
        }
        self.prefetched.hashes.removeAll(keepingCapacity: true)
        for host in self.prefetched.hosts { self.registry.prefetchID(of: host) }
        for host in self.prefetched.hosts {
            let instance = self.registry[host].firstInstance
            guard !instance.isNone else { continue }
            self.registry.prefetch(instance)
            self.schedule.prefetch(instance)
            self.prefetched.instances.append(instance)
        }
        for _ in 0..<Self.prefetchedInstances {
            for instance in self.prefetched.instances where !instance.isNone {
                self.schedule.prefetchActive(of: instance)
            }
            for index in self.prefetched.instances.indices {
                let instance = self.prefetched.instances[index]
                guard !instance.isNone else { continue }
                let last = self.schedule[active: instance].pending.tail
                if !last.isNone { self.reloads.prefetch(last) }
                let next = self.registry[instance].nextOfHost
                self.prefetched.instances[index] = next
                guard !next.isNone else { continue }
                self.registry.prefetch(next)
                self.schedule.prefetch(next)
            }
        }
    }
}

extension Engine {
    /// So many matches of a push are looked at ahead: enough that the processor waits for many at a time, and few enough
    /// that the rows they need are still in its first cache when they are decided.
    static let prefetchedMatches = 16

    /// Fetches the places in memory that deciding a push for some of its matches will need, one table after the other.
    /// O(matches).
    @inline(__always)
    mutating func prefetch(_ matches: Span<InstanceNumber>, _ range: Range<Int>, ofDigest hasDigest: Bool) {
        for place in range {
            let instance = matches[place]
            self.registry.prefetch(instance)
            if hasDigest { self.registry.prefetchDetails(of: instance) }
            self.schedule.prefetch(instance)
        }
        for place in range {
            let instance = matches[place]
            self.registry.prefetch(self.registry[instance].host)
            self.schedule.prefetchActive(of: instance)
            if hasDigest { self.registry.prefetchContent(of: instance) }
        }
        for place in range {
            let last = self.schedule[active: matches[place]].pending.tail
            if !last.isNone { self.reloads.prefetch(last) }
        }
    }

    /// Fetches the places in memory that the addresses of decisions' instances will need, one table after the other.
    /// O(decisions).
    func prefetchAddresses(of decisions: [Ledger.Decision]) {
        for decision in decisions {
            self.registry.prefetch(decision.instance)
            self.registry.prefetchDetails(of: decision.instance)
            self.schedule.prefetchRows(of: decision.instance)
        }
        // An instance that is forgotten may have no host: a snapshot leaves its row blank.
        for decision in decisions where self.registry[decision.instance].isLive {
            self.registry.prefetchKey(of: self.registry[decision.instance].host)
            self.registry.prefetchID(of: decision.instance)
        }
        for decision in decisions where self.registry[decision.instance].isLive {
            self.registry.prefetchID(of: self.registry[decision.instance].host)
        }
    }
}
