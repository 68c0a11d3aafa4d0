package import APNSWire
package import Engine
package import IntentMatching

/// A push in which everything is in order.
package struct JudgedPush: Sendable {
    package let sender: Sender
    package let app: ServedApps.App
    /// Its head; ranges lie in the bytes that were judged.
    package let push: ValidatedPush
    /// Its body.
    package let payload: PushPayload
    /// The body's pattern, nil for every instance.
    package let pattern: MatchPattern?
    package let destination: PushDestination
}
