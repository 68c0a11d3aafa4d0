/// An event stream that the generator reads: a host's own, or the app's.
struct HostStream {
    /// Nil for the app's.
    let host: Int?
    var connection: LoadConnection?
    var reader: EventStreamReader
}
