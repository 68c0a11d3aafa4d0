import Storage
import WidgetModel

extension InstanceDetails {
    /// Fetches the head of an instance.
    @inline(__always)
    func prefetch(_ slot: InstanceNumber) { self.heads.prefetch(slot.index) }

    /// Fetches the text that begins with an instance's id; see ``prefetch(_:)``, which is best called some time before.
    @inline(__always)
    func prefetchText(of slot: InstanceNumber) { self.texts.prefetch(self.heads[slot.index].text) }

    /// Fetches the state of an instance's content; see ``prefetch(_:)``, which is best called some time before.
    @inline(__always)
    func prefetchContent(of slot: InstanceNumber) {
        let number = self.heads[slot.index].content
        if !number.isNone { self.content.prefetch(number) }
    }
}
