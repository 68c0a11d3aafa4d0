/// Why a match pattern was refused, with its place.
package struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable, CaseIterable {
        /// Not a pattern at all.
        case malformed
        /// Beyond one of ``PatternLimits``.
        case limit
        /// No kind in question has the parameter.
        case unknownParameter
        /// A condition that the parameter's type can never satisfy.
        case wrongType
    }

    package let code: Code
    /// The place in the JSON text: `match.team[1].prefix`.
    package let path: String
    /// The expectation and the value found; quotes names and operators, never values.
    package let sentence: String

    init(_ code: Code, _ path: String, _ sentence: String) {
        self.code = code
        self.path = path
        self.sentence = sentence
    }

    package var description: String { "\(self.path): \(self.sentence)" }
}
