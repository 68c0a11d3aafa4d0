import IntentMatching
import Storage
import WidgetModel

/// The hosts and widget instances: their identities, their tokens, the content that they show, the index that finds them, and how much each
/// app has. The ``Schedule`` says when instances may reload.
///
/// Hosts and instances have numbers, which are used again. A host that is gone stays as long as any of its instances' budgets
/// is remembered, and so does an instance.
struct Registry: ~Copyable, Sendable {
    typealias Host = HostTable.Row
    typealias Instance = InstanceTable.Row
    typealias ColdFields = InstanceDetails.ColdFields
    typealias Content = InstanceDetails.Content
    typealias Observed = InstanceDetails.Observed
    /// The timeline that an instance shows.
    typealias Shown = InstanceDetails.Shown
    typealias Unshown = InstanceDetails.Unshown
    typealias TokenBinding = TokenTable.Binding
    typealias BoundToken = TokenTable.BoundToken
    typealias RemovedToken = TokenTable.Removal
    typealias Erasure = TokenTable.Erasure

    var hosts: HostTable
    var instances = InstanceTable()
    var tokens: TokenTable
    var index = IntentIndex()
    var usages = UsageTable()

    /// No hosts.
    ///
    /// - Parameter seed: Hides the places of rows from untrusted peers; no result depends on it.
    init(seed: UInt64) {
        self.hosts = HostTable(seed: seed)
        self.tokens = TokenTable(seed: seed)
        // A replay makes the lists at once at its end, see docs/architecture.md, "Loading at once".
        self.index.startLoading()
    }

    /// An app's part of the registry.
    subscript(usage app: AppNumber) -> RegistryUsage {
        get { self.usages[app] }
        _modify { yield &self.usages[app] }
    }

    /// Grows with every change of apps' usage.
    var usageVersion: UInt64 { self.usages.version }

    /// The teams of apps have changed, so sums of usages by team are stale.
    mutating func markUsagesChanged() { self.usages.markChanged() }

    /// Notes the memory of its tables.
    func measure(_ bytes: inout TableBytes) {
        bytes[.hosts] = self.hosts.byteCount
        bytes[.tokens] = self.tokens.byteCount
        bytes[.instances] = self.instances.byteCount
        bytes[.details] = self.instances.details.sideByteCount
        let index = self.index.bytes
        bytes[.indexColumns] = index.columns
        bytes[.indexLists] = index.lists
        bytes[.indexValues] = index.values
        bytes[.indexConditions] = index.conditions
    }

    /// The violated invariants; empty unless there is a bug. O(instances).
    func checkInvariants() -> [String] { self.instances.details.checkInvariants(of: self.usedInstances()) }
}
