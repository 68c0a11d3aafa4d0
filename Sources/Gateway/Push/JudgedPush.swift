package import APNSWire
package import IntentMatching
package import WidgetModel

/// A push in which everything is in order.
package struct JudgedPush: Sendable {
    /// Whom it is for.
    package enum Destination: Sendable {
        /// The host or control behind a known token: ``PushJudge/place``.
        case host
        /// An unregistered token, of an app that takes those.
        case unknownHost(HostKey)
        /// Every host of the app.
        case app
        /// The app's upstream: a push of a type that is not handled here.
        case upstream
    }

    /// What a body says beyond Apple's. A class, since nearly every push has none.
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

    /// Whether it goes to the log, if its sender is within its limits: neither what is relayed nor what is only asked does.
    var isLogged: Bool {
        switch self.destination {
        case .upstream: return false
        case .host, .unknownHost, .app:
            if case .targeted(_, let isDryRun) = self.push.target { return !isDryRun }
            return true
        }
    }
}
