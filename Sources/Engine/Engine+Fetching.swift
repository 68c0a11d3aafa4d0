import Timelines
import WidgetModel

extension Engine {
    /// What a timeline provider is asked about.
    ///
    /// - Parameter row: The reload; nil if it has ended.
    func subject(of slot: InstanceNumber, _ id: ReloadID, _ row: Reloads.Reload?) -> FetchSubject {
        let instance = self.registry[slot]
        let kind = self.catalogue[instance.kind]
        var priority = Priority.low
        if let row { priority = self.priority(of: row) }
        return FetchSubject(
            reload: id,
            address: self.address(of: slot),
            kind: kind.name,
            family: self.registry.family(of: slot),
            configuration: self.registry.configuration(of: slot),
            context: self.registry.context(of: instance.host),
            causes: row?.causes ?? [],
            push: row?.push,
            priority: priority,
            issuedAt: row?.issuedAt ?? self.time,
            expiresAt: row?.expiresAt ?? .distantFuture,
            isVisible: self.schedule[cold: slot].visibleUntil > self.time,
            digest: self.registry[content: slot].timeline?.timeline.digest
        )
    }

    private func priority(of row: Reloads.Reload) -> Priority {
        guard row.causes.isSubset(of: ReloadCauses(.push)) else { return .high }
        return self.reloads.highestPriority(in: row.pushes) ?? .low
    }

    /// The timeline that an instance shows, if its content can be fetched; nil while a reload is out, which brings another one.
    ///
    /// - Parameter reload: Any of the instance's since it was configured; nil for the first.
    func shownTimeline(of slot: InstanceNumber, from reload: ReloadID? = nil) -> ShownTimeline? {
        let instance = self.registry[slot]
        guard instance.isLive, !instance.isHostDriven, self.registry[instance.host].delivery == .stream,
            self.schedule[active: slot].outstanding.isEmpty,
            let timeline = self.registry[content: slot].timeline?.timeline, timeline.digest != nil
        else { return nil }
        let id = reload ?? self.reloadID(at: instance.configuredAt, of: slot)
        return ShownTimeline(subject: self.subject(of: slot, id, nil), timeline: timeline)
    }
}
