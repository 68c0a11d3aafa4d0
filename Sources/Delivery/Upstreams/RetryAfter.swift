package import HTTPTransport
package import WidgetModel

extension HTTPClientResponse {
    /// The wait that `retry-after` asks for (RFC 9110, 10.2.3); nil if it asks for none. Whole seconds only, since a date
    /// would need a clock; more than a day is a day, however many digits it has.
    package var retryAfter: Interval? {
        guard let text = self.headers["retry-after"], !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 })
        else { return nil }
        return min(.seconds(Int64(text) ?? .max), .day)
    }
}
