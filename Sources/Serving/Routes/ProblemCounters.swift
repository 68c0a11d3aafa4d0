package import HTTPTransport
package import Partitions
import Synchronization

/// How often each problem was answered on the routes of the host listener since the process started.
package final class ProblemCounters: Sendable {
    private let counts = Mutex<[Problem.Code: Int]>([:])

    package init() {}

    package func add(_ code: Problem.Code) {
        self.counts.withLock { $0[code, default: 0] += 1 }
    }

    /// The answer to a request beyond a limit of its listener.
    package func refuse(_ status: Int, _ title: String) -> HTTPResponse {
        guard status == Problem.bodyTooLong.code.status else {
            return AsyncRequestHandler.problem(status: status, title: title)
        }
        self.add(Problem.bodyTooLong.code)
        return HTTPResponse(problem: .bodyTooLong)
    }

    /// In the order of the codes; those that never were are left out.
    package var all: [(Problem.Code, Int)] {
        let counts = self.counts.withLock { $0 }
        return Problem.Code.allCases.compactMap { code in counts[code].map { (code, $0) } }
    }
}

extension Manners {
    /// Answers a request with the response of its handler; a problem becomes the response, and is counted.
    package static func answer(
        _ request: HTTPRequest,
        counting problems: ProblemCounters,
        _ handle: () async throws(Problem) -> HTTPResponse
    ) async -> HTTPResponse {
        do throws(Problem) {
            return Self.finished(try await handle(), request)
        } catch {
            problems.add(error.code)
            return Self.finished(HTTPResponse(problem: error), request)
        }
    }
}
