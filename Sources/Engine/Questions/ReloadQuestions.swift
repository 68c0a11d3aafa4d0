import Storage
import Timelines
package import WidgetModel

/// A detail of a reload by its id.
package protocol ReloadDetail: ByteCoded, Sendable {
    /// The detail of a reload; nil if the reload has none.
    static func find(_ reload: ReloadID, in engine: borrowing Engine) -> Self?
}

/// A detail of reloads, in the order of their ids; nil for a reload that has none.
package struct ReloadQuestion<Detail: ReloadDetail>: ItemsQuestion {
    package static var coding: some FieldCoding<Self> { Fields(Self.init, \.items) }
    package let items: [ReloadID]

    package init(_ ids: [ReloadID]) { self.items = ids }

    package func answer(from engine: borrowing Engine) -> [Detail?] {
        self.items.map { Detail.find($0, in: engine) }
    }
}

/// The host of a reload, out or not, unless its instance is gone.
extension HostKey: ReloadDetail {
    package static func find(_ reload: ReloadID, in engine: borrowing Engine) -> HostKey? {
        engine.liveInstance(of: reload).map { engine.hostKey(of: engine.registry[$0].host) }
    }
}

/// An outstanding reload.
extension ReloadEffect: ReloadDetail {
    package static func find(_ reload: ReloadID, in engine: borrowing Engine) -> ReloadEffect? {
        engine.findReload(reload).map { engine.effect(of: $0) }
    }
}

/// The subject of an outstanding reload.
extension FetchSubject: ReloadDetail {
    package static func find(_ reload: ReloadID, in engine: borrowing Engine) -> FetchSubject? {
        engine.findReload(reload).map { engine.subject(of: $0.instance, reload, $0) }
    }
}

/// The push to send for an outstanding reload, unless its host has no token any more. O(instances of the host + pushes that the reload
/// serves).
extension OutgoingPush: ReloadDetail {
    package static func find(_ reload: ReloadID, in engine: borrowing Engine) -> OutgoingPush? {
        guard let row = engine.findReload(reload), let token = engine.token(of: row.instance) else { return nil }
        var collapseID: [UInt8] = []
        var mayWait = !row.causes.isSubset(of: ReloadCauses(.push))
        engine.reloads.forEach(in: row.pushes) { number, match in
            mayWait = mayWait || match.expiresAt > row.issuedAt
            if number == row.primary { collapseID = engine.ledger.pushes.collapseID(of: match.push) }
        }
        return OutgoingPush(
            token: token,
            isControl: engine.registry[coldFields: row.instance].controlToken != nil,
            priority: engine.reloads.highestPriority(in: row.pushes),
            collapseID: collapseID.isEmpty ? nil : CollapseID(bytes: collapseID),
            expiresAt: row.expiresAt,
            mayWait: mayWait
        )
    }
}

/// The digest of the timeline that an instance shows, if a reload may have given it: its configuration has not changed since then.
package struct ShownDigest: ReloadDetail, Hashable {
    package let bytes: [UInt8]

    package static func find(_ reload: ReloadID, in engine: borrowing Engine) -> ShownDigest? {
        guard let instance = engine.liveInstance(of: reload),
            reload.position >= engine.registry[instance].configuredAt
        else { return nil }
        return engine.registry[content: instance].timeline?.timeline.digest.map { ShownDigest(bytes: $0) }
    }
}

/// The timeline that the instance of a reload shows, if that reload may have given it.
extension ShownTimeline: ReloadDetail {
    package static func find(_ reload: ReloadID, in engine: borrowing Engine) -> ShownTimeline? {
        guard ShownDigest.find(reload, in: engine) != nil else { return nil }
        return engine.shownTimeline(of: reload.instance, from: reload)
    }
}

/// The timelines that a kind's instances show, in the order of their numbers.
package struct ShownTimelines: EngineList {
    package static let coding = Fields(Self.init, \.app, \.kind)
    package let app: BundleID
    package let kind: WidgetKind

    package init(of app: BundleID, _ kind: WidgetKind) { (self.app, self.kind) = (app, kind) }

    package func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<ShownTimeline> {
        guard let app = engine.catalogue.findAnyApp(self.app),
            let kind = engine.catalogue.findAnyKind(self.kind, of: app)
        else { return ListPage() }
        let numbers = engine.registry.instanceNumbers(from: Number(place: part.place), atMost: part.scanMax)
        return ListPage(numbers, end: engine.registry.instanceEnd, limit: part.limit) { slot in
            engine.registry[slot].kind == kind ? engine.shownTimeline(of: slot) : nil
        }
    }
}

