import TLS
import WidgetModel

/// The tag that tells an answer's content from another one (RFC 9110, 8.8.3).
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

    /// Whether a client may change something, by the tags that it knows, in `if-match` and `if-none-match` (RFC 9110, 13.1). Weak tags
    /// match nothing.
    ///
    /// - Parameter tag: Its present tag; nil if there is no such thing.
    package static func allowsChange(of tag: EntityTag?, ifMatch: String?, ifNoneMatch: String?) -> Bool {
        if let ifMatch {
            let known = ifMatch.split(separator: ",").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
            guard let tag, known.contains(where: { $0 == "*" || $0 == tag.description[...] }) else { return false }
        }
        guard let ifNoneMatch, let tag else { return true }
        return !tag.isKnown(ifNoneMatch)
    }

    private static func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}
