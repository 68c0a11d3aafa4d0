package import Timelines
package import WidgetModel

/// The result of applying records. The caller empties it between batches and keeps its capacity.
package struct EngineOutput: Hashable, Sendable {
    /// Durable: written to the output log before anything is delivered.
    package var effects: [Effect] = []
    /// The changes of tokens, in order; local to the process; a replay gives them again.
    package var directory: [DirectoryChange] = []
    /// The answers to the records, one each, in order.
    package var answers: [RecordAnswer] = []
    /// The operators' records, in order; a replay gives them again.
    package var audit: [AuditedRecord] = []

    package init() {}

    /// Empties everything, keeping the memory.
    package mutating func removeAll() {
        self.effects.removeAll(keepingCapacity: true)
        self.directory.removeAll(keepingCapacity: true)
        self.answers.removeAll(keepingCapacity: true)
        self.audit.removeAll(keepingCapacity: true)
    }
}

/// A push token came, went or was forgotten.
package enum DirectoryChange: Hashable, Sendable {
    /// The token now belongs to this host, or to this control instance of it.
    case bound(DeviceToken, host: HostKey, instance: InstanceID?)
    /// The token no longer belongs to a host; pushes to it are answered 410 with this instant.
    case removed(DeviceToken, app: BundleID, TokenRemoval, at: Instant)
    /// The token's removal need not be remembered any longer.
    case forgotten(DeviceToken)

    package var token: DeviceToken {
        switch self {
        case .bound(let token, _, _), .removed(let token, _, _, _), .forgotten(let token): token
        }
    }
}

/// Why a push token no longer belongs to a host: it decides between APNs' two reasons for a 410, and a 503.
package enum TokenRemoval: UInt8, Hashable, Sendable {
    /// How long a token that moves may be on its way. After that its host's registration did not come to its end, and the token is
    /// one that was taken away.
    package static let moveMax = Interval.hours(1)

    /// The host or its app's back end took it away, or another took its place: `Unregistered`.
    case unregistered
    /// Its host's lease ran out without a new registration: `ExpiredToken`.
    case leaseEnded
    /// A host of another partition registers it next. No push to it is refused for good meanwhile: a sender would forget a token
    /// that is in use.
    case moving

    /// Whether the token is still on its way to another host.
    ///
    /// - Parameter at: When it was removed.
    package func isUnderWay(since at: Instant, now: Instant) -> Bool { self == .moving && now - at < Self.moveMax }
}

/// The answer to one record of an entry.
package struct RecordAnswer: Hashable, Sendable {
    /// The record's index in its entry, as the caller gave it.
    package let recordIndex: Int
    package let result: Result

    package enum Result: Hashable, Sendable {
        /// The settings are in force, with the number of instances that no longer fit their kind's schema.
        case settings(orphaned: Int)
        /// The settings are of a newer engine and were ignored; the change of an entry with them was taken.
        case settingsTooNew(engineVersion: Int)
        /// The settings were worked out from others than stand; nothing changed.
        case settingsOvertaken
        /// The number of instances that the push matched here; a repeat changed nothing and gets the first one's
        /// number.
        case push(matched: Int, isRepeat: Bool)
        case registered(RegistrationCounts)
        /// The registration is older than the applied one; nothing changed.
        case staleRevision(current: UInt64)
        /// The registration does not fit the engine's state; nothing changed.
        case refused(RegistrationError)
        case unregistered
        /// The signal is noted.
        case signalled
        /// The instance has the timeline now; with findings about it.
        case timeline(findings: [TimelineFinding])
        /// The engine does not hold such a timeline; nothing changed.
        case timelineRefused(TimelineError)
        /// The timeline was made for a configuration that the instance does not have any more; discarded.
        case staleGeneration
        /// The report ended the reload, or (false) the reload was not outstanding and nothing changed.
        case delivery(known: Bool)
        /// So many instances will reload at the app's wish.
        case appReload(matched: Int)
        /// The number of instances for which an order was carried out, or of cancelled pushes.
        case order(matched: Int)
        /// The number of hosts, or kinds, that are told to ask again.
        case invalidated(count: Int)
        case channel(ChannelAnswer)
        case unknownHost
        case unknownInstance
        /// The report names a reload of another instance; nothing changed.
        case unknownReload
        /// Nothing changed: the record is a push's trace.
        case traced
        /// Nothing changed: the record is an operator's action.
        case noted
        case ticked
    }
}

/// The changes of a registration.
package struct RegistrationCounts: Hashable, Sendable {
    package var added = 0
    /// The configuration, family or kind is another one, or only tags or push-enablement are.
    package var changed = 0
    package var unchanged = 0
    package var removed = 0

    package init(added: Int = 0, changed: Int = 0, unchanged: Int = 0, removed: Int = 0) {
        self.added = added
        self.changed = changed
        self.unchanged = unchanged
        self.removed = removed
    }
}

/// Why a registration does not fit the engine's state.
package enum RegistrationError: Error, Hashable, Sendable {
    case unknownApp(BundleID)
    case unknownKind(WidgetKind)
    /// The configuration does not fit the kind's schema.
    case configuration(InstanceID)
    case duplicateInstance(InstanceID)
    /// A control's token is the host's or another control's, too.
    case duplicateToken(InstanceID)
    /// The host has other tokens, and its own credential does not name it.
    case hostOfOtherTokens
    /// The token that is replaced is not the host's.
    case replacedTokenOfOther
    /// A control's token belongs to another host, and only a back end may take it from there.
    case controlTokenOfOther(InstanceID)
    /// The token belongs to another app.
    case tokenOfAnotherApp
    case tooManyInstances(max: Int)
    case tooManyTags(InstanceID, max: Int)
    /// The host would need one more tombstone than it may have; the first of those that it has ends then.
    case tooManyTombstones(max: Int, until: Instant)
}
