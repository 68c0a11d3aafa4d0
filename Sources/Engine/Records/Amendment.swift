package import WidgetModel

/// An entry of the configuration that operators may change by a request: a team with its keys, or an app with its kinds.
package enum AmendedEntry: Hashable, Sendable, CustomStringConvertible {
    case team(TeamID)
    case app(BundleID)

    package var description: String {
        switch self {
        case .team(let team): "team \(team)"
        case .app(let app): "app \(app)"
        }
    }
}

/// An operator changes an entry of the configuration by a request, or takes that back.
///
/// Engines keep the standing amendments and decide nothing by them: they decide by the settings that come with them (``SettingsChange``). All
/// partitions have them, so that each start finds the changes since the configuration file was written.
package struct Amendment: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.action, \.entry, \.source)

    package enum Action: Hashable, Sendable {
        /// The entry is this from now on, in the form that the configuration file has, as JSON.
        case put(String)
        /// There is no such entry from now on.
        case end
        /// The entry of the configuration file is in force again.
        case revert
    }

    package let entry: AmendedEntry
    package let action: Action
    /// The operator who asked for it.
    package let source: OperatorSource

    package init(_ action: Action, _ entry: AmendedEntry, by source: OperatorSource) {
        self.entry = entry
        self.action = action
        self.source = source
    }
}

/// An entry that differs from the configuration file, since when, and by which request.
package struct StandingAmendment: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.entry, \.value, \.since, \.source)

    package let entry: AmendedEntry
    /// Its value, in the form of the configuration file, as JSON; nil where there is no such entry.
    package let value: String?
    /// When it was changed, in the log's time.
    package let since: Instant
    package let source: OperatorSource

    package init(entry: AmendedEntry, value: String?, since: Instant, source: OperatorSource) {
        self.entry = entry
        self.value = value
        self.since = since
        self.source = source
    }
}

extension [StandingAmendment] {
    package subscript(entry: AmendedEntry) -> StandingAmendment? { self.first { $0.entry == entry } }

    /// Takes an amendment in the place of an earlier one of the same entry, or behind the others.
    package mutating func takeAmendment(_ amendment: Amendment, at now: Instant) {
        let place = self.firstIndex { $0.entry == amendment.entry }
        let value: String?
        switch amendment.action {
        case .put(let text): value = text
        case .end: value = nil
        case .revert:
            if let place { self.remove(at: place) }
            return
        }
        let standing = StandingAmendment(entry: amendment.entry, value: value, since: now, source: amendment.source)
        if let place { self[place] = standing } else { self.append(standing) }
    }
}

extension AmendedEntry: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .team(let team): writer.write(tag: 0, team)
        case .app(let app): writer.write(tag: 1, app)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .team(try TeamID(from: &reader))
        case 1: self = .app(try BundleID(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}

extension Amendment.Action: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .put(let value): writer.write(tag: 0, value)
        case .end: writer.write(byte: 1)
        case .revert: writer.write(byte: 2)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .put(try reader.readString())
        case 1: self = .end
        case 2: self = .revert
        default: throw .invalid(offset: start)
        }
    }
}
