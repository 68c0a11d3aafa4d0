package import WidgetModel

/// An operator's request that has no record of its own, and its answer. Engines do nothing with either.
///
/// The request is logged before it has any effect, so that no change lacks a trace; its answer is logged when it is
/// done. A request without an answer was under way when the process ended, or its answer could not be logged.
package enum AuditNote: ByteCoded, Hashable, Sendable {
    case request(AuditedRequest)
    /// How the request with that number was answered, as an HTTP status.
    case answer(number: UInt64, status: Int)
}

/// A request of an operator.
package struct AuditedRequest: Hashable, Sendable {
    /// How much of a body is logged, in bytes.
    package static let bodyBytesMax = 1024

    /// A random number, which its answer names.
    package let number: UInt64
    package let source: OperatorSource
    package let method: String
    package let path: String
    /// The beginning of the request's body.
    package let body: String

    package init(number: UInt64, source: OperatorSource, method: String, path: String, body: [UInt8]) {
        self.number = number
        self.source = source
        self.method = method
        self.path = path
        self.body = String(decoding: body.prefix(Self.bodyBytesMax), as: UTF8.self)
    }
}

extension AuditNote {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .request(let request):
            writer.write(byte: 0)
            writer.write(fixed64: request.number)
            request.source.encode(into: &writer)
            for text in [request.method, request.path, request.body] { writer.write(text) }
        case .answer(let number, let status):
            writer.write(byte: 1)
            writer.write(fixed64: number)
            writer.write(count: status)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .request(try AuditedRequest(from: &reader))
        case 1:
            let number = try reader.readFixed64()
            self = .answer(number: number, status: Int(clamping: try reader.readVarint()))
        default: throw .invalid(offset: start)
        }
    }
}

extension AuditedRequest {
    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        self.number = try reader.readFixed64()
        self.source = try OperatorSource(from: &reader)
        self.method = try reader.readString()
        self.path = try reader.readString()
        self.body = try reader.readString()
    }
}
