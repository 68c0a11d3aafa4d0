import Engine
import HTTPTransport
import IntentMatching
import NIOCore
import WidgetModel

/// What every list takes: `limit` and `cursor`.
struct ListRequest: Sendable {
    static let limitMax = 1000
    static let limitDefault = 100

    let limit: Int
    /// The numbers of the cursor, nil for the list's beginning.
    let cursor: [UInt64]?

    /// - Parameter bounds: What each number of this list's cursors is less than.
    init(_ request: HTTPRequest, below bounds: [UInt64]) throws(Problem) {
        self.limit = try Self.int(request, "limit", in: 1...Self.limitMax) ?? Self.limitDefault
        self.cursor = try Self.cursor(request, "cursor", below: bounds)
    }

    /// More than were ever counted: no decision and no push has such a number.
    static let countEnd: UInt64 = 1 << 62

    /// The numbers of a cursor of the query, nil if it is not there.
    ///
    /// - Parameter bounds: What each of them is less than, in every cursor that a page has ever named.
    static func cursor(_ request: HTTPRequest, _ name: String, below bounds: [UInt64]) throws(Problem) -> [UInt64]? {
        guard let text = request.query(name) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt64($0) }
        guard parts.count == bounds.count, numbers.count == bounds.count, zip(numbers, bounds).allSatisfy({ $0 < $1 })
        else { throw Problem(.badRequest, "expected the `next` of the page before", path: name) }
        return numbers
    }

    static func text(_ numbers: [UInt64]) -> String { numbers.map { "\($0)" }.joined(separator: ".") }

    /// A whole number of the query, nil if it is not there.
    static func int(_ request: HTTPRequest, _ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = request.query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(.badRequest, "expected \(range.lowerBound) to \(range.upperBound)", path: name)
        }
        return number
    }

    /// An RFC 3339 date of the query, nil if it is not there.
    static func instant(_ request: HTTPRequest, _ name: String) throws(Problem) -> Instant? {
        guard let text = request.query(name) else { return nil }
        do throws(RFC3339.Fault) {
            return try RFC3339.parse(text)
        } catch {
            throw Problem(.badRequest, "expected an RFC 3339 date: \(error.sentence)", path: name)
        }
    }

    /// One of some words of the query, nil if it is not there.
    static func word<Word>(_ request: HTTPRequest, _ name: String, _ words: [(String, Word)]) throws(Problem) -> Word? {
        guard let text = request.query(name) else { return nil }
        guard let found = words.first(where: { $0.0 == text }) else {
            let all = words.map(\.0).joined(separator: ", ")
            throw Problem(.badRequest, "expected one of \(all)", path: name)
        }
        return found.1
    }
}

/// How long one request goes on searching: a list whose filter finds little is given in parts.
struct SearchBudget {
    /// Rows that are looked at in one step: a fraction of a millisecond of a partition.
    static let stepRows = 2048
    private static let stepsMax = 64
    private static let timeMax = TimeAmount.milliseconds(50)

    private let started = NIODeadline.now()
    private var steps = 0

    mutating func takeStep() -> Bool {
        self.steps += 1
        return self.steps <= Self.stepsMax && NIODeadline.now() - self.started < Self.timeMax
    }
}
