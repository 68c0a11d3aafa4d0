/// The head of a push request, noted header by header as they arrive, without a String.
///
/// Values stay in a byte buffer that the transport owns; the head is a small fixed-size value with their places. Header
/// names must be lower case, as in HTTP/2. Unknown headers are ignored; `apns-…` headers and `authorization` may come
/// once (``isRepeating``).
package struct PushRequestHead: Hashable, Sendable {
    package enum Method: UInt8, Hashable, Sendable, CaseIterable {
        case post = 0
        case get = 1
        case put = 2
        case delete = 3
        case other = 4
    }

    /// The headers that a push request is judged by. The raw value is the bit in ``present``.
    package enum Field: UInt16, Hashable, Sendable, CaseIterable {
        case method = 0
        case path = 1
        case authorization = 2
        case id = 3
        case topic = 4
        case pushType = 5
        case priority = 6
        case expiration = 7
        case collapseID = 8
        case channelID = 9
    }

    /// nil until the `:method` has come.
    package private(set) var method: Method?
    /// Whether an `apns-…` header or `authorization` came twice.
    package private(set) var isRepeating = false
    private var present: UInt16 = 0
    private var pathRange = ByteRange.empty
    private var authorizationRange = ByteRange.empty
    private var idRange = ByteRange.empty
    private var topicRange = ByteRange.empty
    private var pushTypeRange = ByteRange.empty
    private var priorityRange = ByteRange.empty
    private var expirationRange = ByteRange.empty
    private var collapseIDRange = ByteRange.empty

    package init() {}

    /// Notes one header. O(length of the name).
    ///
    /// - Parameters:
    ///   - name: The lower-case name, pseudo-headers included.
    ///   - value: Where the value is in `bytes`, now and until the request is answered.
    ///   - bytes: The transport's buffer.
    package mutating func receive(name: Span<UInt8>, value: ByteRange, in bytes: Span<UInt8>) {
        guard let field = Self.field(named: name) else { return }
        let bit = UInt16(1) << field.rawValue
        guard self.present & bit == 0 else {
            // A second `:path` is the HTTP layer's to refuse; the first one counts here.
            switch field {
            case .method, .path: return
            default:
                self.isRepeating = true
                return
            }
        }
        self.present |= bit
        switch field {
        case .method: self.method = Self.method(bytes.extracting(value.bounds))
        case .path: self.pathRange = value
        case .authorization: self.authorizationRange = value
        case .id: self.idRange = value
        case .topic: self.topicRange = value
        case .pushType: self.pushTypeRange = value
        case .priority: self.priorityRange = value
        case .expiration: self.expirationRange = value
        case .collapseID: self.collapseIDRange = value
        case .channelID: break
        }
    }

    /// The same head of a request for another path.
    package func moved(to path: ByteRange) -> PushRequestHead {
        var head = self
        head.pathRange = path
        return head
    }

    private func range(_ field: Field, _ range: ByteRange) -> ByteRange? {
        self.present & (UInt16(1) << field.rawValue) == 0 ? nil : range
    }

    package var path: ByteRange? { self.range(.path, self.pathRange) }
    package var authorization: ByteRange? { self.range(.authorization, self.authorizationRange) }
    package var id: ByteRange? { self.range(.id, self.idRange) }
    package var topic: ByteRange? { self.range(.topic, self.topicRange) }
    package var pushType: ByteRange? { self.range(.pushType, self.pushTypeRange) }
    package var priority: ByteRange? { self.range(.priority, self.priorityRange) }
    package var expiration: ByteRange? { self.range(.expiration, self.expirationRange) }
    package var collapseID: ByteRange? { self.range(.collapseID, self.collapseIDRange) }

    /// The field of a header name, decided by length first.
    package static func field(named name: Span<UInt8>) -> Field? {
        switch name.count {
        case 5: name.spells(":path") ? .path : nil
        case 7: name.spells(":method") ? .method : name.spells("apns-id") ? .id : nil
        case 10: name.spells("apns-topic") ? .topic : nil
        case 13: name.spells("authorization") ? .authorization : name.spells("apns-priority") ? .priority : nil
        case 14: name.spells("apns-push-type") ? .pushType : nil
        case 15: name.spells("apns-expiration") ? .expiration : name.spells("apns-channel-id") ? .channelID : nil
        case 16: name.spells("apns-collapse-id") ? .collapseID : nil
        default: nil
        }
    }

    private static func method(_ text: Span<UInt8>) -> Method {
        switch text.count {
        case 3: text.spells("GET") ? .get : text.spells("PUT") ? .put : .other
        case 4: text.spells("POST") ? .post : .other
        case 6: text.spells("DELETE") ? .delete : .other
        default: .other
        }
    }
}
