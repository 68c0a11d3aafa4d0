/// The first bytes of a connection: an error names them if the peer does not speak TLS.
struct Opening: Hashable {
    private var bytes: UInt64 = 0
    private var count = 0

    /// Keeps the first eight bytes of all that is received.
    mutating func keepFirst(_ received: UnsafeRawBufferPointer) {
        for index in 0..<min(received.count, 8 - self.count) {
            // Sound: the index is below the buffer's count.
            self.bytes = unsafe self.bytes << 8 | UInt64(received[index])
            self.count += 1
        }
    }

    /// The protocol that the peer seems to speak instead of TLS; nil if it may be TLS.
    var foreignProtocol: String? {
        let text = String(
            decoding: (0..<self.count).map { UInt8(truncatingIfNeeded: self.bytes >> (8 * (self.count - 1 - $0))) },
            as: UTF8.self
        )
        // OpenSSL gives up after five bytes, which may be all that has come.
        let begins = { (words: String) in text.utf8.count >= 5 && (text.hasPrefix(words) || words.hasPrefix(text)) }
        if begins("PRI * HT") { return "plain HTTP/2" }
        let methods = ["GET ", "POST ", "HEAD ", "PUT ", "DELETE /", "OPTIONS ", "PATCH /", "CONNECT ", "HTTP/1."]
        if methods.contains(where: begins) { return "plain HTTP" }
        // A TLS record that opens a connection is a handshake (22) or an alert (21), version 3.x.
        let first = self.count > 0 ? UInt8(truncatingIfNeeded: self.bytes >> (8 * (self.count - 1))) : 22
        return first == 22 || first == 21 ? nil : "something else"
    }
}
