public import Foundation

/// A host, from the gateway's registry.
public struct HostDescription: Sendable, Hashable, Decodable {
    /// The host's id.
    public let host: String
    /// Its app.
    public let app: String
    /// Its push tokens, shortened.
    public let tokens: [String]
    /// The number of its last registration.
    public let revision: Int
    /// How reloads reach the host.
    public let delivery: Delivery
    /// When it last registered.
    public let registeredAt: Date
    /// Until when the gateway keeps it without another registration; nil without an end.
    public let leaseEnds: Date?
    /// Why its reloads are not charged now.
    public let exemptions: [String]
    /// The number of its unacknowledged reloads.
    public let outstandingReloads: Int
    /// Its widgets.
    public let instances: [WidgetInstance]
}

/// All widgets of a host, and its outstanding reloads: a host reads this after a ``HostEvent/gap``.
public struct HostState: Sendable, Hashable, Decodable {
    /// The host's registration.
    public let host: HostDescription
    /// The first date at which something is due for the host without a new event: a host that polls may sleep until
    /// then. nil if nothing is due.
    public let nextAt: Date?
    /// Its widgets, with the rest of their budgets.
    public let instances: [InstanceState]
    /// Its unacknowledged reloads.
    public let outstanding: [Reload]
    /// The content of widgets that wait for their first entry.
    public let placeholders: [Placeholder]
    /// For kinds with a timeline provider: each widget's present and later entries.
    public let entries: [WidgetEntries]
}

/// A widget, and when it may reload.
public struct InstanceState: Sendable, Hashable, Decodable {
    /// Its address: `<app>/<host>:<instance>`.
    public let id: String
    /// Its kind.
    public let kind: String
    /// Its family.
    public let family: Family
    /// When the engine decides next about its waiting causes; nil if none waits.
    public let decidesAt: Date?
    /// Its reload budget.
    public let budget: Budget

    /// How many reloads a window allows.
    public struct Budget: Sendable, Hashable, Decodable {
        /// How many reloads the window allows; nil for no limit.
        public let allowance: Int?
        /// How many reloads were charged in it.
        public let charged: Int
        /// The start of the next window.
        public let windowEnd: Date?
        /// When the widget last reloaded.
        public let lastReload: Date?
    }
}

/// An order to make a widget's timeline again.
public struct Reload: Sendable, Hashable, Decodable {
    /// Its id. A repeated reload has the same id.
    public let id: String
    /// The app of the widget.
    public let app: String
    /// The host that shows the widget.
    public let host: String
    /// The widget's id on its host.
    public let instance: String
    /// The widget's kind.
    public let kind: String
    /// The widget's family.
    public let family: Family
    /// The causes: `push`, `added`, `policy` and others.
    public let causes: [String]
    /// Whether it is charged to the widget's budget.
    public let charged: Bool
    /// Why it is not charged.
    public let exemption: String?
    /// The push that caused it.
    public let push: UUID?
    /// The number of pushes that it serves.
    public let pushes: Int
    /// When the gateway issued it.
    public let issuedAt: Date
    /// Until when the gateway sends it.
    public let expiresAt: Date
    /// Whether it was sent before and not acknowledged; nil means no.
    public let redelivered: Bool?
}

/// The content of a widget until its first entry arrives.
public struct Placeholder: Sendable, Hashable, Decodable {
    /// The reload that brings the entry.
    public let reload: String
    /// The host that shows the widget; nil in a host's own state.
    public let host: String?
    /// The widget's id on its host.
    public let instance: String
    /// The widget's kind.
    public let kind: String
    /// The widget's family.
    public let family: Family
    /// The content to draw, in the timeline provider's own form.
    public let content: JSONValue
}

/// An entry whose date has come: the content that a widget shows now.
public struct Entry: Sendable, Hashable, Decodable {
    /// The reload that brought it.
    public let reload: String
    /// The host that shows the widget.
    public let host: String
    /// The widget's id on its host.
    public let instance: String
    /// The widget's kind.
    public let kind: String
    /// The widget's family.
    public let family: Family
    /// The date from which the widget shows it.
    public let date: Date
    /// The date of the next entry; nil if there is none.
    public let until: Date?
    /// Its relevance.
    public let relevance: Relevance?
    /// The content to draw, in the timeline provider's own form.
    public let content: JSONValue
}

/// The present and later entries of a widget with a timeline provider.
public struct WidgetEntries: Sendable, Hashable, Decodable {
    /// The widget's id.
    public let instance: String
    /// The widget's kind.
    public let kind: String
    /// The widget's family.
    public let family: Family
    /// The reload that brought them.
    public let reload: String
    /// In the order of their dates.
    public let entries: [ContentEntry]
}

/// A host's widgets in the order of a Smart Stack.
public struct Stack: Sendable, Hashable, Decodable {
    /// The moment that this order is for.
    public let at: Date
    /// The first on top.
    public let widgets: [Place]

    /// A widget in a stack.
    public struct Place: Sendable, Hashable, Decodable {
        /// The widget's id.
        public let instance: String
        /// The relevance of its entry.
        public let score: Double
        /// The date of its shown entry.
        public let entry: Date?
    }
}

/// Configurations that are relevant, and that the host does not show.
public struct Suggestions: Sendable, Hashable, Decodable {
    /// The moment that this answer is for.
    public let at: Date
    /// The suggestions: the first of each kind comes first.
    public let suggestions: [Suggestion]
    /// The number of relevances that could not be used; nil means none.
    public let leftOut: Int?
    /// Kinds whose timeline provider has never given their relevance.
    public let unanswered: [String]?

    /// A configuration that is relevant.
    public struct Suggestion: Sendable, Hashable, Decodable {
        /// The kind of widget to add.
        public let kind: String
        /// Its configuration.
        public let configuration: [String: JSONValue]
        /// The description in the kind's recommendation.
        public let description: String?
        /// The start of its relevance; nil without a start.
        public let from: Date?
        /// The end of its relevance; nil without an end.
        public let until: Date?
    }
}

/// A widget's content for a gallery.
public struct GalleryEntry: Sendable, Hashable, Decodable {
    /// The content to draw, in the timeline provider's own form.
    public let entry: JSONValue
    /// Whether it is the kind's sample, because the timeline provider gave nothing; nil means no.
    public let isSample: Bool?
}
