import Foundation
import Testing

@testable import FreshetClient

/// Dates and numbers, there and back.
@Suite struct WireJSONTests {
    @Test(arguments: [
        "1970-01-01T00:00:00.000Z", "2026-11-21T12:00:00.001Z", "2026-11-21T23:59:59.999Z", "1969-12-31T23:59:59.999Z",
        "1600-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z",
    ])
    func `a date comes back as it was written`(_ text: String) throws {
        #expect(try WireJSON.text(of: try #require(WireJSON.date(text))) == text)
    }

    @Test func `milliseconds come back, however binary fractions round`() throws {
        let second = try #require(WireJSON.date("2026-11-21T12:00:00Z"))
        for millisecond in stride(from: 0, to: 1_000, by: 7) {
            let digits = String(millisecond + 1_000).dropFirst()
            let text = "2026-11-21T12:00:00.\(digits)Z"
            #expect(try WireJSON.text(of: try #require(WireJSON.date(text))) == text)
            #expect(try WireJSON.text(of: second + Double(millisecond) / 1_000) == text)
        }
    }

    @Test func `an offset is a date, too`() throws {
        #expect(WireJSON.date("2026-11-21T13:30:00+01:30") == WireJSON.date("2026-11-21T12:00:00.000Z"))
        #expect(WireJSON.date("soon") == nil)
    }

    @Test(arguments: [-11_676_096_000.001, 253_402_300_800, .infinity, .nan])
    func `a date that cannot be written is refused`(_ seconds: Double) {
        #expect(throws: FreshetError.self) { try WireJSON.text(of: Date(timeIntervalSince1970: seconds)) }
    }

    @Test func `a number that JSON does not have is refused`() {
        let error = #expect(throws: FreshetError.self) { try WireJSON.encode(["number": JSONValue.double(.nan)]) }
        #expect(error.map { "\($0)" }?.contains("cannot be written as JSON") == true)
    }

    @Test(arguments: ["null", "true", "1", "9223372036854775807", "1.5", #""a""#, "[1,[]]", #"{"a":{"b":null}}"#])
    func `any JSON comes back`(_ text: String) throws {
        let value = try WireJSON.decode(JSONValue.self, from: Data(text.utf8))
        #expect(String(decoding: try WireJSON.encode(value), as: UTF8.self) == text)
    }
}
