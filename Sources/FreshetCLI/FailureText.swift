import Foundation
import HTTPTransport

/// Failures in words for people.
enum FailureText {
    /// An error as a sentence; one of Foundation's with the path that it is about and the system's reason.
    static func of(_ error: any Error) -> String {
        self.ofFoundation(error) ?? ConnectionFailure.known(error) ?? "\(error)"
    }

    /// - Returns: Nil if Foundation has not made the error.
    static func ofFoundation(_ error: any Error) -> String? {
        // Any error becomes an NSError; the domain says whose it is.
        let failure = error as NSError
        guard [NSCocoaErrorDomain, NSPOSIXErrorDomain].contains(failure.domain) else { return nil }
        let path = failure.userInfo[NSFilePathErrorKey] as? String ?? (failure.userInfo[NSURLErrorKey] as? URL)?.path
        return "\(path ?? "a file") cannot be used: \(Self.reason(of: failure))"
    }

    /// A failure of a job over files or folders: with the first path before it, unless it names one of them itself.
    static func of(_ error: any Error, about path: String, _ others: String...) -> String {
        let text = Self.of(error)
        let words = text.split { " :;,".contains($0) }
        let isNamed = ([path] + others).contains { path in
            words.contains { $0 == path || $0.hasPrefix("\(path)/") || $0.hasPrefix("\(path).") }
        }
        return isNamed ? text : "\(path): \(text)"
    }

    /// The system's words: Foundation's own are for another audience.
    private static func reason(of failure: NSError) -> String {
        let causes = [failure, (failure.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }]
        let cause = causes.compactMap { $0 }.first { $0.domain == NSPOSIXErrorDomain }
        return cause?.localizedFailureReason ?? "the system does not allow it"
    }
}
