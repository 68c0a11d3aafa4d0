import Glibc

/// The system's sentence for an error number.
package func systemErrorText(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    // Sound: the buffer is ours and its size is passed; the call terminates its text.
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return bytes.isEmpty ? "error \(code)" : String(decoding: bytes, as: UTF8.self)
}
