import IntentMatching
import Timelines
import WidgetModel

/// Rows as versions 1 to 3 wrote them, which are only read.
enum EarlierRows {
    /// What stands before all the rest since version 3: with the details, which follow it, all that an index is made of.
    struct Head {
        let host: UInt32
        let kind: UInt32
        let flags: InstanceTable.Flags

        init(_ coder: inout StateReader) throws(ByteFault) {
            self.host = try coder.slot(0)
            self.kind = try coder.number(0)
            self.flags = try InstanceTable.Row.coded([], by: &coder)
        }

        init(_ row: borrowing InstanceTable.Row) {
            self.host = row.host
            self.kind = row.kind
            self.flags = row.flags
        }
    }

    /// What an index is made of.
    static func indexed(
        _ coder: inout StateReader,
        version: UInt64
    ) throws(ByteFault) -> (head: Head, details: InstanceDetails.Whole, configuration: Configuration) {
        let head = version >= 3 ? try Head(&coder) : Head(try self.row(&coder, nil))
        let (details, configuration) = try self.details(&coder)
        return (head, details, configuration)
    }

    /// An instance.
    static func instance(
        _ coder: inout StateReader,
        version: UInt64
    ) throws(ByteFault) -> (row: InstanceTable.Row, details: InstanceDetails.Whole, configuration: Configuration) {
        guard version < 3 else {
            let head = try Head(&coder)
            let (details, configuration) = try self.details(&coder)
            return (try self.row(&coder, head), details, configuration)
        }
        let row = try self.row(&coder, nil)
        let (details, configuration) = try self.details(&coder)
        return (row, details, configuration)
    }

    private static func details(
        _ coder: inout StateReader
    ) throws(ByteFault) -> (details: InstanceDetails.Whole, configuration: Configuration) {
        let id = InstanceID(try coder.text(""))
        let family = try coder.choice(WidgetFamily.systemSmall)
        let row = InstanceDetails.Row(id: id, family: family)
        let configuration = try coder.configuration(.empty)
        let tags = try coder.list([], "") { (coder, value) throws(ByteFault) in try coder.text(value) }
        var whole = InstanceDetails.Whole(row: row)
        if !tags.isEmpty { whole.particulars = InstanceDetails.Particulars(tags: tags) }
        let groups = try InstanceGroups([]).coded(by: &coder).intersection(.details)
        return (try whole.coded(by: &coder, groups), configuration)
    }

    /// A row.
    ///
    /// - Parameter head: What stood before it; nil where it stands among the rest.
    private static func row(_ coder: inout StateReader, _ head: Head?) throws(ByteFault) -> InstanceTable.Row {
        let (host, kind): (UInt32, UInt32)
        if let head {
            (host, kind) = (head.host, head.kind)
        } else {
            host = try coder.slot(0)
            kind = try coder.number(0)
        }
        let anchor: UInt32 = try coder.number(0)
        _ = try coder.fixed(0)
        var row = InstanceTable.Row(host: host, kind: kind, anchor: anchor)
        row.pending = try row.pending.coded(by: &coder)
        row.nextOfHost = try coder.slot(0)
        row.high = try coder.number(0)
        row.normal = try coder.number(0)
        row.waiting = ReloadCauses(rawValue: try coder.number(row.waiting.rawValue))
        row.flags = if let head { head.flags } else { try InstanceTable.Row.coded([], by: &coder) }
        row.rollingDay = try coder.slot(0)
        row.reason = try coder.choice(row.reason)
        row.minExpiry = try coder.date(0)
        row.decidesAt = try coder.date(0)
        row.timelineDue = try coder.date(0)
        row.lastDecision = try coder.number(row.lastDecision) &- 1
        row.budget = try row.budget.coded(by: &coder)
        row.windowMinute = try coder.number(0)
        row.allowance = try coder.number(0)
        row.views = try coder.number(0)
        row.rate = ViewRate(scaled: try coder.number(0))
        row.granted = try coder.number(0)
        row.visibleUntil = try coder.date(0)
        row.heldUntil = try coder.date(0)
        row.firstLimit = try coder.number(0)
        row.firstWindow = try coder.date(0)
        row.firstReload = try coder.reload(0)
        row.lastReload = try coder.reload(0)
        row.reloadsExpire = try coder.date(0)
        row.freeSetupAt = try coder.date(0)
        row.generation = try coder.number(0)
        row.configuredAt = try coder.position(.start)
        row.exemptReloads = try coder.number(0)
        return row
    }

    /// A host but for its tokens.
    static func host(_ coder: inout StateReader) throws(ByteFault) -> HostTable.Record {
        let blank = HostTable.Record.blank
        let id = HostID(try coder.text(""))
        var row = HostTable.Row(
            app: try coder.number(0),
            windows: try HostTable.Record.coded(blank.row.windows, by: &coder),
            delivery: try coder.choice(blank.row.delivery),
            registeredAt: try coder.instant(.epoch),
            firstRegisteredAt: try coder.instant(.epoch)
        )
        let context = try HostTable.Record.coded(blank.context, by: &coder)
        row.firstInstance = try coder.slot(0)
        row.liveInstances = try coder.number(0)
        row.isRegistered = try coder.flag(false)
        row.exemptUntil = try coder.date(0)
        row.aside = try row.aside.coded(by: &coder)
        row.tellsVisibility = try coder.flag(false)
        row.isInStandBy = try coder.flag(false)
        row.isInLowPower = try coder.flag(false)
        row.pushedAt = try coder.date(0)
        row.revision = try coder.number(0)
        row.leaseEnds = try coder.optional(nil, .epoch) { (coder, value) throws(ByteFault) in try coder.instant(value) }
        return HostTable.Record(id: id, row: row, context: context)
    }

    /// A reload.
    static func reload(_ coder: inout StateReader) throws(ByteFault) -> ReloadTable.Row {
        ReloadTable.Row(
            instance: try coder.slot(0),
            next: try coder.reload(0),
            position: try coder.position(.start),
            issuedAt: try coder.instant(.epoch),
            expiresAt: try coder.instant(.epoch),
            causes: ReloadCauses(rawValue: try coder.number(0)),
            exemption: try coder.optional(nil, .appForeground) { (coder, value) throws(ByteFault) in
                try coder.choice(value)
            },
            generation: try coder.number(0),
            window: try ReloadTable.Row.blank.window.coded(by: &coder),
            isCounted: try coder.flag(false),
            isPush: try coder.flag(false),
            pushes: try CauseList().coded(by: &coder),
            primary: try coder.slot(0),
            push: try coder.optional(nil, PushID(high: 0, low: 0)) { (coder, value) throws(ByteFault) in
                try coder.push(value)
            },
            digest: try coder.optional(nil, .blank) { (coder, value) throws(ByteFault) in
                try value.coded(by: &coder)
            },
            collateral: try coder.optional(nil, .conforming) { (coder, value) throws(ByteFault) in
                try coder.choice(value)
            },
            sharesToken: try coder.flag(false),
            isTrigger: try coder.flag(false)
        )
    }
}
