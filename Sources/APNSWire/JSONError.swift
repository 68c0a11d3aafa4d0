/// Why a text was refused as JSON.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable, CaseIterable {
        /// Nothing but white space.
        case empty
        /// Longer than the limit.
        case tooLarge
        /// Nested deeper than the limit.
        case tooDeep
        case syntax
        case invalidUTF8
        /// Not written as JSON has it, or not a number that 64 bits hold.
        case number
        case duplicateMember
        /// Something follows the value.
        case trailingText
        case outOfMemory
    }

    package let code: Code
    /// The fault, in words for the author of the text; quotes at most a member name.
    package let sentence: String
    /// The start of the token at which simdjson stopped, if it says so: the wrong one, or one beside it.
    package let offset: Int?

    package init(_ code: Code, _ sentence: String, at offset: Int? = nil) {
        self.code = code
        self.sentence = sentence
        self.offset = offset
    }

    package var description: String {
        guard let offset else { return self.sentence }
        return "\(self.sentence) at byte \(offset)"
    }
}

/// The limits of a JSON text.
package struct JSONLimits: Hashable, Sendable {
    /// The longest text in bytes. Default 1,048,576.
    package var bytesMax: Int
    /// The most arrays and objects inside one another. Default 32; at most ``JSONReader/depthCeiling``.
    package var depthMax: Int
    /// Whether a member name may occur once per object only. Default true; else the first one counts.
    package var refusesRepeatedMembers: Bool

    package init(bytesMax: Int = 1_048_576, depthMax: Int = 32, refusesRepeatedMembers: Bool = true) {
        self.bytesMax = bytesMax
        self.depthMax = depthMax
        self.refusesRepeatedMembers = refusesRepeatedMembers
    }
}
