import WidgetModel

/// The outstanding reloads of an instance, oldest first: where they begin and end in ``Reloads``.
struct ReloadList: Hashable, Sendable {
    var first = ReloadNumber.none
    var last = ReloadNumber.none
    /// The earliest end of one of them; `.distantFuture` if there is none.
    var expires = Instant.distantFuture

    @inline(__always)
    var isEmpty: Bool { self.first.isNone }
}
