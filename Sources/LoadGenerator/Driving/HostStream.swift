/// An event stream that the generator reads: a host's own, or the app's.
struct HostStream {
    /// Nil for the app's.
    let host: Int?
    var connection: LoadConnection?
    var reader: EventStreamReader
    /// Of a stream that connects again because a load says so: when it was meant to.
    var reconnecting: (load: Int, intended: Int64)?
    /// Whether its request is out.
    var isAsked = false
}
