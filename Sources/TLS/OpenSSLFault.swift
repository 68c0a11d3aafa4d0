import COpenSSL

/// One entry of OpenSSL's per-thread error queue, as a value.
package struct OpenSSLFault: Hashable, Sendable, CustomStringConvertible {
    /// The part of OpenSSL that complains, such as `SSL routines`.
    package let library: String
    /// OpenSSL's number of the reason within the library.
    package let reasonCode: Int32
    /// OpenSSL's words for the reason.
    package let reason: String
    /// OpenSSL's detail about this occurrence, such as the name of a file; often empty.
    package let detail: String

    /// True if the entry is an errno of the operating system.
    package let isSystemError: Bool

    package var description: String {
        self.detail.isEmpty ? self.reason : "\(self.reason) (\(self.detail))"
    }

    /// True if OpenSSL looked for something to read and found nothing of that kind.
    var meansNothingFound: Bool {
        self.library == "DECODER routines" || (self.library == "PEM routines" && self.reasonCode == PEM_R_NO_START_LINE)
    }

    /// Removes whatever an earlier call left in this thread's queue.
    ///
    /// `SSL_get_error` looks at the queue, so an old entry would be taken for the failure of the call that follows.
    static func clearQueue() {
        ERR_clear_error()
    }

    /// Takes this thread's whole queue, oldest entry (the cause) first; the queue is empty afterwards.
    static func takeQueue() -> [OpenSSLFault] {
        var faults: [OpenSSLFault] = []
        while true {
            var data: UnsafePointer<CChar>? = nil
            var flags: Int32 = 0
            // Sound: the out-pointers live for the call; `data` points into the queue's entry, which OpenSSL keeps
            // until the next call on this thread, and is copied into a String before that.
            let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
            guard code != 0 else { return faults }
            var detail = ""
            if let text = unsafe data, flags & ERR_TXT_STRING != 0 { detail = unsafe String(cString: text) }
            faults.append(OpenSSLFault(code: code, detail: detail))
        }
    }

    private init(code: UInt, detail: String) {
        // Sound: the strings of libraries and reasons are static tables of OpenSSL.
        self.library = unsafe ERR_lib_error_string(code).map { unsafe String(cString: $0) } ?? "system"
        self.reasonCode = ERR_GET_REASON(code)
        self.isSystemError = ERR_GET_LIB(code) == ERR_LIB_SYS
        self.detail = detail
        if let reason = unsafe ERR_reason_error_string(code) {
            self.reason = unsafe String(cString: reason)
        } else {
            self.reason = Self.text(of: code)
        }
    }

    /// The last field of `error:80000002:system library::No such file or directory`: the only way to the text of
    /// an errno that neither calls `strerror` (not thread-safe) nor a variant of `strerror_r`.
    private static func text(of code: UInt) -> String {
        let line = unsafe [CChar](unsafeUninitializedCapacity: 256) { buffer, count in
            // Sound: OpenSSL writes at most `buffer.count` bytes and ends them with a zero.
            unsafe ERR_error_string_n(code, buffer.baseAddress, buffer.count)
            count = unsafe buffer.firstIndex(of: 0) ?? buffer.count
        }
        let bytes = line.map { UInt8(bitPattern: $0) }
        let start = bytes.lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? 0
        return String(decoding: bytes[start...], as: UTF8.self)
    }
}
