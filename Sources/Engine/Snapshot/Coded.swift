import Timelines
import WidgetModel

/// A row of a table as snapshots hold it.
protocol Coded {
    /// The row, which a writer was given and a reader has read; `self` is any row then.
    func coded(by coder: inout some StateCoder) throws(ByteError) -> Self
}

extension MatchList: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> MatchList {
        let count = try coder.number(self.count)
        guard count > 0 else { return MatchList() }
        return MatchList(head: try coder.slot(self.head), tail: try coder.slot(self.tail), count: count)
    }
}

extension Reloads.Match: Coded {
    static let blank = Reloads.Match(
        push: .none,
        instance: .none,
        collapseTag: 0,
        expiresAt: .epoch,
        priority: .low,
        isScheduled: false
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> Reloads.Match {
        Reloads.Match(
            push: try coder.slot(self.push),
            instance: try coder.slot(self.instance),
            next: try coder.slot(self.next),
            previous: try coder.slot(self.previous),
            collapseTag: try coder.number(self.collapseTag),
            expiresAt: try coder.date(self.expiresAt),
            priority: try coder.choice(self.priority),
            isScheduled: try coder.flag(self.isScheduled)
        )
    }
}

extension ReloadTable.Whole: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> ReloadTable.Whole {
        let said = Said(rawValue: try coder.number(Said(self).rawValue))
        guard said.isSubset(of: .known) else { throw coder.fault() }
        var row = ReloadTable.Row(
            instance: try coder.slot(self.instance),
            next: try coder.slot(self.next),
            position: try coder.position(self.position),
            issuedAt: try coder.instant(self.issuedAt),
            expiresAt: try coder.instant(self.expiresAt),
            causes: ReloadCauses(rawValue: try coder.number(self.causes.rawValue)),
            exemption: said.contains(.exemption) ? try coder.choice(self.exemption ?? .appForeground) : nil,
            generation: try coder.number(self.generation),
            window: try self.window.coded(by: &coder),
            isCounted: said.contains(.isCounted),
            isPush: said.contains(.isPush),
            sharesToken: said.contains(.sharesToken)
        )
        let served = ReloadTable.Served(
            pushes: said.contains(.pushes) ? try self.pushes.coded(by: &coder) : MatchList(),
            primary: said.contains(.pushes) ? try coder.slot(self.primary) : .none,
            push: said.contains(.push) ? try coder.push(self.push ?? PushID(high: 0, low: 0)) : nil,
            digest: said.contains(.digest) ? try (self.digest ?? .blank).coded(by: &coder) : nil
        )
        if said.contains(.collateral) { row.collateral = try coder.choice(self.collateral ?? .conforming) }
        return ReloadTable.Whole(row: row, served: served)
    }

    /// The yes-or-no properties of a reload, and which of its fields follow: those that it has.
    private struct Said: OptionSet {
        let rawValue: UInt16

        static let isCounted = Said(rawValue: 1 << 0)
        static let isPush = Said(rawValue: 1 << 1)
        static let sharesToken = Said(rawValue: 1 << 2)
        static let exemption = Said(rawValue: 1 << 3)
        static let pushes = Said(rawValue: 1 << 4)
        static let push = Said(rawValue: 1 << 5)
        static let digest = Said(rawValue: 1 << 6)
        static let collateral = Said(rawValue: 1 << 7)
        static let known = Said(rawValue: (1 << 8) - 1)

        init(rawValue: UInt16) { self.rawValue = rawValue }

        init(_ row: ReloadTable.Whole) {
            var said: Said = []
            if row.isCounted { said.insert(.isCounted) }
            if row.isPush { said.insert(.isPush) }
            if row.sharesToken { said.insert(.sharesToken) }
            if row.exemption != nil { said.insert(.exemption) }
            if row.pushes.count > 0 || !row.primary.isNone { said.insert(.pushes) }
            if row.push != nil { said.insert(.push) }
            if row.digest != nil { said.insert(.digest) }
            if row.collateral != nil { said.insert(.collateral) }
            self = said
        }
    }
}

