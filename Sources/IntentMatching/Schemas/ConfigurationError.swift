/// Why a configuration was refused, with its place.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable, CaseIterable {
        /// The kind has no such parameter.
        case unknownParameter
        /// A required parameter is not given.
        case missingParameter
        /// Given nested and dotted, or by a repeated name.
        case givenTwice
        case wrongType
        /// An enumeration has no such case.
        case unknownCase
        /// A string is no RFC 3339 date.
        case invalidDate
        /// Beyond one of ``ConfigurationLimits``.
        case limit
    }

    package let code: Code
    /// The place in the JSON text: `configuration.alliances[1]`.
    package let path: String
    /// The expectation and the type found; never quotes the value.
    package let sentence: String

    init(_ code: Code, _ path: String, _ sentence: String) {
        self.code = code
        self.path = path
        self.sentence = sentence
    }

    package var description: String { "\(self.path): \(self.sentence)" }
}
