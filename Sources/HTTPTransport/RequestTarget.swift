import WidgetModel

/// A request target in origin form, taken apart (RFC 9112, 3.2.1; RFC 3986, 3.3 and 3.4).
///
/// Segments are split before they are decoded, so that `%2F` stays within its segment. A percent sign that does not
/// begin an escape stands for itself, and bytes that are no UTF-8 are repaired: an unknown path is a 404, not a fault.
package struct RequestTarget: Hashable, Sendable {
    package var path: [String] = []
    package var query: [HTTPQueryItem] = []

    package init(_ target: String) {
        let bytes = Array(target.utf8)
        let questionMark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        var path = bytes[..<questionMark]
        if path.first == UInt8(ascii: "/") {
            path.removeFirst()
        }
        if !path.isEmpty {
            self.path = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .map { Self.decode($0, plusIsSpace: false) }
        }
        guard questionMark < bytes.endIndex else { return }
        self.query = bytes[(questionMark + 1)...].split(separator: UInt8(ascii: "&")).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return HTTPQueryItem(
                name: Self.decode(item[..<equals], plusIsSpace: true),
                value: Self.decode(item[equals...].dropFirst(), plusIsSpace: true)
            )
        }
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let high = Base16.digit(bytes[index + 1]), let low = Base16.digit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
                continue
            }
            decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            index += 1
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
