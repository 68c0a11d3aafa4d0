import WidgetModel

/// The words of answers beside their status.
enum LoadAnswer {
    /// The `reason` of APNs, the `code` of a problem detail, or nothing that is known.
    static func reason(_ body: Span<UInt8>) -> String {
        for name in ["\"reason\":\"", "\"code\":\"", "\"code\": \"", "\"reason\": \""] {
            if let value = EventStreamReader.member(name, in: body), value.count <= 64 {
                return String(decoding: value, as: UTF8.self)
            }
        }
        return "no reason given"
    }

    /// How many instances have come to which outcome, of the JSON of a push; those that none has come to are left out.
    static func outcomes(_ body: Span<UInt8>) -> [PushOutcome: Int] {
        var outcomes: [PushOutcome: Int] = [:]
        for outcome in PushOutcome.allCases {
            outcomes[outcome] = EventStreamReader.number("\"\(outcome.name)\":", in: body)
        }
        return outcomes
    }
}
