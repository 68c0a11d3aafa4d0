/// A text that may not be shown: it describes itself as `(secret)`, in logs, errors and dumps.
package struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself. Never for a log.
    package let value: String

    package init(_ value: String) {
        self.value = value
    }

    package var description: String { "(secret)" }
    package var debugDescription: String { self.description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
