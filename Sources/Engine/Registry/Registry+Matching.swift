import IntentMatching
import WidgetModel

/// The intent index: which instances a push to an app is about.
extension Registry {
    /// Declares the parameters that a kind's configurations may have.
    mutating func declare(_ schema: KindSchema, app: BundleID) { self.index.declare(schema, app: app) }

    /// Gives the index an instance with its configuration, or the changes to one.
    ///
    /// - Parameters:
    ///   - instance: A live instance.
    ///   - app: The app's id.
    ///   - kind: The kind's name.
    ///   - configuration: The instance's. Every caller has it at hand.
    mutating func insertIntoIndex(
        _ instance: InstanceNumber,
        app: BundleID,
        kind: WidgetKind,
        _ configuration: Configuration
    ) {
        let coldFields = self.coldFields(of: instance)
        self.index.insert(
            instance,
            app: app,
            kind: kind,
            family: self.family(of: instance),
            host: self[instance].host,
            tags: coldFields?.tags ?? [],
            configuration: configuration,
            when: coldFields?.when,
            pushEnabled: self[instance].pushEnabled
        )
    }

    mutating func removeFromIndex(_ instance: InstanceNumber) { self.index.remove(instance) }

    /// Begins changes of the index for instances of one host, which ``finishIndexChanges()`` makes in one go.
    mutating func startIndexChanges(of instances: Span<InstanceNumber>) {
        self.index.prefetch(instances)
        self.index.startChanges()
    }

    mutating func finishIndexChanges() { self.index.finishChanges() }

    /// See ``Engine/finishLoading()``.
    mutating func finishLoading() { self.index.finishLoading() }

    /// Begins to find the push-enabled instances of an app that match.
    func cursor(
        app: BundleID,
        kind: WidgetKind?,
        _ pattern: MatchPattern?,
        _ attributes: Configuration?,
        order: MatchOrder,
        isExplained: Bool
    ) -> MatchCursor {
        self.index.cursor(
            app: app,
            kind: kind,
            pattern: pattern,
            hosts: self.hosts,
            attributes: attributes,
            order: order,
            isExplained: isExplained,
            batchLimit: 4096
        )
    }

    /// Finds the cursor's next batch; false at the end.
    func findNext(_ cursor: inout MatchCursor) -> Bool { self.index.next(&cursor, self.hosts) }

    /// How the instances were found of a cursor that is at its end.
    func plans(of cursor: borrowing MatchCursor) -> [QueryPlan] { self.index.plans(of: cursor) }

    /// How many instances of an app and kind take pushes. O(1).
    func pushEnabledCount(app: BundleID, kind: WidgetKind? = nil) -> Int {
        guard let kind else { return self.index.count(app: app) }
        return self.index.count(app: app, kind: kind)
    }

    /// The host that the index has for an instance; nil if no push reaches that.
    func indexedHost(of instance: InstanceNumber) -> HostNumber? { self.index.host(of: instance) }
}
