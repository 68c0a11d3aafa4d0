package import WidgetModel

/// One command of a partition's log: everything that can change an ``Engine``.
///
/// A log entry packs several records; all of them share the entry's position and log time. The first byte is the
/// record's tag. Tags are part of the on-disk format: 0...31 are commands of senders and hosts, 32 and above are
/// for operators.
package enum Record: Hashable, Sendable {
    /// The settings with which a partition starts. They change nothing where settings were changed since.
    case settings(EngineSettings)
    case push(PushRecord)
    case register(HostRegistration)
    case unregister(HostRemoval)
    case signal(HostSignal)
    case timeline(TimelineReport)
    case delivery(DeliveryReport)
    case appReload(AppReloadRequest)
    case invalidate(InvalidationRequest)
    /// An order of an operator, or a cancellation by a sender.
    case order(OperatorOrder)
    /// Any other change by an operator.
    case audit(AuditNote)
    /// Settings change while partitions run.
    case configure(SettingsChange)
    case channel(ChannelCommand)
    /// Of the push before it.
    case trace(PushTrace)
    /// Nothing but the passing of time: the owner appends one when ``Engine/nextTimer`` is due.
    case tick

    package enum Tag: UInt8, Hashable, Sendable, CaseIterable {
        case settings = 0
        case push = 1
        case register = 2
        case unregister = 3
        case signal = 4
        case timeline = 5
        case delivery = 6
        case appReload = 7
        case tick = 8
        case invalidate = 9
        case trace = 10
        case channel = 16
        case order = 32
        case audit = 33
        case configure = 34

        package var name: String { String(describing: self) }
    }

    package func encode(into writer: inout ByteWriter) {
        func write(_ tag: Tag, _ body: some ByteCoded) {
            writer.write(byte: tag.rawValue)
            body.encode(into: &writer)
        }
        switch self {
        case .settings(let settings): write(.settings, settings)
        case .push(let push): write(.push, push)
        case .register(let registration): write(.register, registration)
        case .unregister(let removal): write(.unregister, removal)
        case .signal(let signal): write(.signal, signal)
        case .timeline(let report): write(.timeline, report)
        case .delivery(let report): write(.delivery, report)
        case .appReload(let request): write(.appReload, request)
        case .invalidate(let request): write(.invalidate, request)
        case .channel(let command): write(.channel, command)
        case .trace(let trace): write(.trace, trace)
        case .tick: writer.write(byte: Tag.tick.rawValue)
        case .order(let order): write(.order, order)
        case .audit(let note): write(.audit, note)
        case .configure(let change): write(.configure, change)
        }
    }

    /// Reads one record, which must fill the reader to its end.
    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard let tag = Tag(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
        switch tag {
        case .settings: self = .settings(try EngineSettings(from: &reader))
        case .push: self = .push(try PushRecord(from: &reader))
        case .register: self = .register(try HostRegistration(from: &reader))
        case .unregister: self = .unregister(try HostRemoval(from: &reader))
        case .signal: self = .signal(try HostSignal(from: &reader))
        case .timeline: self = .timeline(try TimelineReport(from: &reader))
        case .delivery: self = .delivery(try DeliveryReport(from: &reader))
        case .appReload: self = .appReload(try AppReloadRequest(from: &reader))
        case .invalidate: self = .invalidate(try InvalidationRequest(from: &reader))
        case .channel: self = .channel(try ChannelCommand(from: &reader))
        case .trace: self = .trace(try PushTrace(from: &reader))
        case .tick: self = .tick
        case .order: self = .order(try OperatorOrder(from: &reader))
        case .audit: self = .audit(try AuditNote(from: &reader))
        case .configure: self = .configure(try SettingsChange(from: &reader))
        }
        guard reader.isAtEnd else { throw .invalid(offset: reader.offset) }
    }

    /// The record's bytes, as they stand in the log.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 128)
        self.encode(into: &writer)
        return writer.bytes
    }
}
