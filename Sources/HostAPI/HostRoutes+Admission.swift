import Engine
import Partitions
import Serving
import WidgetModel

/// Registrations that add hosts or instances have to find room in the registry.
extension HostRoutes {
    /// The reserved room, and the registrations that find none.
    struct Admission {
        var reservations: [RegistryReservation] = []
        /// By the place of the registration.
        var refusals: [Int: Problem] = [:]
    }

    /// Reserves room for the hosts and instances that registrations of one app add.
    ///
    /// As long as there is room for all that they could add, no engine is asked. Near a limit the engines say what each adds.
    func admit(
        _ registrations: [HostRegistration],
        _ bindings: TokenBindings,
        by caller: Caller
    ) async throws(Problem) -> Admission {
        guard let registry = self.registry, let app = registrations.first?.app else { return Admission() }
        let instances = registrations.reduce(0) { $0 + $1.instances.count }
        let most = RegistryAdditions(hosts: registrations.count, instances: instances, newInstances: instances)
        if case .success(let reservation) = registry.reserve(most, for: app) {
            return Admission(reservations: [reservation])
        }
        let additions = try await self.additions(of: registrations, bindings)
        var admission = Admission()
        for (index, added) in additions.enumerated() {
            switch registry.reserve(added, for: app) {
            case .success(let reservation): admission.reservations.append(reservation)
            case .failure(let refusal):
                registry.addRefused(refusal)
                admission.refusals[index] = Problem(refusal, isToldShare: caller.sender != nil)
            }
        }
        return admission
    }

    /// The hosts and instances that each registration would add, were it applied now.
    private func additions(
        of registrations: [HostRegistration],
        _ bindings: TokenBindings
    ) async throws(Problem) -> [RegistryAdditions] {
        var additions = Array(repeating: RegistryAdditions(), count: registrations.count)
        let places = Dictionary(grouping: registrations.indices) { self.log.partition(of: registrations[$0].host) }
        for (partition, indices) in places {
            let found = try await self.log.ask(partition, RegistrationsQuestion(indices.map { registrations[$0] }))
            // One that would be refused adds nothing.
            for (index, added) in zip(indices, found) { additions[index] = added ?? RegistryAdditions() }
        }
        for (index, registration) in registrations.enumerated() where additions[index].hosts > 0 {
            // A host that takes another's last token takes its place.
            let token = registration.token
            guard let entry = try bindings.binding(of: token), entry.host != registration.host,
                let other = try await self.log.ask(HostQuestion(entry.host)), other.tokens == [token]
            else { continue }
            additions[index].hosts -= 1
            additions[index].instances -= other.instances.count
        }
        return additions
    }
}

extension Problem {
    /// - Parameter isToldShare: Whether the caller may know the team's usage.
    init(_ refusal: RegistryError, isToldShare: Bool) {
        switch refusal {
        case .tooMany(let counted, let adding, let count, let owner, let limit):
            let whose =
                switch owner {
                case .app(let app): "the app \(app)"
                case .team(let team): "the apps of the team \(team.rawValue)"
                }
            self.init(
                counted == .hosts ? .tooManyHosts : .tooManyInstances,
                "\(whose) may have \(limit.max) \(counted.rawValue) (\(limit.setting)): the registration adds \(adding) to "
                    + "the \(count) that exist or are being registered; remove some, or ask the gateway's operator for more",
                path: counted == .hosts ? nil : "instances"
            )
        case .memoryFull(let team, let bytes, let limit):
            let share =
                team.map { team in
                    " The apps of the team \(team.rawValue) take about \(bytes) of \(limit) bytes (storage.memoryMax)."
                } ?? ""
            self.init(
                .memoryFull,
                "the gateway's memory is full: a registration may add no host and no instance until there is room; "
                    + "remove some, or send it again later.\(isToldShare ? share : "")",
                retryAfter: RegistryWatch.retryAfterSeconds
            )
        }
    }
}
