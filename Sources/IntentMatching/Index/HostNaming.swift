package import WidgetModel

/// The ids of the hosts behind the caller's numbers, for conditions on `$host`.
///
/// The index keeps numbers alone, and gets their ids with each question. There may be hosts without an instance in the
/// index.
package protocol HostNaming: ~Copyable {
    /// The number of the host of an app whose id these bytes are; nil if there is none.
    func number(ofHost id: [UInt8], of app: BundleID) -> HostNumber?

    /// Calls `body` with each host in a range of numbers and the bytes of its id, in the order of numbers.
    func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void)
}
