package import Engine
package import Logging
import NIOPosix
package import Settings
import Synchronization
package import WidgetModel

/// The hosts and instances that a registration on its way may add. Given back once it is applied, or will never be.
package struct RegistryReservation: Hashable, Sendable {
    let app: BundleID
    let team: TeamID?
    let usage: RegistryUsage
}

/// How much of the registry each app and team has, and whether more may be added.
///
/// Partitions hand on the usage of each app before a caller hears that a record was applied. Usage on its way is reserved earlier still. So
/// no two registrations can pass a limit together. The memory of the process is measured once a second.
package final class RegistryWatch: Sendable {
    /// Measures the memory. Blocks.
    package typealias Measure = @Sendable () throws -> MemorySizes

    /// After how long a registration may be tried again that found the memory full.
    package static let retryAfterSeconds = 30

    private struct State {
        var limits: RegistryLimits
        var bound: MemoryBound
        /// Nil before the first look.
        var sizes: MemorySizes?
        var published: [PartitionID: [AppUsage]] = [:]
        /// The applied and the reserved usage of each app and team.
        var applied: [RegistryLimits.Owner: RegistryUsage] = [:]
        var reserved: [RegistryLimits.Owner: RegistryUsage] = [:]
        /// The usage in other nodes' partitions, as they said last, and its sum for each app and team: it counts for limits, and takes no
        /// memory here.
        var elsewhere: [PartitionID: [AppUsage]] = [:]
        var appliedElsewhere: [RegistryLimits.Owner: RegistryUsage] = [:]
        /// The bytes of all that is applied, and reserved, here.
        var appliedBytes = 0
        var reservedBytes = 0
        /// The most bytes that there had been when the sizes were measured.
        var largestBytes = 0
        /// The level that the log was told last.
        var toldLevel = MemoryBudget.Level.ample
        var isMeasureFailing = false

        /// The present budget of memory; nil before the first look.
        var budget: MemoryBudget? {
            self.sizes.map { sizes in
                MemoryBudget(
                    self.bound,
                    sizes,
                    registryGrowth: self.appliedBytes + self.reservedBytes - self.largestBytes
                )
            }
        }

        func usage(of owner: RegistryLimits.Owner) -> RegistryUsage {
            var usage = self.applied[owner] ?? RegistryUsage()
            usage += self.reserved[owner] ?? RegistryUsage()
            return usage
        }

        /// With that of partitions elsewhere.
        func usageOfAll(of owner: RegistryLimits.Owner) -> RegistryUsage {
            var usage = self.usage(of: owner)
            usage += self.appliedElsewhere[owner] ?? RegistryUsage()
            return usage
        }

        mutating func add(_ row: AppUsage, _ sign: Int) {
            Self.add(row, sign, to: &self.applied)
            self.appliedBytes += sign * row.usage.bytes
        }

        private static func add(_ row: AppUsage, _ sign: Int, to usages: inout [RegistryLimits.Owner: RegistryUsage]) {
            for owner in [RegistryLimits.Owner.app(row.app), .team(row.team)] {
                if sign > 0 {
                    usages[owner, default: RegistryUsage()] += row.usage
                } else {
                    usages[owner, default: RegistryUsage()] -= row.usage
                }
            }
        }

        mutating func setElsewhere(_ rows: [AppUsage], of partition: PartitionID) {
            let before = self.elsewhere.removeValue(forKey: partition) ?? []
            for row in before { Self.add(row, -1, to: &self.appliedElsewhere) }
            guard !rows.isEmpty else { return }
            self.elsewhere[partition] = rows
            for row in rows { Self.add(row, 1, to: &self.appliedElsewhere) }
        }

        mutating func add(_ reservation: RegistryReservation, _ sign: Int) {
            guard reservation.usage != RegistryUsage() else { return }
            for owner in [RegistryLimits.Owner.app(reservation.app)] + (reservation.team.map { [.team($0)] } ?? []) {
                var usage = self.reserved[owner] ?? RegistryUsage()
                if sign > 0 { usage += reservation.usage } else { usage -= reservation.usage }
                self.reserved[owner] = usage == RegistryUsage() ? nil : usage
            }
            self.reservedBytes += sign * reservation.usage.bytes
        }
    }

    private let state: Mutex<State>
    private let measureSizes: Measure
    private let logger: Logger
    private let hosts = Atomic<Int>(0)
    private let instances = Atomic<Int>(0)
    private let memory = Atomic<Int>(0)

    /// - Parameters:
    ///   - limits: How many hosts and instances apps and teams may have.
    ///   - bound: How much memory the process may take.
    ///   - logger: Where to write.
    ///   - measure: Measures the memory.
    package init(
        _ limits: RegistryLimits,
        _ bound: MemoryBound,
        logger: Logger,
        measure: @escaping Measure
    ) {
        self.state = Mutex(State(limits: limits, bound: bound))
        self.logger = logger
        self.measureSizes = measure
    }

    /// Keeps to other limits from now on.
    package func applyLimits(_ limits: RegistryLimits) {
        self.state.withLock { $0.limits = limits }
        self.judge()
    }

    /// Keeps to another bound of the memory from now on.
    package func applyBound(_ bound: MemoryBound) {
        self.state.withLock { $0.bound = bound }
        self.judge()
    }

    // MARK: Asking

    /// Reserves room for a registration's additions, or says why there is none.
    package func reserve(
        _ added: RegistryAdditions,
        for app: BundleID
    ) -> Result<RegistryReservation, RegistryError> {
        self.state.withLock { state in
            if let refusal = state.limits.refusal(of: added, for: app, { state.usageOfAll(of: $0) }) {
                return .failure(refusal)
            }
            let team = state.limits.team(of: app)
            if added.hosts > 0 || added.newInstances > 0, let budget = state.budget, !budget.hasRoom {
                let bytes = team.map { state.usage(of: .team($0)).bytes } ?? 0
                return .failure(.memoryFull(team: team, bytes: bytes, limit: budget.limit ?? 0))
            }
            // A registration that also removes hosts or instances makes room once they have gone.
            let usage = RegistryUsage(hosts: max(0, added.hosts), instances: max(0, added.instances))
            let reservation = RegistryReservation(app: app, team: team, usage: usage)
            state.add(reservation, 1)
            return .success(reservation)
        }
    }

    /// The registrations are applied, or will never be.
    package func release(_ reservations: [RegistryReservation]) {
        self.state.withLock { state in for reservation in reservations { state.add(reservation, -1) } }
    }

    package func addRefused(_ refusal: RegistryError) {
        switch refusal {
        case .tooMany(.hosts, _, _, _, _): self.hosts.wrappingAdd(1, ordering: .relaxed)
        case .tooMany(.instances, _, _, _, _): self.instances.wrappingAdd(1, ordering: .relaxed)
        case .memoryFull: self.memory.wrappingAdd(1, ordering: .relaxed)
        }
    }

    // MARK: Telling

    /// The registry and the memory as operators see them.
    package struct View: Sendable {
        /// Nil before the first look.
        package let budget: MemoryBudget?
        package let sizes: MemorySizes?
        /// The usage of each app, in the order of ids; and of each team, the largest first.
        package let apps: [AppUsage]
        package let teams: [(team: TeamID, usage: RegistryUsage, limits: RegistryLimits.Limits)]
    }

    package var view: View { self.state.withLock { Self.view($0) } }

    private static func view(_ state: State) -> View {
        var apps: [BundleID: AppUsage] = [:]
        for row in state.published.values.joined() where apps[row.app] == nil {
            apps[row.app] = AppUsage(app: row.app, team: row.team, state.applied[.app(row.app)] ?? RegistryUsage())
        }
        let teams = Set(apps.values.map(\.team)).map { team in
            (team: team, usage: state.applied[.team(team)] ?? RegistryUsage(), limits: state.limits[.team(team)])
        }
        return View(
            budget: state.budget,
            sizes: state.sizes,
            apps: apps.values.sorted { $0.app.rawValue < $1.app.rawValue },
            teams: teams.sorted { ($1.usage.bytes, $0.team.rawValue) < ($0.usage.bytes, $1.team.rawValue) }
        )
    }

    /// How many registrations were refused, by the limit that they met.
    package var refused: (hosts: Int, instances: Int, memory: Int) {
        (
            self.hosts.load(ordering: .relaxed), self.instances.load(ordering: .relaxed),
            self.memory.load(ordering: .relaxed)
        )
    }

    // MARK: Counting

    /// Takes in the usage of each app in a partition of this node.
    package func publish(_ usages: [AppUsage], of partition: PartitionID) {
        self.state.withLock { state in
            state.setElsewhere([], of: partition)
            let before = state.published.updateValue(usages, forKey: partition) ?? []
            for row in before.dropFirst(usages.count) { state.add(row, -1) }
            for (index, row) in usages.enumerated() {
                // An engine's apps keep their places.
                let old = index < before.count ? before[index] : nil
                if old == row { continue }
                if let old { state.add(old, -1) }
                state.add(row, 1)
            }
        }
    }

    /// Another node has a partition from now on, which counts as it is until that node says otherwise.
    package func leave(_ partition: PartitionID) {
        self.state.withLock { state in
            let rows = state.published.removeValue(forKey: partition) ?? []
            for row in rows { state.add(row, -1) }
            state.setElsewhere(rows, of: partition)
        }
    }

    /// Takes in the usage of each app in a partition that another node has.
    package func publish(_ usages: [AppUsage], elsewhere partition: PartitionID) {
        self.state.withLock { state in
            // It has come here while that node was asked.
            guard state.published[partition] == nil else { return }
            state.setElsewhere(usages, of: partition)
        }
    }

    /// Whether an app or a team may not have any number of hosts and instances.
    package var hasLimits: Bool { self.state.withLock { $0.limits.isAny } }

    // MARK: Measuring

    /// How often the memory is looked at.
    private static let lookSpacing = Duration.seconds(1)

    /// Measures once a second, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await self.look()
            try? await Task.sleep(for: Self.lookSpacing)
        }
    }

    /// Measures on another thread.
    package func look() async {
        // The pool is there as long as the process.
        try? await NIOThreadPool.singleton.runIfActive { self.measure() }
    }

    /// Measures the memory and judges whether there is room. Blocks.
    package func measure() {
        do {
            let sizes = try self.measureSizes()
            self.state.withLock { state in
                state.isMeasureFailing = false
                state.sizes = sizes
                state.largestBytes = max(state.largestBytes, state.appliedBytes)
            }
            self.judge()
        } catch {
            let isNew = self.state.withLock { state in
                defer { state.isMeasureFailing = true }
                return !state.isMeasureFailing
            }
            guard isNew else { return }
            self.logger.error(
                "memory cannot be measured; the last measurement counts",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// Tells of a change.
    private func judge() {
        let change = self.state.withLock { state -> (from: MemoryBudget.Level, MemoryBudget, View)? in
            guard let budget = state.budget, budget.level != state.toldLevel else { return nil }
            defer { state.toldLevel = budget.level }
            return (state.toldLevel, budget, Self.view(state))
        }
        if let change { self.tell(change.1, before: change.from, change.2) }
    }

    private func tell(_ budget: MemoryBudget, before: MemoryBudget.Level, _ view: View) {
        let teams = view.teams.map { "\($0.team.rawValue) \($0.usage.bytes)" }.joined(separator: ", ")
        let metadata: Logger.Metadata = [
            "used": "\(budget.used)", "limit": "\(budget.limit ?? 0)", "teams": "\(teams)",
        ]
        if budget.level == .full {
            self.logger.error(
                "memory is full (storage.memoryMax): registrations that add hosts or instances are refused",
                metadata: metadata
            )
        } else if before == .full {
            self.logger.notice("memory is no longer full", metadata: metadata)
        } else if budget.level == .filling {
            self.logger.warning("memory fills up (storage.memoryMax)", metadata: metadata)
        } else {
            self.logger.notice("memory no longer fills up", metadata: metadata)
        }
    }
}
