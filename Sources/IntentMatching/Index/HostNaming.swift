package import WidgetModel

/// Which hosts the caller's numbers stand for: by this, questions on `$host` are answered.
///
/// The index keeps numbers alone, and is told with each question what they mean. Hosts of which it knows no instance may be
/// among them.
package protocol HostNaming: ~Copyable {
    /// The number of the host of an app whose id these bytes are; nil if there is none.
    func number(ofHost id: [UInt8], of app: BundleID) -> HostNumber?

    /// Calls `body` with each host in a range of numbers and the bytes of its id, in the order of numbers.
    func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void)
}
