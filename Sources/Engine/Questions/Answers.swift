package import IntentMatching
package import Timelines
package import WidgetModel

/// The bytes of answers: the result of ``EngineQuestion/answer(from:)`` can be sent to the node that asked.
///
/// The reader may run another program. An answer that does not fit its tables, such as one with counts of an unknown outcome, is refused as
/// damaged.

// MARK: - Hosts

extension HostView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.host,
        \.tokens,
        \.revision,
        \.delivery,
        \.context,
        \.registeredAt,
        \.firstRegisteredAt,
        \.leaseEnds,
        \.exemptions,
        \.isInStandBy,
        \.isInLowPower,
        \.instances,
        \.outstandingReloads
    )
}

extension HostState: FieldCoded {
    package static let coding = Fields(Self.init, \.host, \.instances, \.outstanding)
}

extension HostSummary: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.host,
        \.delivery,
        \.registeredAt,
        \.leaseEnds,
        \.exemptions,
        \.isInStandBy,
        \.isInLowPower,
        \.instances,
        \.outstanding
    )
}

extension StackView: FieldCoded {
    package static let coding = Fields(Self.init, \.stack, \.at)
}

extension RegistryAdditions: FieldCoded {
    package static let coding = Fields(Self.init, \.hosts, \.instances, \.newInstances)
}

// MARK: - Instances

extension BehindReason: ByteCoded {}
extension DecisionReason: ByteCoded {}

extension InstanceSummary: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.address,
        \.kind,
        \.family,
        \.pushEnabled,
        \.isOrphaned,
        \.isVisible,
        \.allowance,
        \.charged,
        \.waiting,
        \.outstanding,
        \.decidesAt,
        \.lastReload,
        \.behind,
        \.behindSince
    )
}

extension ListedWidget: FieldCoded {
    package static let coding = Fields(Self.init, \.host, \.registration)
}

extension InstanceView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.address,
        \.kind,
        \.family,
        \.configuration,
        \.pushEnabled,
        \.tags,
        \.generation,
        \.isOrphaned,
        \.isVisible,
        \.shownEntry,
        \.budget,
        \.timeline,
        \.pending,
        \.pendingCount,
        \.decidesAt,
        \.waitsFor,
        \.behind,
        \.behindSince,
        \.outstanding,
        \.decisions,
        \.earlierDecision,
        \.ledger
    )
}

extension BudgetView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.policy,
        \.windowStart,
        \.windowEnd,
        \.allowance,
        \.pushAllowance,
        \.charged,
        \.pushesCharged,
        \.burst,
        \.interval,
        \.exemptReloads,
        \.observedReloads,
        \.collateralReloads,
        \.collateralOverReloads,
        \.viewRate,
        \.isLearning,
        \.lastReload,
        \.nextHigh,
        \.nextNormal,
        \.nextPolicy,
        \.exemption
    )
}

extension TimelineView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.entries,
        \.firstDate,
        \.lastDate,
        \.policy,
        \.digest,
        \.receivedAt,
        \.nextRequest,
        \.findings
    )
}

extension PendingView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.cause,
        \.push,
        \.priority,
        \.since,
        \.notBefore,
        \.expiresAt,
        \.until,
        \.reason
    )
}

extension DayLedger: FieldCoded {
    package static let coding = Fields(Self.init, \.from, \.until, \.isWhole, \.entries, \.earlier)
}

extension DayLedger.Entry: FieldCoded {
    package static let coding = Fields(Self.init, \.decision, \.isCharged, \.left)
}

// MARK: - Decisions and pushes

extension PushFailure: ByteCoded {}

extension DecisionView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.at,
        \.position,
        \.cause,
        \.push,
        \.outcome,
        \.reason,
        \.exemption,
        \.until
    )
}

extension PushDecision: FieldCoded {
    package static let coding = Fields(Self.init, \.instance, \.decision)
}

extension FiledDecision: FieldCoded {
    package static let coding = Fields(Self.init, \.instance, \.previous, \.decision)
}

extension FiledDecisions: FieldCoded {
    package static let coding = Fields(Self.init, \.first, \.count, \.instances, \.rows)
    package var isPossible: Bool {
        self.rows.allSatisfy { $0.instance.map { self.instances.indices.contains($0) } ?? true }
    }
}

extension KeptDecisions: FieldCoded {
    package static let coding = Fields(Self.init, \.oldest, \.count, \.accepted)
}

extension PushView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.id,
        \.team,
        \.app,
        \.contentHash,
        \.position,
        \.acceptedAt,
        \.priority,
        \.expiresAt,
        \.notBefore,
        \.matched,
        \.counts,
        \.repeats,
        \.isForApp,
        \.isApplied,
        \.failure,
        \.completedAt,
        \.waiting
    )
}

extension ListedPush: FieldCoded {
    package static let coding = Fields(Self.init, \.number, \.push)
}

extension CompletedPushesPage: FieldCoded {
    package static let coding = Fields(Self.init, \.pushes, \.next, \.isLast, \.mayMiss)
}

extension DryRunView.Decision: ByteCoded {}

extension DryRunView.Row: FieldCoded {
    package static let coding = Fields(Self.init, \.kind, \.decision, \.count)
}

extension DryRunView: FieldCoded {
    package static let coding = Fields(Self.init, \.matched, \.isRepeat, \.rows, \.sample, \.plans, \.asOf)
}

// MARK: - Reloads

extension ShownDigest: FieldCoded {
    package static let coding = Fields(Self.init, \.bytes)
}

extension FetchSubject: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.reload,
        \.address,
        \.kind,
        \.family,
        \.configuration,
        \.context,
        \.causes,
        \.push,
        \.priority,
        \.issuedAt,
        \.expiresAt,
        \.isVisible,
        \.digest
    )
}

extension ShownTimeline: FieldCoded {
    package static let coding = Fields(Self.init, \.subject, \.timeline)
}

extension OutgoingPush: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.token,
        \.isControl,
        \.priority,
        \.collapseID,
        \.expiresAt,
        \.mayWait
    )
}

extension ReloadsPage: FieldCoded {
    package static let coding = Fields(Self.init, \.reloads, \.next, \.through)
}

// MARK: - Lists

extension ListPage: FieldCoded, ByteCoded where Row: ByteCoded {
    package static var coding: some FieldCoding<Self> { Fields(Self.init(rows:next:), \.rows, \.next) }
}
