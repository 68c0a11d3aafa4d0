import Storage
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// The part alone: matches in the lists of instances and of reloads, against arrays.
@Suite struct ReloadsTests {
    /// The same as plain values: by list the pushes in it, and by push the instances that it waits for.
    private struct Model {
        var lists: [[(match: MatchNumber, push: PushNumber)]]
        var waiting: Set<MatchNumber> = []
    }

    private static func match(_ push: PushNumber, for instance: Int) -> Reloads.Match {
        Reloads.Match(
            push: push,
            instance: InstanceNumber(instance),
            collapseTag: 0,
            expiresAt: .distantFuture,
            priority: .high,
            isScheduled: false
        )
    }

    private static func matches(_ reloads: borrowing Reloads, in list: MatchList) -> [MatchNumber] {
        var found: [MatchNumber] = []
        var match = list.head
        while !match.isNone {
            found.append(match)
            #expect(reloads[match].previous == found.dropLast().last ?? .none)
            match = reloads[match].next
        }
        #expect(found.last ?? .none == list.tail && found.count == Int(list.count))
        return found
    }

    private static func waiting(_ reloads: borrowing Reloads, of push: PushNumber) -> Set<MatchNumber> {
        var found: Set<MatchNumber> = []
        var match = reloads.firstWaiting(of: push)
        while !match.isNone {
            #expect(found.insert(match).inserted)
            match = reloads[match].nextOfPush
        }
        return found
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `lists and pushes find what arrays do`(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var reloads = Reloads()
        let (instances, pushes) = (5, 7)
        var lists = (0..<instances * 2).map { _ in MatchList() }
        var model = Model(lists: lists.map { _ in [] })
        for _ in 0..<2_000 {
            let instance = dice.below(instances)
            let push = PushNumber(dice.below(pushes))
            let place = model.lists[instance].isEmpty ? nil : dice.below(model.lists[instance].count)
            switch (dice.below(9), place) {
            case (0...3, _), (_, nil):
                reloads.append(Self.match(push, for: instance), to: &lists[instance])
                model.lists[instance].append((lists[instance].tail, push))
                model.waiting.insert(lists[instance].tail)
            case (4, let place?):
                let gone = model.lists[instance].remove(at: place).match
                reloads.remove(gone, from: &lists[instance])
                model.waiting.remove(gone)
            case (5...6, let place?):
                // A reload serves it: it goes into the reload's list, and waits no more.
                let moved = model.lists[instance].remove(at: place)
                var served = lists[instances + instance]
                reloads.move(moved.match, from: &lists[instance], to: &served)
                lists[instances + instance] = served
                reloads.stopWaiting(moved.match)
                model.lists[instances + instance].append(moved)
                model.waiting.remove(moved.match)
            case (7, let place?):
                reloads.replace(model.lists[instance][place].match, with: Self.match(push, for: instance))
                model.lists[instance][place].push = push
            default:
                reloads.release(lists[instances + instance])
                (lists[instances + instance], model.lists[instances + instance]) = (MatchList(), [])
            }
        }
        let count = reloads.matchCount
        #expect(count == model.lists.reduce(0) { $0 + $1.count } && count > 20)
        for (list, expected) in zip(lists, model.lists) {
            #expect(Self.matches(reloads, in: list) == expected.map(\.match))
            #expect(expected.allSatisfy { reloads[$0.match].push == $0.push })
        }
        for push in (0..<pushes).map({ PushNumber($0) }) {
            let expected = model.lists.joined().filter { $0.push == push && model.waiting.contains($0.match) }
            #expect(Self.waiting(reloads, of: push) == Set(expected.map(\.match)))
        }
    }

    private static func reload(at position: Int, until expiresAt: Instant) -> Reloads.Reload {
        Reloads.Reload(
            row: Reloads.Row(
                instance: InstanceNumber(0),
                position: LogPosition(UInt64(position)),
                issuedAt: .epoch,
                expiresAt: expiresAt,
                causes: ReloadCauses(.push),
                exemption: nil,
                generation: 0,
                window: BudgetWindow(start: .epoch, length: .day),
                collateral: nil,
                isCounted: false,
                isPush: false
            ),
            served: Reloads.Served(pushes: MatchList(), primary: .none, push: nil, digest: nil)
        )
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `a list of reloads is in order of position, and knows its earliest end, whichever are taken out`(seed: UInt64)
        throws
    {
        var dice = SplitMix64(seed: seed)
        var reloads = Reloads()
        var list = ReloadList()
        var model: [(position: LogPosition, expires: Instant)] = []
        for step in 1...600 {
            let many = dice.below(40) == 0 ? model.count / 2 : 1
            if model.isEmpty || dice.below(5) < 3 {
                let expires = Instant(seconds: Int64(dice.below(50)))
                reloads.append(Self.reload(at: step, until: expires), to: &list)
                model.append((LogPosition(UInt64(step)), expires))
            } else {
                for _ in 0..<many {
                    let gone = model.remove(at: dice.below(model.count))
                    let found = reloads.find(gone.position, in: list)
                    let number = try #require(found)
                    reloads.remove(number, after: reloads.previous(of: number, in: list), from: &list)
                }
                reloads.refreshExpiry(of: &list)
            }
            var positions: [LogPosition] = []
            reloads.forEach(in: list) { positions.append($0.position) }
            #expect(positions == model.map(\.position))
            #expect(list.expires == model.map(\.expires).min() ?? .distantFuture)
            let (count, faults) = (reloads.count, reloads.checkInvariants(of: list, InstanceNumber(0)))
            #expect(count == model.count && faults == [])
        }
        #expect(list.isEmpty == model.isEmpty)
    }
}
