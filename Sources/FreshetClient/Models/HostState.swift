public import Foundation

/// A host as the gateway knows it.
public struct HostDescription: Sendable, Hashable, Decodable {
    /// The host's id.
    public let host: String
    /// Its app.
    public let app: String
    /// Its push tokens, shortened.
    public let tokens: [String]
    /// Its last registration's number.
    public let revision: Int
    /// How reloads reach it.
    public let delivery: Delivery
    /// When it was last registered.
    public let registeredAt: Date
    /// Until when it is kept without another registration; nil for ever.
    public let leaseEnds: Date?
    /// Why its reloads are not charged at the moment.
    public let exemptions: [String]
    /// How many reloads it has not acknowledged.
    public let outstandingReloads: Int
    /// What it shows.
    public let instances: [WidgetInstance]
}

/// Everything that a host shows, and what is on its way to it: what it needs after a ``HostEvent/gap``.
public struct HostState: Sendable, Hashable, Decodable {
    /// The host's registration.
    public let host: HostDescription
    /// The first date at which something is due for it though nothing happens until then: what asks by itself may sleep so long. nil
    /// where nothing is due.
    public let nextAt: Date?
    /// Its widgets, with what is left of their budgets.
    public let instances: [InstanceState]
    /// Its reloads that are not acknowledged.
    public let outstanding: [Reload]
    /// What widgets show that wait for their first entry.
    public let placeholders: [Placeholder]
    /// Of kinds with a timeline provider what each widget shows now, and will show.
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
    /// When it is decided whether it reloads for what waits; nil if nothing does.
    public let decidesAt: Date?
    /// Its reload budget.
    public let budget: Budget

    /// How many reloads a window of time allows.
    public struct Budget: Sendable, Hashable, Decodable {
        /// How many reloads the window allows; nil for no limit.
        public let allowance: Int?
        /// How many were charged in it.
        public let charged: Int
        /// When the next window begins.
        public let windowEnd: Date?
        /// When the widget reloaded last.
        public let lastReload: Date?
    }
}

/// An order to make a widget's timeline anew.
public struct Reload: Sendable, Hashable, Decodable {
    /// Its id. A reload that is offered again has the same.
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
    /// Why: `push`, `added`, `policy` and the like.
    public let causes: [String]
    /// Whether it is charged to the widget's budget.
    public let charged: Bool
    /// Why it is not charged.
    public let exemption: String?
    /// The push that made it happen.
    public let push: UUID?
    /// How many pushes it serves.
    public let pushes: Int
    /// When it was ordered.
    public let issuedAt: Date
    /// Until when it is offered.
    public let expiresAt: Date
    /// Whether it was sent before and not acknowledged; nil for no.
    public let redelivered: Bool?
}

/// What a widget shows until its first entry is there.
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
    /// What to draw, in the timeline provider's own form.
    public let content: JSONValue
}

/// An entry whose date has come: what a widget is to show.
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
    /// From when on it is shown.
    public let date: Date
    /// The date of the next entry; nil if there is none.
    public let until: Date?
    /// How relevant it is.
    public let relevance: Relevance?
    /// What to draw, in the timeline provider's own form.
    public let content: JSONValue
}

/// What a widget with a timeline provider shows now, and will show.
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
    /// The moment of which this is the order.
    public let at: Date
    /// The first on top.
    public let widgets: [Place]

    /// A widget in a stack.
    public struct Place: Sendable, Hashable, Decodable {
        /// The widget's id.
        public let instance: String
        /// How relevant it is.
        public let score: Double
        /// The date of the entry that it shows.
        public let entry: Date?
    }
}

/// Configurations that are relevant, and that a host does not show.
public struct Suggestions: Sendable, Hashable, Decodable {
    /// The moment of which this is the answer.
    public let at: Date
    /// The first of each kind first.
    public let suggestions: [Suggestion]
    /// How much of what was said of relevance could not be used; nil for nothing.
    public let leftOut: Int?
    /// Kinds whose timeline provider has never told their relevance.
    public let unanswered: [String]?

    /// A configuration that is relevant.
    public struct Suggestion: Sendable, Hashable, Decodable {
        /// The kind to add.
        public let kind: String
        /// How to configure it.
        public let configuration: [String: JSONValue]
        /// What the kind's recommendation says of it.
        public let description: String?
        /// From when on it is relevant; nil for always.
        public let from: Date?
        /// Until when it is relevant; nil for ever.
        public let until: Date?
    }
}

/// What a gallery shows of a widget.
public struct GalleryEntry: Sendable, Hashable, Decodable {
    /// What to draw, in the timeline provider's own form.
    public let entry: JSONValue
    /// Whether it is the kind's sample, since its timeline provider gave nothing; nil for no.
    public let isSample: Bool?
}