/// Outstanding reloads, in pages, in no order that matters.
///
/// Whatever happens between two pages, a reload that was outstanding when the first one was asked for, and still is when its turn comes, is on
/// exactly one page. O(limit + 65,536).
package struct ReloadsQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.scope, \.start, \.through, \.limit)

    /// Which of them.
    package enum Scope: Hashable, Sendable {
        /// A host's, in the order in which they were issued, all on one page.
        case host(HostKey)
        /// An app's reloads, except those for pushes to a token, which streams do not carry.
        case app(BundleID)
        /// Reloads that no stream delivers: a deliverer takes them up after a restart, or when it has room again.
        case undelivered
    }

    package let scope: Scope
    /// Zero at first, then ``ReloadsPage/next``.
    package let start: InstanceNumber
    /// Reloads that were issued later are on no page; nil for the first page, which says how far the log is applied.
    package let through: LogPosition?
    /// How many a page may have; a last instance's are not torn apart.
    package let limit: Int

    /// How many instances are looked at for one page, so that the partition is not held up: about a millisecond.
    static let scanMax = 65_536

    package init(
        _ scope: Scope,
        from start: InstanceNumber = InstanceNumber(0),
        through: LogPosition? = nil,
        limit: Int = .max
    ) {
        (self.scope, self.start, self.through, self.limit) = (scope, start, through, limit)
    }

    package var moment: QuestionMoment { self.through == nil ? .betweenEntries : .anyTime }

    package func answer(from engine: borrowing Engine) -> ReloadsPage {
        let through = self.through ?? engine.position
        switch self.scope {
        case .host(let host):
            let reloads = engine.outstandingReloads(host: host).filter { $0.id.position <= through }
            return ReloadsPage(reloads: reloads, next: nil, through: through)
        case .app(let app):
            guard let app = engine.catalogue.findAnyApp(app) else {
                return ReloadsPage(reloads: [], next: nil, through: through)
            }
            return self.page(of: engine, through) { !$0.isHostDriven && engine.catalogue[$0.kind].app == app }
        case .undelivered:
            return self.page(of: engine, through) { engine.registry[$0.host].delivery != .stream }
        }
    }

    /// A page of the outstanding reloads of some instances.
    private func page(
        of engine: borrowing Engine,
        _ through: LogPosition,
        where isWanted: (Registry.Instance) -> Bool
    ) -> ReloadsPage {
        var found: [ReloadEffect] = []
        let range = engine.registry.instanceNumbers(from: self.start, atMost: Self.scanMax)
        var slot = range.lowerBound
        while slot < range.upperBound, found.count < self.limit {
            let reloads = engine.schedule[active: slot].outstanding
            // A number that is free keeps its last row, which is at rest.
            if !reloads.isEmpty, isWanted(engine.registry[slot]) {
                engine.reloads.forEach(in: reloads) {
                    if $0.position <= through { found.append(engine.effect(of: $0)) }
                }
            }
            slot = slot.advanced(by: 1)
        }
        let next = slot.index < engine.registry.instanceEnd ? slot : nil
        return ReloadsPage(reloads: found, next: next, through: through)
    }
}

/// Some of the outstanding reloads, and where to continue.
package struct ReloadsPage: Hashable, Sendable {
    package let reloads: [ReloadEffect]
    /// Give it back for the next page; nil at the end.
    package let next: InstanceNumber?
    /// Reloads that were issued later than this are on no page.
    package let through: LogPosition

    package init(reloads: [ReloadEffect], next: InstanceNumber?, through: LogPosition) {
        (self.reloads, self.next, self.through) = (reloads, next, through)
    }
}

extension ReloadsQuestion.Scope: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .host(let host): writer.write(tag: 0, host)
        case .app(let app): writer.write(tag: 1, app)
        case .undelivered: writer.write(byte: 2)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .host(try HostKey(from: &reader))
        case 1: self = .app(try BundleID(from: &reader))
        case 2: self = .undelivered
        default: throw .invalid(offset: start)
        }
    }
}
