import WidgetModel

/// The `apns-id` that an answer carries: the sender's own spelling, byte for byte, or one that was made here.
enum AnswerID {
    /// Where the sender's id is in the request.
    case given(Range<Int>)
    case generated(PushID)

    /// As many characters as every id has.
    static let placeholder = [UInt8](repeating: UInt8(ascii: "-"), count: PushFlight.idBytes)

    /// Appends its 36 characters.
    func append(to text: inout [UInt8], _ request: Span<UInt8>) {
        switch self {
        case .generated(let id): id.append(to: &text)
        case .given(let range): text.append(copying: request.extracting(range))
        }
    }

    /// Its 36 characters, for an answer that outlives the request's bytes.
    func text(_ request: Span<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(PushFlight.idBytes)
        self.append(to: &text, request)
        return text
    }
}
