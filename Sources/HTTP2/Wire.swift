import CNghttp2

// nghttp2's enums import as structs over UInt32, while the frames that carry them have bytes; these are the ones in use,
// with the type in which they are compared.

enum FrameType {
    static let data = UInt8(NGHTTP2_DATA.rawValue)
    static let headers = UInt8(NGHTTP2_HEADERS.rawValue)
    static let priority = UInt8(NGHTTP2_PRIORITY.rawValue)
    static let resetStream = UInt8(NGHTTP2_RST_STREAM.rawValue)
    static let settings = UInt8(NGHTTP2_SETTINGS.rawValue)
    static let pushPromise = UInt8(NGHTTP2_PUSH_PROMISE.rawValue)
    static let ping = UInt8(NGHTTP2_PING.rawValue)
    static let windowUpdate = UInt8(NGHTTP2_WINDOW_UPDATE.rawValue)
    static let continuation = UInt8(NGHTTP2_CONTINUATION.rawValue)
    static let goAway = UInt8(NGHTTP2_GOAWAY.rawValue)
}

enum FrameFlag {
    static let endStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
    static let endHeaders = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    static let acknowledgement = UInt8(NGHTTP2_FLAG_ACK.rawValue)
}

enum LibraryCode {
    static let callbackFailure = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    static let temporalCallbackFailure = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    static let deferred = Int(NGHTTP2_ERR_DEFERRED.rawValue)
    static let badClientMagic = Int(NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue)
    static let flooded = Int(NGHTTP2_ERR_FLOODED.rawValue)
    static let tooManyContinuations = Int(NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue)
}
