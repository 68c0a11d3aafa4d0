import IntentMatching
import Timelines
import WidgetModel

extension InstanceDetails.Row {
    /// The row of a free number.
    static let blank = InstanceDetails.Row(id: InstanceID(""), family: .systemSmall)
}

extension InstanceDetails.Whole {
    var tags: [String] { self.coldFields?.tags ?? [] }

    /// Codes the groups of fields that there are. A writer's `self` has all that the writer was given; a reader's has
    /// the row and the tags.
    func coded(
        by coder: inout some StateCoder,
        _ groups: InstanceGroups
    ) throws(ByteError) -> InstanceDetails.Whole {
        var whole = self
        if groups.contains(.conditionOrControl) {
            whole.coldFields = try (self.coldFields ?? InstanceDetails.ColdFields()).coded(by: &coder)
        }
        if groups.contains(.content) {
            whole.content = try (self.content ?? InstanceDetails.Content()).coded(by: &coder, &whole.confirmedBy)
        }
        if groups.contains(.observed) {
            whole.observed = try (self.observed ?? InstanceDetails.Observed()).coded(by: &coder)
        }
        return whole
    }
}

extension InstanceDetails.ColdFields {
    /// The fields beside the tags, which come first.
    func coded(by coder: inout some StateCoder) throws(ByteError) -> InstanceDetails.ColdFields {
        InstanceDetails.ColdFields(
            tags: self.tags,
            when: try coder.value(self.when),
            controlToken: try coder.value(self.controlToken),
            controlEnvironment: try coder.choice(self.controlEnvironment)
        )
    }
}

extension InstanceDetails.Content {
    /// - Parameters:
    ///   - coder: The coder.
    ///   - confirmedBy: See ``InstanceDetails/confirmedBy(of:)``. A writer was given it, a reader reads it.
    func coded(
        by coder: inout some StateCoder,
        _ confirmedBy: inout LogPosition
    ) throws(ByteError) -> InstanceDetails.Content {
        var content = InstanceDetails.Content()
        content.timeline = try coder.optional(self.timeline, .blank)
        content.confirmedDigest = try coder.optional(self.confirmedDigest, .blank)
        confirmedBy = try coder.position(confirmedBy)
        content.pendingDigest = try coder.optional(self.pendingDigest, .blank)
        content.shownEntry = try coder.value(self.shownEntry)
        content.unshown = try coder.optional(self.unshown, .blank)
        return content
    }
}

extension InstanceDetails.Observed: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> InstanceDetails.Observed {
        InstanceDetails.Observed(
            viewedAt: try coder.date(self.viewedAt),
            systemChangeAt: try coder.date(self.systemChangeAt),
            awaitsReport: try coder.date(self.awaitsReport),
            awaitsLook: try coder.flag(self.awaitsLook),
            observedReloads: try coder.number(self.observedReloads),
            collateralReloads: try coder.number(self.collateralReloads),
            collateralOverReloads: try coder.number(self.collateralOverReloads)
        )
    }
}

extension InstanceDetails.Shown: Coded {
    static let blank = InstanceDetails.Shown(
        timeline: Timeline(entries: [], policy: .never),
        receivedAt: .epoch,
        findings: [],
        equalDigests: 0
    )

    func coded(by coder: inout some StateCoder) throws(ByteError) -> InstanceDetails.Shown {
        InstanceDetails.Shown(
            timeline: try coder.value(self.timeline),
            receivedAt: try coder.instant(self.receivedAt),
            findings: try coder.value(self.findings),
            equalDigests: try coder.number(self.equalDigests)
        )
    }
}

extension InstanceDetails.Unshown: Coded {
    static let blank = InstanceDetails.Unshown(position: .start, acceptedAt: .epoch)

    func coded(by coder: inout some StateCoder) throws(ByteError) -> InstanceDetails.Unshown {
        InstanceDetails.Unshown(
            position: try coder.position(self.position),
            acceptedAt: try coder.instant(self.acceptedAt)
        )
    }
}
