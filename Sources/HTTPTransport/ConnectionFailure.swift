import NIOCore
import NIOHTTP1
import NIOPosix
import TLS

/// The reason why a connection was not made, or broke, in words for people: neither a library's nor the system's own.
package enum ConnectionFailure {
    /// The meaning of an error of the network. Words of a library that are not known stand behind ours.
    package static func sentence(_ error: any Error) -> String {
        self.known(error) ?? "the connection failed: \(error)"
    }

    /// The meaning of an error of the network; nil of every other error.
    package static func known(_ error: any Error) -> String? {
        switch error {
        case let error as HTTPTransportError: error.message
        case let error as TLSError: error.message
        case let error as NIOConnectionError: Self.sentence(error)
        case let error as IOError: Self.sentence(errno: error.errnoCode)
        case is SocketAddressError, is SocketAddressError.UnknownHost: "the name has no address"
        case ChannelError.connectTimeout: "it did not answer in time"
        case is ChannelError: "the connection was closed"
        case is HTTPParserError: "it does not speak HTTP/1.1"
        default: nil
        }
    }

    /// Several addresses may have been tried, each in vain for the same reason or for its own.
    private static func sentence(_ error: NIOConnectionError) -> String {
        var sentences: [String] = []
        for cause in error.connectionErrors.map({ Self.sentence($0.error) }) where !sentences.contains(cause) {
            sentences.append(cause)
        }
        return sentences.isEmpty ? "the name has no address" : sentences.joined(separator: "; ")
    }

    private static func sentence(errno code: CInt) -> String {
        switch code {
        case ENOENT: "there is no such socket"
        case ECONNREFUSED: "connection refused: nothing listens there"
        case ECONNRESET, EPIPE: "it closed the connection"
        case ETIMEDOUT: "it did not answer in time"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN: "it cannot be reached from this network"
        case EADDRINUSE: "another program listens there"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EACCES, EPERM: "the system does not allow it"
        case EMFILE, ENFILE: "too many files and connections are open"
        default: "the system's error \(code)"
        }
    }
}
