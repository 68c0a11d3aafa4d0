package import Engine
package import Journaling
import Settings
package import Tracing
package import WidgetModel

/// The traced pushes that one partition's owner knows: where their spans are in their traces.
///
/// Filled from the log as it is applied, so a replay fills it, too. A push that was accepted before that began, or that there
/// was no room for, is looked for in the log when something comes of it.
package struct PartitionTraces: Sendable {
    private struct Push {
        /// Nil for one that was looked for and is not traced.
        let place: TraceContext?
        let acceptedAt: Instant
        var reloads = 0
    }

    private let tracing: GatewayTracing
    private let partition: PartitionID
    private var pushes: [PushID: Push] = [:]
    private var order: [(id: PushID, position: LogPosition)] = []
    /// Up to here a push that is not in ``pushes`` may be traced all the same.
    private var floor = LogPosition.start

    package init(_ tracing: GatewayTracing, _ partition: PartitionID) {
        self.tracing = tracing
        self.partition = partition
    }

    /// The state was read from a snapshot at this position.
    package mutating func restored(at position: LogPosition) {
        self.floor = position
    }

    /// Takes note of the traced pushes of an entry that was applied.
    ///
    /// - Parameters:
    ///   - output: The output of applying it.
    ///   - begunAt: When applying it began; nil for a replay, of which nothing is told.
    package mutating func applied(
        _ entry: LogEntry,
        _ output: EngineOutput,
        from begunAt: DefaultTracerClock.Timestamp?
    ) {
        let bytes = entry.bytes
        var index = 0
        for range in entry.records {
            defer { index += 1 }
            guard let trace = Self.trace(bytes, in: range) else { continue }
            var result: (matched: Int, isRepeat: Bool)?
            // It stands behind its push, and each record has one answer.
            if index > 0, index <= output.answers.count, output.answers[index - 1].recordIndex == index - 1,
                case .push(let matched, let isRepeat) = output.answers[index - 1].result
            {
                result = (matched, isRepeat)
            }
            if result?.isRepeat != true {
                self.remember(trace.push, Push(place: trace.context, acceptedAt: entry.logTime), entry.position)
            }
            guard let begunAt, let span = self.tracing.begin("decide", below: trace.context, at: begunAt) else {
                continue
            }
            span.set("freshet.partition", Int(self.partition.rawValue))
            span.set("freshet.position", Int(clamping: entry.position.rawValue))
            if let result {
                span.set("freshet.matched", result.matched)
                if result.isRepeat { span.set("freshet.repeat", "true") }
            }
            span.end()
        }
    }

    /// The spans of reloads that are handed on now; they end when that is done.
    ///
    /// - Parameters:
    ///   - engine: Knows where pushes are in the log.
    ///   - journal: The log.
    package mutating func issued(
        _ effects: [Effect],
        _ engine: borrowing Engine,
        _ journal: any Journal
    ) -> [TracedSpan] {
        var spans: [TracedSpan] = []
        for effect in effects {
            switch effect {
            case .reload(let reload): self.begin(reload, engine, journal, &spans)
            case .push(let push):
                for member in push.members { self.begin(member.reload, engine, journal, &spans) }
            case .invalidation: continue
            }
        }
        return spans
    }

    private mutating func begin(
        _ reload: ReloadEffect,
        _ engine: borrowing Engine,
        _ journal: any Journal,
        _ spans: inout [TracedSpan]
    ) {
        guard let id = reload.push else { return }
        if self.pushes[id] == nil { self.find(id, engine, journal) }
        guard let push = self.pushes[id], let place = push.place else { return }
        guard push.reloads < self.tracing.settings.reloadsPerPushMax else {
            return self.tracing.count { $0.reloadsBeyond += 1 }
        }
        self.pushes[id]?.reloads += 1
        guard let span = self.tracing.begin("reload", below: place) else { return }
        span.set("freshet.app", reload.app.rawValue)
        span.set("freshet.kind", reload.kind.rawValue)
        span.set("freshet.reload", reload.id.description)
        span.set("freshet.delivery", "\(reload.delivery)")
        span.set("freshet.waited_ms", Int(clamping: (reload.issuedAt - push.acceptedAt).milliseconds))
        if let exemption = reload.exemption { span.set("freshet.exemption", exemption.name) }
        self.tracing.remember(reload.id, span.context)
        spans.append(span)
    }

    /// Looks for a push in the log that is not remembered, if it may be traced, and remembers the result. Waits for the
    /// store, which happens behind a restart and where there were very many pushes since.
    private mutating func find(_ id: PushID, _ engine: borrowing Engine, _ journal: any Journal) {
        guard let origin = engine.origin(of: id), origin.position <= self.floor else { return }
        var place: TraceContext?
        // A push whose entry is trimmed or cannot be read is not traced any further.
        let entry = try? journal.history.read(self.partition, from: origin.position, entriesMax: 1).first
        if let entry, entry.position == origin.position {
            let bytes = entry.bytes
            for range in entry.records where place == nil {
                if let trace = Self.trace(bytes, in: range), trace.push == id { place = trace.context }
            }
        }
        self.remember(id, Push(place: place, acceptedAt: origin.acceptedAt), origin.position)
    }

    private mutating func remember(_ id: PushID, _ push: Push, _ position: LogPosition) {
        let max = self.tracing.settings.pushesMax
        if self.order.count >= max {
            // Half of them at once, so that each costs little.
            let old = self.order.prefix((max + 1) / 2)
            for (id, position) in old {
                self.pushes[id] = nil
                self.floor = Swift.max(self.floor, position)
            }
            let count = old.count
            self.order.removeFirst(count)
            self.tracing.count { $0.pushesForgotten += count }
        }
        if self.pushes.updateValue(push, forKey: id) == nil { self.order.append((id, position)) }
    }

    /// The record, if it is of that kind.
    private static func trace(_ bytes: [UInt8], in range: Range<Int>) -> PushTrace? {
        guard let first = range.first, bytes[first] == Record.Tag.trace.rawValue else { return nil }
        var reader = ByteReader(bytes, in: range.dropFirst())
        return try? PushTrace(from: &reader)
    }
}
