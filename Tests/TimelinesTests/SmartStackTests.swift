import Testing
import Timelines
import WidgetModel

@Suite struct SmartStackTests {
    private static func widget(_ id: String, _ scores: [(Interval, Float, Interval)]) -> SmartStack.Widget {
        let entries = scores.map { offset, score, duration in
            TimelineEntry(date: noon + offset, relevance: EntryRelevance(score: score, duration: duration))
        }
        return SmartStack.Widget(InstanceID(id), showing: Timeline(entries: entries, policy: .never), at: noon)
    }

    private static func order(_ widgets: [SmartStack.Widget]) -> [String] {
        SmartStack(widgets).widgets.map(\.instance.rawValue)
    }

    @Test func `the more relevant entry that is shown comes first`() {
        let widgets = [
            Self.widget("a", [(.zero, 1, .zero)]), Self.widget("b", [(.zero, 3, .zero)]),
            Self.widget("c", [(.zero, 2, .zero), (.hours(1), 9, .zero)]),
        ]
        #expect(Self.order(widgets) == ["b", "c", "a"])
    }

    @Test func `of equally relevant ones the later entry, then the id decides`() {
        let widgets = [
            Self.widget("c", [(.hours(-2), 1, .zero)]), Self.widget("b", [(.hours(-1), 1, .zero)]),
            Self.widget("a", [(.hours(-2), 1, .zero)]),
        ]
        #expect(Self.order(widgets) == ["b", "a", "c"])
    }

    @Test func `what is not relevant comes last: no score, none above zero, or its time is over`() {
        let widgets = [
            Self.widget("negative", [(.zero, -5, .zero)]), Self.widget("zero", [(.zero, 0, .zero)]),
            Self.widget("over", [(.hours(-1), 8, .hours(1))]), Self.widget("lasts", [(.hours(-1), 1, .minutes(61))]),
            SmartStack.Widget(InstanceID("unknown"), showing: nil, at: noon),
        ]
        #expect(Self.order(widgets) == ["lasts", "negative", "zero", "over", "unknown"])
        #expect(SmartStack(widgets).widgets.map(\.score) == [1, 0, 0, 0, 0])
    }
}
