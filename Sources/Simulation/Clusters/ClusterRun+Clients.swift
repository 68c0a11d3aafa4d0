import Engine
import Journaling
import Scenarios
import WidgetModel

/// The clients' requests, and the events of nodes and brokers meanwhile.
extension ClusterRun {
    /// A client sends a request, again and again until it is answered, by whichever node.
    mutating func ask(_ origin: ClientRequest.Origin, _ record: Record) {
        if case .push(let push) = record { self.checker.noteSent(push) }
        self.requests.append(
            ClientRequest(origin: origin, record: record, partitions: FaultWorld.partitions(of: record))
        )
        self.send(self.requests.count - 1)
    }

    mutating func send(_ number: Int) {
        guard !self.requests[number].isAnswered else { return }
        if !self.dice.chance(self.plan.lost) {
            let at = self.now + 1 + Int64(self.dice.below(self.plan.delayMax + 1))
            self.queue.insert(.request(number, node: self.dice.below(self.nodes.count)), at: at)
        }
        self.queue.insert(.retry(number), at: self.now + 12_000 + Int64(self.dice.below(2000)))
    }

    mutating func acceptRequest(_ number: Int, at node: SimulatedNode) {
        guard node.isUp else { return }
        guard node.stoppedUntil <= self.now else {
            return self.queue.insert(.request(number, node: node.number), at: node.stoppedUntil)
        }
        let request = self.requests[number]
        let partition = request.partitions.count == 1 ? request.partitions[0] : nil
        self.append(PackedRecords(request.record.bytes), to: partition, request: number, node)
    }

    /// A request is in the log.
    mutating func answer(_ number: Int) {
        let request = self.requests[number]
        if case .push(let push) = request.record { self.checker.noteAccepted(push.id, request.partitions) }
        if self.dice.chance(self.plan.lost) { return }
        self.queue.insert(.answer(number), at: self.now + 1 + Int64(self.dice.below(self.plan.delayMax + 1)))
    }

    mutating func receive(_ reload: ReloadEffect) {
        guard let host = self.hosts.firstIndex(where: { $0.id == reload.host }),
            self.hosts[host].done.insert(reload.id).inserted, !self.dice.chance(self.plan.world.silences)
        else { return }
        guard !self.dice.chance(self.plan.world.refusals) else {
            self.checker.noteRefused(reload)
            let refusal = DeliveryReport(host: reload.host, reload: reload.id, result: .refused(reason: "busy"))
            return self.ask(.host(host), .delivery(refusal))
        }
        self.ask(.host(host), FaultWorld.report(reload, at: Instant(milliseconds: self.now), &self.dice))
    }

    // MARK: Events

    mutating func act() {
        let now = Instant(milliseconds: self.now)
        let node = self.dice.pick(self.nodes)
        if self.dice.chance(self.plan.beliefs) { self.changeBeliefs() }
        if self.dice.chance(self.plan.standbys) { self.changeStandbys() }
        if self.dice.chance(self.plan.elections) { self.elect() }
        if self.dice.chance(self.plan.full) { self.fill() }
        self.changeRules()
        if self.dice.chance(self.plan.clockSteps) {
            node.clockError = Int64(self.dice.below(Int(Self.clockErrorMax) * 2)) - Self.clockErrorMax
        }
        if node.isUp, self.dice.chance(self.plan.stops) {
            self.checker.noteOccurrence(.stop)
            node.stoppedUntil = self.now + Int64(self.dice.pick([3000, 30_000, 1_200_000, 3_600_000]))
            self.replace(node)
        }
        if self.dice.chance(self.plan.world.crashes * 3) { self.kill(node) }
        for partition in Self.partitions {
            for node in self.nodes where self.dice.chance(self.plan.snapshots) {
                self.askForSnapshot(of: partition, node)
            }
        }
        if self.dice.chance(self.plan.world.orders) {
            return self.ask(.operators, FaultWorld.order(latest: self.pushes, at: now, &self.dice))
        }
        let host = self.dice.below(self.hosts.count)
        switch self.dice.below(12) {
        case 0:
            self.ask(.host(host), FaultWorld.registration(of: &self.hosts[host], self.plan.world, &self.dice))
        case 1, 2: self.ask(.host(host), FaultWorld.signal(self.hosts[host], &self.dice))
        case 3: self.ask(.sender, FaultWorld.reload(&self.dice))
        default:
            self.pushes += 1
            let isForHost = self.dice.chance(self.plan.forHosts)
            let target = isForHost ? PushDestination.host(self.hosts[host].id, nil) : .app(FaultWorld.app)
            self.ask(.sender, .push(FaultWorld.push(self.pushes, to: target, at: now, &self.dice)))
        }
    }

    /// Nodes believe something else: that a partition is theirs, that it is not, or that it is another's.
    private mutating func changeBeliefs() {
        let partition = self.dice.pick(Self.partitions)
        let index = Int(partition.rawValue)
        let node = self.dice.pick(self.nodes)
        let owners = self.nodes.filter { $0.seats[index].isBelieved }
        switch self.dice.below(3) {
        case 0: node.seats[index].isBelieved = true
        case 1:
            for owner in owners { self.forget(partition, owner) }
        default:
            for owner in owners where owner !== node { self.forget(partition, owner) }
            node.seats[index].isBelieved = true
        }
        self.planOwner(of: partition, node)
        if !self.nodes.contains(where: { $0.seats[index].isBelieved }) {
            self.checker.noteOccurrence(.noOwner)
            // In the end some node believes it.
            if self.dice.chance(0.5) {
                self.nodes[0].seats[index].isBelieved = true
                self.planOwner(of: partition, self.nodes[0])
            }
        }
    }

    /// Others notice that a node is silent, and one of them takes its partitions over.
    mutating func replace(_ node: SimulatedNode) {
        let other = self.dice.pick(self.nodes)
        guard self.dice.chance(0.7), other !== node else { return }
        for partition in Self.partitions where node.seats[Int(partition.rawValue)].isBelieved {
            other.seats[Int(partition.rawValue)].isBelieved = true
            self.planOwner(of: partition, other)
        }
    }

    private mutating func forget(_ partition: PartitionID, _ node: SimulatedNode) {
        // One that is stopped hears of nothing.
        guard node.stoppedUntil <= self.now else { return }
        node.seats[Int(partition.rawValue)].isBelieved = false
        self.leave(partition, node)
    }
}
