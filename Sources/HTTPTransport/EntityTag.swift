import TLS
import WidgetModel

/// What tells an answer's content from another one (RFC 9110, 8.8.3).
package struct EntityTag: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// One that was made before.
    package init(_ description: String) {
        self.description = description
    }

    /// - Parameters:
    ///   - bytes: The content.
    ///   - isWeak: Whether it stands for the content however it is coded.
    package init(_ bytes: [UInt8], isWeak: Bool) {
        let hash = Base16.text(of: Array(Digests.sha256(bytes.span).prefix(8)))
        self.description = "\(isWeak ? "W/" : "")\"\(hash)\""
    }

    /// Whether a client has the content, by its `if-none-match`, which asks for weak comparison.
    package func isKnown(_ ifNoneMatch: String) -> Bool {
        ifNoneMatch.split(separator: ",").contains { known in
            let known = known.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return known == "*" || Self.opaque(known) == Self.opaque(self.description[...])
        }
    }

    private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
