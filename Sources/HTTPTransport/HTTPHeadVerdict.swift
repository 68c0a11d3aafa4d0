/// The verdict on a request by its head alone, before its body has come.
package enum HTTPHeadVerdict: Sendable {
    /// Its body may come.
    ///
    /// - Parameter bodyBytesMax: How much of it is taken, above which the answer is 413; nil for the listener's own limit, which
    ///   bounds it in any case.
    case accepted(bodyBytesMax: Int?)
    /// This is the answer, and the body is not collected.
    case refused(HTTPResponse)
}
