package import WidgetModel

/// The payment of a reload for a push to another instance with the same token. Raw values are part of the on-disk
/// format.
package enum Collateral: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
    /// The budget allows it, and it is charged.
    case conforming = 0
    /// The budget does not allow it. It still advances count and pace, and is metered apart from charged reloads.
    case over = 1
}

/// One push through APNs: it reloads every push-enabled widget of the host, or one control.
///
/// One push goes out for any number of waiting instances, when the budget of one of them allows it. Its result is
/// reported once, by ``id``, and counts for all ``members``.
package struct TokenPush: ByteCoded, Hashable, Sendable {
    /// One instance that the push reloads.
    package struct Member: FieldCoded, Hashable, Sendable {
        package static let coding = Fields(Self.init, \.reload, \.collateral)

        package let reload: ReloadEffect
        /// Nil for a decision of the instance's own.
        package let collateral: Collateral?

        package init(reload: ReloadEffect, collateral: Collateral?) {
            self.reload = reload
            self.collateral = collateral
        }

        /// Whether it is charged to the instance's budget.
        package var isCharged: Bool { self.reload.isCharged && self.collateral != .over }
    }

    /// The host's newest token, or the control's.
    package let token: DeviceToken
    /// Which of APNs' services knows the token.
    package let environment: PushEnvironment
    /// Whether it goes to a control, with the push type `controls`.
    package let isControl: Bool
    /// The highest priority of the pushes that it serves.
    package let priority: Priority
    /// The instance for which it goes out first, then the others in the order of their ids. At least one.
    package let members: [Member]

    /// The reload that made it go out.
    package var id: ReloadID { self.members[0].reload.id }
    package var app: BundleID { self.host.app }
    package var host: HostKey { self.members[0].reload.host }
    package var issuedAt: Instant { self.members[0].reload.issuedAt }

    package func encode(into writer: inout ByteWriter) {
        self.token.encode(into: &writer)
        self.environment.encode(into: &writer)
        writer.write(self.isControl)
        self.priority.encode(into: &writer)
        self.members.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.token = try DeviceToken(from: &reader)
        self.environment = try PushEnvironment(from: &reader)
        self.isControl = try reader.readBool()
        self.priority = try Priority(from: &reader)
        let start = reader.offset
        self.members = try Array(from: &reader)
        guard !self.members.isEmpty else { throw .invalid(offset: start) }
    }

    /// The most bytes that a push for all widgets of a host takes, or that of one of its controls.
    package static func bytesMax(for registration: HostRegistration) -> Int {
        // Integers, instants, ids and lengths of one member, of which none takes more than ten bytes.
        let fixed = 112
        let names = registration.host.app.rawValue.utf8.count + registration.host.id.rawValue.utf8.count
        return registration.instances.reduce(fixed + registration.token.bytes.count) { bytes, instance in
            bytes + fixed + names + instance.id.rawValue.utf8.count + instance.kind.rawValue.utf8.count
                + (instance.controlToken?.bytes.count ?? 0)
        }
    }

    package init(
        token: DeviceToken,
        environment: PushEnvironment,
        isControl: Bool,
        priority: Priority,
        members: [Member]
    ) {
        precondition(!members.isEmpty, "a push to a token that reloads nothing")
        self.token = token
        self.environment = environment
        self.isControl = isControl
        self.priority = priority
        self.members = members
    }
}
