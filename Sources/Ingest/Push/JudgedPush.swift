package import APNSWire
package import IntentMatching
package import Partitions
package import Serving
package import WidgetModel

/// A push whose sender is known, and may send pushes of its kind.
package struct AuthorizedPush: ~Copyable {
    let sender: Sender
    /// The target, its form not yet checked.
    let target: PushTarget
    /// Its topic among the sender's, and the types that the sender may send.
    let place: PushPlace
}

/// A push in which everything is in order.
package struct JudgedPush: ~Copyable, Sendable {
    /// Where it goes.
    package enum Destination: ~Copyable, Sendable {
        /// The host or control behind a known token.
        case host(HostPlace)
        /// An unregistered token, of an app that takes those.
        case unknownHost(HostKey)
        /// A token that no host here has: partitions of other nodes may have it.
        case sought(DeviceToken)
        /// Every host of the app.
        case app
        /// The app's upstream: a push of a type that is not handled here.
        case upstream
    }

    /// A body's members beyond Apple's. A class, since nearly every push has none.
    package final class Details: Sendable {
        package let payload: PushPayload
        /// The body's pattern, nil for every instance.
        package let pattern: MatchPattern?
        /// The body's attributes, which instances' conditions are about.
        package let attributes: Configuration

        package init(payload: PushPayload, pattern: MatchPattern?, attributes: Configuration) {
            self.payload = payload
            self.pattern = pattern
            self.attributes = attributes
        }
    }

    package let sender: Sender
    package let app: ServedApps.App
    /// Its head; ranges lie in the bytes that were judged.
    package let push: ValidatedPush
    package let destination: Destination
    /// nil for a plain body.
    package let details: Details?

    /// Whether it goes to the app's upstream.
    var isRelayed: Bool {
        switch self.destination {
        case .upstream: true
        default: false
        }
    }

    /// The token that no host here has.
    var sought: DeviceToken? {
        switch self.destination {
        case .sought(let token): token
        default: nil
        }
    }

    /// Whether it goes to the log, if its sender is within its limits: neither relayed pushes nor dry runs do.
    var isLogged: Bool {
        if self.isRelayed { return false }
        if case .targeted(_, let isDryRun) = self.push.target { return !isDryRun }
        return true
    }
}

/// A push that its sender's limits and its team's share have room for, and its course.
struct AdmittedPush: ~Copyable {
    enum Course {
        /// It goes to the log of a partition; nil for that of all.
        case logged(PartitionID?)
        /// The partitions are asked whom it would reach, before it is logged or, for a dry run, instead. That is charged until
        /// they have answered.
        case asked(matchedMax: Int?, WorkCharges)
        /// It is asked whose the token is, before it is logged.
        case sought(DeviceToken)
        case relayed
        /// It is more work than one push may be. Boxed, since a problem is long and rare.
        indirect case refused(Problem)
    }

    let judged: JudgedPush
    /// The sender's own, or a new one.
    let id: PushID
    let answerID: AnswerID
    let course: Course
}
