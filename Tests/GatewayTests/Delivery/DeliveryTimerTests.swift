import Testing
import WidgetModel

@testable import Delivery

/// The timer of deliveries and receipts.
@Suite(.timeLimit(.minutes(60))) struct DeliveryTimerTests {
    @Test func `the next instant counts where the clock was set beyond the one before`() async {
        let start = Instant(seconds: 1_800_000_000)
        var timer = DueTimer()
        timer.set(start + .days(1), now: start) {}
        let later = start + .days(2)
        await withCheckedContinuation { continuation in
            timer.set(later, now: later) { continuation.resume() }
        }
        timer.cancel()
    }

    @Test func `the earliest instant counts`() async {
        let start = Instant(seconds: 1_800_000_000)
        var timer = DueTimer()
        timer.set(start + .days(1), now: start) { Issue.record("a day has not passed") }
        await withCheckedContinuation { continuation in
            timer.set(start, now: start) { continuation.resume() }
        }
        timer.cancel()
    }
}
