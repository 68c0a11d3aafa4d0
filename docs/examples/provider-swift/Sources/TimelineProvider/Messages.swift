import Foundation

// The protocol of timeline providers (docs/timeline-providers.yaml), as far as this provider needs it.

/// One question about one or many instances of a kind.
struct Question: Decodable {
    enum Name: String, Decodable { case placeholder, snapshot, timeline, relevance, recommendations }

    struct Request: Decodable {
        /// The answer repeats it.
        var id: String
        /// The intent's parameters by name; this provider's are all text.
        var configuration: [String: String]
    }

    var question: Name
    var kind: String
    /// The gateway's time: date entries by it, not by this machine's clock.
    var now: Date
    var requests: [Request]
}

/// The answer to one request. The question decides which member it has.
struct Answer: Encodable {
    struct Snapshot: Encodable { var content: Content }

    struct Relevance: Encodable {
        var configuration: [String: String]
        var from: Date
        var to: Date
    }

    struct Recommendation: Encodable {
        var configuration: [String: String]
        var description: String
    }

    var id: String
    var entry: Snapshot?
    var timeline: Timeline?
    var relevance: [Relevance]?
    var recommendations: [Recommendation]?
}

struct Answers: Encodable { var answers: [Answer] }

struct Timeline: Encodable {
    struct Entry: Encodable {
        struct Relevance: Encodable {
            var score: Double
            /// In seconds.
            var duration: Double
        }

        var date: Date
        var content: Content
        var relevance: Relevance
    }

    /// When the gateway asks again.
    enum Policy: Encodable {
        case atEnd
        case after(Date)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .atEnd: try container.encode("atEnd")
            case .after(let date): try container.encode(["after": date])
            }
        }
    }

    var entries: [Entry]
    var policy: Policy
    // Without a `digest` of its own the gateway makes one of the contents, and sees by it whether anything has changed.
}

extension JSONDecoder {
    /// Reads the gateway's questions.
    static var gateway: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            // RFC 3339, with or without a fraction of a second.
            for style in [Date.ISO8601FormatStyle(includingFractionalSeconds: true), .iso8601] {
                if let date = try? style.parse(text) { return date }
            }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no RFC 3339 date: \(text)")
        }
        return decoder
    }
}

extension JSONEncoder {
    /// Writes answers for the gateway, their members always in the same order.
    static var gateway: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
        return encoder
    }
}
