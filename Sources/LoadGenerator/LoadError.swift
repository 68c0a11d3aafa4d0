/// Why a run cannot begin or go on, in a sentence for people.
package struct LoadError: Error, Hashable, Sendable, CustomStringConvertible {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }

    package var description: String { self.message }
}
