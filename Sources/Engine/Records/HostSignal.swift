package import WidgetModel

/// A session during which WidgetKit does not charge reloads. Raw values are part of the on-disk format.
package enum HostSession: UInt8, Hashable, Sendable, CaseIterable {
    case media = 0
    case navigation = 1
    case location = 2

    var exemption: Exemption {
        switch self {
        case .media: .mediaSession
        case .navigation: .navigationSession
        case .location: .locationSession
        }
    }
}

/// Something that happened on a host: `POST /v1/hosts/<token>/signals`.
///
/// Foreground and sessions lapse after ``lapse`` unless they are signalled again.
package struct HostSignal: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case appForeground
        case appBackground
        case sessionStarted(HostSession)
        case sessionEnded(HostSession)
    }

    /// How long a foreground or a session holds without being signalled again.
    package static let lapse = Interval.hours(1)

    package var host: HostID
    package var event: Event

    package init(host: HostID, event: Event) {
        self.host = host
        self.event = event
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.host.rawValue)
        switch self.event {
        case .appForeground: writer.write(byte: 0)
        case .appBackground: writer.write(byte: 1)
        case .sessionStarted(let session):
            writer.write(byte: 2)
            writer.write(byte: session.rawValue)
        case .sessionEnded(let session):
            writer.write(byte: 3)
            writer.write(byte: session.rawValue)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.host = HostID(try reader.readString())
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self.event = .appForeground
        case 1: self.event = .appBackground
        case let tag where tag == 2 || tag == 3:
            guard let session = HostSession(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
            self.event = tag == 2 ? .sessionStarted(session) : .sessionEnded(session)
        default: throw .invalid(offset: start)
        }
    }
}
