package import WidgetModel

/// The subject of an operator's order.
package enum OrderScope: Hashable, Sendable {
    case app(BundleID)
    case kind(BundleID, WidgetKind)
    /// Everything that a team sends.
    case sender(TeamID)
    case host(HostKey)
    case instance(InstanceAddress)
    /// The pushes with this id, of one team or of all, and for one app or for all.
    case push(PushID, TeamID?, BundleID? = nil)
}

/// An operator interferes, or a sender takes a push back. Each is a record, so that a replay decides alike.
package struct OperatorOrder: FieldCoded, Hashable, Sendable {
    package static let coding = Fields({ Self($0, $1, by: $2) }, \.action, \.scope, \.source)

    package enum Action: Hashable, Sendable {
        /// Nothing of it reloads until then, or until it is resumed: an app, a kind or a sender.
        case pause(until: Instant?)
        case resume
        /// Waiting pushes end `cancelled`, and the app's own requests are dropped. Outstanding reloads stay.
        case cancel
        /// So many more charged reloads in the present window of each instance: an app, a kind, a host or an instance.
        case grant(Int)
        /// Reloads, as the app itself may ask for them: an app, a kind, a host or an instance.
        case reload
    }

    /// The most that one order may grant.
    package static let grantMax = 10_000

    package var scope: OrderScope
    package var action: Action
    /// The operator who gave it; nil for a sender, which the scope names.
    package var source: OperatorSource?

    package init(_ action: Action, _ scope: OrderScope, by source: OperatorSource? = nil) {
        self.action = action
        self.scope = scope
        self.source = source
    }

    /// Whether every partition has the record, because the subject may be in any; else one does.
    package var isForAllPartitions: Bool {
        switch self.scope {
        case .host, .instance: false
        case .app, .kind, .sender, .push: true
        }
    }

    /// Whether the action can be done to the scope at all.
    package var isPossible: Bool {
        switch (self.action, self.scope) {
        case (.pause, .app), (.pause, .kind), (.pause, .sender), (.resume, .app), (.resume, .kind), (.resume, .sender):
            true
        case (.cancel, _): true
        case (.grant(let count), .app), (.grant(let count), .kind), (.grant(let count), .host),
            (.grant(let count), .instance):
            (1...Self.grantMax).contains(count)
        case (.reload, .app), (.reload, .kind), (.reload, .host), (.reload, .instance): true
        case (.pause, _), (.resume, _), (.grant, _), (.reload, _): false
        }
    }
}

extension OrderScope: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .app(let app): writer.write(tag: 0, app)
        case .kind(let app, let kind):
            writer.write(tag: 1, app)
            kind.encode(into: &writer)
        case .sender(let team): writer.write(tag: 2, team)
        case .host(let host): writer.write(tag: 3, host)
        case .instance(let address): writer.write(tag: 4, address)
        case .push(let push, let team, let app):
            writer.write(tag: 5, push)
            team.encode(into: &writer)
            app.encode(into: &writer)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .app(try BundleID(from: &reader))
        case 1: self = .kind(try BundleID(from: &reader), try WidgetKind(from: &reader))
        case 2: self = .sender(try TeamID(from: &reader))
        case 3: self = .host(try HostKey(from: &reader))
        case 4: self = .instance(try InstanceAddress(from: &reader))
        case 5: self = .push(try PushID(from: &reader), try TeamID?(from: &reader), try BundleID?(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}

extension OperatorOrder.Action: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .pause(let until): writer.write(tag: 0, until)
        case .resume: writer.write(byte: 1)
        case .cancel: writer.write(byte: 2)
        case .grant(let count): writer.write(tag: 3, UInt64(count))
        case .reload: writer.write(byte: 4)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .pause(until: try Instant?(from: &reader))
        case 1: self = .resume
        case 2: self = .cancel
        case 3: self = .grant(Int(truncatingIfNeeded: try reader.readVarint()))
        case 4: self = .reload
        default: throw .invalid(offset: start)
        }
    }
}
