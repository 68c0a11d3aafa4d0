import Synchronization

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Requests by Foundation's `URLSession`.
///
/// It trusts the system's certificate authorities. It speaks HTTP/2 if the gateway offers it, on Linux if libcurl was
/// built with it, like Debian's.
public final class URLSessionTransport: FreshetTransport {
    /// The default of an ``Endpoint``.
    public static let shared = URLSessionTransport()

    /// How many parts of an answer may wait for the reader. The answer ends for a reader that falls further behind.
    static let waitingPartsMax = 4_096

    private let session: URLSession
    private let delegate: Delegate

    /// Makes a transport with a session of its own.
    ///
    /// - Parameter configuration: The session's configuration. The default keeps no cookies and no answers, ends a request
    ///   after a minute of silence, and opens at most 64 connections to a gateway. Without HTTP/2 every event stream takes
    ///   one of them.
    public init(configuration: URLSessionConfiguration? = nil) {
        let delegate = Delegate()
        self.delegate = delegate
        self.session = URLSession(
            configuration: configuration ?? Self.standardConfiguration,
            delegate: delegate,
            delegateQueue: nil
        )
    }

    deinit {
        self.session.invalidateAndCancel()
    }

    private static var standardConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = 60
        configuration.httpMaximumConnectionsPerHost = 64
        return configuration
    }

    /// Sends a request, and returns as soon as the head of the answer has arrived.
    ///
    /// - Throws: ``FreshetError/unreachable(_:)``, or `CancellationError` if the task was cancelled.
    public func answer(to request: TransportRequest) async throws -> TransportAnswer {
        var sent = URLRequest(url: request.url)
        sent.httpMethod = request.method
        sent.httpBody = request.body
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        let task = self.session.dataTask(with: sent)
        let head = HeadWait()
        return try await withTaskCancellationHandler {
            try await head.wait {
                self.delegate.expect(head, of: task)
                task.resume()
            }
        } onCancel: {
            task.cancel()
            self.delegate.forgetHead(of: task)
            // A session that is told so while a request begins may never say that it has ended.
            head.end(.failure(CancellationError()))
        }
    }
}

/// The wait for the head of an answer. It ends once, perhaps before it begins.
private final class HeadWait: Sendable {
    private enum State {
        case new
        case waiting(CheckedContinuation<TransportAnswer, any Error>)
        case over
    }

    private let state = Mutex(State.new)

    /// - Parameter begin: Called once there is a waiting caller; not if the wait is over already.
    /// - Throws: The failure by which it ended, or `CancellationError` if that was before it began.
    func wait(_ begin: () -> Void) async throws -> TransportAnswer {
        try await withCheckedThrowingContinuation { continuation in
            let isNew = self.state.withLock { state in
                guard case .new = state else { return false }
                state = .waiting(continuation)
                return true
            }
            if isNew { begin() } else { continuation.resume(throwing: CancellationError()) }
        }
    }

    func end(_ result: Result<TransportAnswer, any Error>) {
        let continuation = self.state.withLock { state -> CheckedContinuation<TransportAnswer, any Error>? in
            defer { state = .over }
            return if case .waiting(let continuation) = state { continuation } else { nil }
        }
        continuation?.resume(with: result)
    }
}

/// Passes the events of a session's tasks to their readers.
private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    private enum Reader {
        case head(HeadWait)
        case body(AsyncThrowingStream<Data, any Error>.Continuation)
    }

    private let readers = Mutex<[Int: Reader]>([:])

    func expect(_ head: HeadWait, of task: URLSessionTask) {
        self.readers.withLock { $0[task.taskIdentifier] = .head(head) }
    }

    func forgetHead(of task: URLSessionTask) {
        self.readers.withLock { readers in
            if case .head? = readers[task.taskIdentifier] { readers[task.taskIdentifier] = nil }
        }
    }

    func urlSession(
        _ session: URLSession,
        dataTask task: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        guard let response = response as? HTTPURLResponse else { return completionHandler(.cancel) }
        let limit = URLSessionTransport.waitingPartsMax
        let (body, parts) = AsyncThrowingStream.makeStream(
            of: Data.self,
            bufferingPolicy: .bufferingOldest(limit)
        )
        parts.onTermination = { _ in task.cancel() }
        let reader = self.readers.withLock { readers in
            let reader = readers[task.taskIdentifier]
            readers[task.taskIdentifier] = .body(parts)
            return reader
        }
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields { headers[name] = value }
        if case .head(let head)? = reader {
            head.end(.success(TransportAnswer(status: response.statusCode, headers: headers, body: body)))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
        guard case .body(let parts)? = self.readers.withLock({ $0[task.taskIdentifier] }) else { return }
        if case .dropped = parts.yield(data) {
            let limit = URLSessionTransport.waitingPartsMax
            parts.finish(throwing: FreshetError.unreachable("more than \(limit) parts of the answer wait to be read"))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let failure = error.map(Self.failure)
        switch self.readers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) {
        case .head(let head)?: head.end(.failure(failure ?? FreshetError.unreachable("no answer came")))
        case .body(let parts)?: parts.finish(throwing: failure)
        case nil: break
        }
    }

    /// A text only: the error itself contains the whole address, and so a push token.
    private static func failure(_ error: any Error) -> any Error {
        if (error as? URLError)?.code == .cancelled { return CancellationError() }
        return FreshetError.unreachable("\(error.localizedDescription) (\((error as NSError).code))")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