extension BudgetWindow: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> BudgetWindow {
        let start = try coder.instant(self.start)
        let length = try coder.interval(self.length)
        guard length > .zero else { throw coder.fault() }
        return BudgetWindow(start: start, length: length)
    }
}

extension ContentDigest: Coded {
    static let blank = ContentDigest(team: .none, bytes: [])

    func coded(by coder: inout some StateCoder) throws(ByteError) -> ContentDigest {
        ContentDigest(team: try coder.number(self.team), bytes: try coder.bytes(self.bytes))
    }
}

extension DecisionLog.Entry: Coded {
    static let blank = DecisionLog.Entry(
        at: .epoch,
        position: .start,
        push: PushID(high: 0, low: 0),
        previous: DecisionLog.none,
        until: .distantFuture,
        instance: .none,
        cause: .added,
        outcome: .deferred,
        reason: .conforms,
        exemption: nil,
        hasPush: false
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> DecisionLog.Entry {
        let hasPush = try coder.flag(self.hasPush)
        return DecisionLog.Entry(
            at: try coder.instant(self.at),
            position: try coder.position(self.position),
            push: hasPush ? try coder.push(self.push) : PushID(high: 0, low: 0),
            previous: try coder.number(self.previous &+ 1) &- 1,
            until: try coder.date(self.until),
            instance: try coder.slot(self.instance),
            cause: try coder.choice(self.cause),
            outcome: try coder.choice(self.outcome),
            reason: try coder.choice(self.reason),
            exemption: try coder.optional(choice: self.exemption),
            hasPush: hasPush
        )
    }
}

extension RepeatWindow.Entry: Coded {
    static let blank = RepeatWindow.Entry(id: PushID(high: 0, low: 0), key: 0, acceptedAt: .epoch, matched: 0)

    func coded(by coder: inout some StateCoder) throws(ByteError) -> RepeatWindow.Entry {
        RepeatWindow.Entry(
            id: try coder.push(self.id),
            key: try coder.fixed(self.key),
            acceptedAt: try coder.instant(self.acceptedAt),
            matched: try coder.number(self.matched)
        )
    }
}

extension PushTable.Row: Coded {
    static let blank = PushTable.Row(
        id: PushID(high: 0, low: 0),
        team: .none,
        app: .none,
        priority: .low,
        contentHash: 0,
        position: .start,
        acceptedAt: .epoch,
        expiresAt: .epoch,
        notBefore: .epoch,
        hasCollapseID: false
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> PushTable.Row {
        PushTable.Row(
            id: try coder.push(self.id),
            team: try coder.number(self.team),
            app: try coder.slot(self.app),
            priority: try coder.choice(self.priority),
            isOpen: try coder.flag(self.isOpen),
            isForApp: try coder.flag(self.isForApp),
            failure: try coder.optional(choice: self.failure),
            contentHash: try coder.fixed(self.contentHash),
            position: try coder.position(self.position),
            acceptedAt: try coder.instant(self.acceptedAt),
            expiresAt: try coder.instant(self.expiresAt),
            notBefore: try coder.instant(self.notBefore),
            hasCollapseID: try coder.flag(self.hasCollapseID),
            completedAt: try coder.instant(self.completedAt),
            matched: try coder.number(self.matched),
            repeats: try coder.number(self.repeats),
            counts: try coder.counters(self.counts),
            failures: try coder.counters(self.failures),
            next: try coder.slot(self.next),
            previous: try coder.slot(self.previous)
        )
    }
}

extension TokenTable.Removal: Coded {
    static let blank = TokenTable.Removal(token: DeviceToken(bytes: []), app: .none, at: .epoch, reason: .unregistered)

    func coded(by coder: inout some StateCoder) throws(ByteError) -> TokenTable.Removal {
        TokenTable.Removal(
            token: try coder.value(self.token),
            app: try coder.number(self.app),
            at: try coder.instant(self.at),
            reason: try coder.choice(self.reason)
        )
    }
}
