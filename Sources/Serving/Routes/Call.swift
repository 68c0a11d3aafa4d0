import APNSWire
package import HTTPTransport
package import Partitions
package import WidgetModel

/// A request that a route was found for, and its asker.
package struct Call<Asker: Sendable>: Sendable {
    package let request: HTTPRequest
    let path: RoutePath
    /// The longest body.
    package let bodyBytesMax: Int
    package let asker: Asker

    /// A parameter of the path.
    package subscript(name: String) -> String { self.request.path[self.path.index(of: name)] }

    /// The place in a stream of events that its reader has come to.
    package var lastEventID: String? { self.request.headers["last-event-id"] }

    // MARK: The query

    package func query(_ name: String) -> String? { self.request.query(name) }

    /// The path's parameter of that name, nil if the path has none.
    package func pathParameter(_ name: String) -> String? { self.path.place(of: name).map { self.request.path[$0] } }

    /// A whole number, nil if it is not there.
    package func int(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = self.query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(.badRequest, "expected \(range.lowerBound) to \(range.upperBound)", path: name)
        }
        return number
    }

    /// An RFC 3339 date, nil if it is not there.
    package func instant(_ name: String) throws(Problem) -> Instant? {
        guard let text = self.query(name) else { return nil }
        do throws(RFC3339.ParseError) {
            return try RFC3339.parse(text)
        } catch {
            throw Problem(.badRequest, "expected an RFC 3339 date: \(error.sentence)", path: name)
        }
    }

    /// One of some words, nil if it is not there.
    package func word<Word>(_ name: String, _ words: [(String, Word)]) throws(Problem) -> Word? {
        guard let text = self.query(name) else { return nil }
        guard let found = words.first(where: { $0.0 == text }) else {
            let all = words.map(\.0).joined(separator: ", ")
            throw Problem(.badRequest, "expected one of \(all)", path: name)
        }
        return found.1
    }

    /// `true` or `false`, nil if it is not there.
    package func flag(_ name: String) throws(Problem) -> Bool? {
        try self.word(name, [("true", true), ("false", false)])
    }

    /// The numbers of a cursor, nil if it is not there.
    ///
    /// - Parameter bounds: Each of them is less than its bound, in every cursor that a page has ever named.
    package func cursor(_ name: String, below bounds: [UInt64]) throws(Problem) -> [UInt64]? {
        guard let text = self.query(name) else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt64($0) }
        guard parts.count == bounds.count, numbers.count == bounds.count, zip(numbers, bounds).allSatisfy({ $0 < $1 })
        else { throw Problem(.badRequest, "expected the `next` of the previous page", path: name) }
        return numbers
    }

    // MARK: The body

    /// The body as JSON.
    package func json() throws(Problem) -> JSONValue {
        try JSONReader().value(of: self.request.body, bytesMax: self.bodyBytesMax)
    }

    /// The body as a JSON object, to be read member by member.
    package func object() throws(Problem) -> RequestObject { try RequestObject(try self.json()) }

    /// As ``object()``, for a route that may be asked without a body.
    package func objectIfAny() throws(Problem) -> RequestObject {
        try RequestObject(self.request.body.isEmpty ? .object([]) : try self.json())
    }
}

extension Route {
    /// A request that led here, of a caller that may ask.
    ///
    /// - Throws: `bad-request` or `too-large` if it has a query or a body that the route does not take.
    package func call<Asker>(
        _ request: HTTPRequest,
        by asker: Asker,
        within bounds: ServingBounds
    ) throws(Problem) -> Call<Asker> {
        try self.checkQuery(request)
        let bodyBytesMax = self.body.bytesMax(bounds.hosts, bounds.intake)
        guard request.body.count <= bodyBytesMax else {
            throw Problem(.tooLarge, "the body may have at most \(bodyBytesMax) bytes")
        }
        return Call(request: request, path: self.path, bodyBytesMax: bodyBytesMax, asker: asker)
    }
}
