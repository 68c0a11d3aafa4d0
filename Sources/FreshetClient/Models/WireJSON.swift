import Foundation

/// JSON as the gateway writes and reads it: dates in RFC 3339, to the millisecond.
enum WireJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(try Self.text(of: date))
        }
        do {
            return try encoder.encode(value)
        } catch EncodingError.invalidValue(let value, _) {
            throw FreshetError.invalidArgument("\(value) cannot be written as JSON")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = Self.date(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a date")
            }
            return date
        }
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw FreshetError.unexpectedAnswer("\(error)")
        }
    }

    /// From the first whole century of the Gregorian calendar, on which both sides agree, to the last second that RFC
    /// 3339 can write.
    private static let writable = -11_676_096_000.0...253_402_300_799.0

    /// A date to the millisecond, so that an entry's date returns as the gateway wrote it.
    static func text(of date: Date) throws -> String {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        let seconds = (milliseconds / 1_000).rounded(.down)
        guard self.writable.contains(seconds) else {
            throw FreshetError.invalidArgument("a date must be in the years 1600 to 9999")
        }
        let whole = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
        let rest = String(Int(milliseconds - seconds * 1_000) + 1_000).dropFirst()
        return "\(whole.dropLast()).\(rest)Z"
    }

    static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle()
        return
            (try? style.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .colon).parse(
                text
            ))
            ?? (try? style.parse(text))
    }
}
