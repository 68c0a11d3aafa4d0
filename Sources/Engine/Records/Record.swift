package import WidgetModel

/// One command of a partition's log: everything that can change an ``Engine``.
///
/// A log entry packs several records; all of them share the entry's position and log time. The first byte is the
/// record's tag. Tags are part of the on-disk format: 0...31 are commands of senders and hosts, 32 and above are
/// for operators.
package enum Record: Hashable, Sendable {
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
    /// An operator's change of the configuration.
    case amend(Amendment)
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
        case amend = 34

        package var name: String { String(describing: self) }
    }

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .settings(let settings):
            writer.write(byte: Tag.settings.rawValue)
            settings.encode(into: &writer)
        case .push(let push):
            writer.write(byte: Tag.push.rawValue)
            push.encode(into: &writer)
        case .register(let registration):
            writer.write(byte: Tag.register.rawValue)
            registration.encode(into: &writer)
        case .unregister(let removal):
            writer.write(byte: Tag.unregister.rawValue)
            removal.encode(into: &writer)
        case .signal(let signal):
            writer.write(byte: Tag.signal.rawValue)
            signal.encode(into: &writer)
        case .timeline(let report):
            writer.write(byte: Tag.timeline.rawValue)
            report.encode(into: &writer)
        case .delivery(let report):
            writer.write(byte: Tag.delivery.rawValue)
            report.encode(into: &writer)
        case .appReload(let request):
            writer.write(byte: Tag.appReload.rawValue)
            request.encode(into: &writer)
        case .invalidate(let request):
            writer.write(byte: Tag.invalidate.rawValue)
            request.encode(into: &writer)
        case .channel(let command):
            writer.write(byte: Tag.channel.rawValue)
            command.encode(into: &writer)
        case .trace(let trace):
            writer.write(byte: Tag.trace.rawValue)
            trace.encode(into: &writer)
        case .tick:
            writer.write(byte: Tag.tick.rawValue)
        case .order(let order):
            writer.write(byte: Tag.order.rawValue)
            order.encode(into: &writer)
        case .audit(let note):
            writer.write(byte: Tag.audit.rawValue)
            note.encode(into: &writer)
        case .amend(let amendment):
            writer.write(byte: Tag.amend.rawValue)
            amendment.encode(into: &writer)
        }
    }

    /// Reads one record, which must fill the reader to its end.
    package init(from reader: inout ByteReader) throws(ByteFault) {
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
        case .amend: self = .amend(try Amendment(from: &reader))
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
